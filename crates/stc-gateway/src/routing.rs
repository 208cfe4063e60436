//! The route of a request. Rules are matched by one spelling of its path, and what is matched is what is forwarded.
//!
//! A path that servers read in different ways is refused, and so is one that some server would read as a path of another route: in
//! other letters, with parameters after `;`, with escapes decoded twice. A route with `paths = "as-they-come"` forwards its paths
//! unchanged; those that cannot be normalised only if the most lenient server reads a path of the same route there.

use crate::config::routes::{Paths, Route};
use crate::upstream::failed::Failed;
use crate::upstream::forwarded::host_of;
use crate::upstream::target::Target;
use http::uri::PathAndQuery;
use http::{Request, StatusCode, Uri};
use stc_layer::MatchedPath;
use stc_plugin::path::{Ambiguous, Normal, climbs, loose, normal};

const OF_ANOTHER: Failed = Failed(StatusCode::BAD_REQUEST, "some servers read this path as one of another route");

/// Returns the place of a request's route. Gives the request the path that is forwarded, and the one that is matched as an extension
/// if they differ.
pub(crate) fn choose<B>(request: &mut Request<B>, routes: &[Route]) -> Result<Option<usize>, Failed> {
    let path = request.uri().path();
    let host = host_of(request.uri(), request.headers());
    // `*` and the target of CONNECT are no paths.
    if !path.starts_with('/') {
        return Ok(None);
    }
    let refused = |text| Err(Failed(StatusCode::BAD_REQUEST, text));
    // Where a `..` leads depends on what a server takes for segments: it may lead to any route, and out of an upstream's path.
    let whole = |route: &Route| passes(route) && route.prefix.is_empty() && !route.targets.iter().any(Target::has_base);
    if climbs(path) && !routes.iter().all(whole) {
        return refused(Ambiguous::Dots.text());
    }
    let (place, sent, matched) = match normal(path) {
        Ok(Normal { matched, sent }) => {
            let place = one_place(routes, host, &matched)?;
            let sent = if place.is_some_and(|place| passes(&routes[place])) { path.into() } else { sent };
            (place, sent, matched)
        }
        Err(why) => {
            let place = place_of(routes, host, path);
            let Some(place) = place.filter(|place| passes(&routes[*place])) else { return refused(why.text()) };
            let read = loose(path);
            if one_place(routes, host, &read)? != Some(place) {
                return Err(OF_ANOTHER);
            }
            (Some(place), path.into(), read)
        }
    };
    let matched = (matched != sent).then(|| MatchedPath((*matched).into()));
    let new = (sent != path).then(|| replaced(request.uri(), &sent));
    if let Some(new) = new {
        *request.uri_mut() = new?;
    }
    if let Some(matched) = matched {
        request.extensions_mut().insert(matched);
    }
    Ok(place)
}

fn passes(route: &Route) -> bool {
    route.paths == Paths::AsTheyCome
}

/// Returns the first route for a host and a path.
fn place_of(routes: &[Route], host: &str, path: &str) -> Option<usize> {
    routes.iter().position(|route| route.fits(host, path))
}

/// Returns the route for a host and a path; an error if servers that ignore case, or read the path leniently, would see another
/// route's.
fn one_place(routes: &[Route], host: &str, path: &str) -> Result<Option<usize>, Failed> {
    let first = routes.iter().position(|route| route.nearly_fits(host, path, &route.prefix));
    let place = match first {
        // No route before it can fit exactly.
        Some(place) if routes[place].fits(host, path) => Some(place),
        Some(_) => place_of(routes, host, path),
        None => None,
    };
    let Some(chosen) = place else { return Ok(None) };
    let is_same = |other: Option<usize>| other.is_none_or(|other| routes[other].is_beside(&routes[chosen]));
    let read = loose(path);
    let leniently = || routes.iter().position(|route| route.nearly_fits(host, &read, &loose(&route.prefix)));
    if is_same(first) && (*read == *path || is_same(leniently())) { Ok(place) } else { Err(OF_ANOTHER) }
}

/// Returns a URL with another path.
fn replaced(uri: &Uri, path: &str) -> Result<Uri, Failed> {
    let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    let new = PathAndQuery::try_from(format!("{path}{query}")).ok();
    let new = new.and_then(|new| {
        parts.path_and_query = Some(new);
        Uri::from_parts(parts).ok()
    });
    new.ok_or(Failed(StatusCode::BAD_REQUEST, "not a path"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Flags};
    use std::io::Write;

    fn routes(text: &str) -> Vec<Route> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        Config::load(&flags).unwrap().routes
    }

    /// Returns the prefix of the chosen route, the path that is forwarded and the one that is matched; or the text of the answer.
    fn chosen(routes: &[Route], target: &str, host: &str) -> Result<(String, String, String), &'static str> {
        let mut request = Request::builder().uri(target).header("host", host).body(()).unwrap();
        let place = choose(&mut request, routes).map_err(|Failed(status, text)| {
            assert_eq!(status, StatusCode::BAD_REQUEST);
            text
        })?;
        let prefix = place.map_or("none", |place| &routes[place].prefix).to_owned();
        let (parts, ()) = request.into_parts();
        let sent = parts.uri.path_and_query().map_or("", PathAndQuery::as_str).to_owned();
        Ok((prefix, sent, MatchedPath::of(&parts).to_owned()))
    }

    const GUARDED: &str = r#"
        [[routes]]
        path = "/"
        upstream = "http://a"
        [[routes]]
        path = "/admin"
        upstream = "http://a"
        [[routes]]
        path = "/m%6fdel/x:y"
        upstream = "http://a"
    "#;

    #[test]
    fn no_spelling_takes_another_route() {
        let routes = routes(GUARDED);
        for (target, prefix, sent) in [
            ("/", "", "/"),
            ("/admin/keys", "/admin", "/admin/keys"),
            ("/admin?x", "/admin", "/admin?x"),
            ("/%61dmin/keys?a=%61", "/admin", "/admin/keys?a=%61"),
            ("/%61dmin", "/admin", "/admin"),
            ("http://b/%61dmin/x?y", "/admin", "/admin/x?y"),
            ("/administrators", "", "/administrators"),
            ("/a;b/c", "", "/a;b/c"),
            ("/a%2525/%41", "", "/a%2525/A"),
            ("/Other", "", "/Other"),
            ("/model/x%3ay/z", "/model/x:y", "/model/x%3Ay/z"),
            ("/model/x:y/z", "/model/x:y", "/model/x:y/z"),
        ] {
            let (got, forwarded, _) = chosen(&routes, target, "h").unwrap_or_else(|why| panic!("{target}: {why}"));
            assert_eq!((&*got, &*forwarded), (prefix, sent), "{target}");
        }
        for target in [
            "//admin/keys",
            "/x/../admin",
            "/./admin",
            "/%2e/admin",
            "/x/%2e%2e/admin",
            "/admin%2Fkeys",
            "/x/..%2fadmin",
            "/x%5c..%5cadmin",
            "/x\\..\\admin",
            "/admin%00/keys",
            "/admin;x/keys",
            "/admin%3Bx/keys",
            "/..;/admin/keys",
            "/x/..;/admin/keys",
            "/ADMIN/keys",
            "/Admin",
            "/%41dmin",
            "/admin%20/keys",
            "/admin./keys",
            "/%2561dmin/keys",
            "/%25%36%31dmin/keys",
            "/admin%3F/keys",
            "/MODEL/x:y",
            "http://b//admin",
            "http://b/ADMIN",
            "/admin/../x",
            "/z/%252e%252e/admin/..;/x",
            "/z/..;/b",
            "/z/%252e%252e%252fb",
            "/%c0%afadmin",
            "/%zz",
        ] {
            assert!(chosen(&routes, target, "h").is_err(), "{target}");
        }
        assert_eq!(chosen(&routes, "*", "h").unwrap().0, "none");
    }

    #[test]
    fn routes_that_differ_in_case_have_their_own_paths() {
        let text = "[[routes]]\npath = \"/api\"\nupstream = \"http://a\"\n[[routes]]\npath = \"/API\"\nupstream = \"http://b\"\n";
        let routes = routes(text);
        for prefix in ["/api", "/API"] {
            assert_eq!(chosen(&routes, &format!("{prefix}/x"), "h").unwrap().0, prefix);
        }
        assert_eq!(chosen(&routes, "/Api/x", "h").unwrap().0, "none");
    }

    #[test]
    fn a_route_s_path_may_have_what_others_cut_off() {
        let text = "[[routes]]\npath = \"/a;b\"\nupstream = \"http://a\"\n[[routes]]\nupstream = \"http://b\"\n";
        let routes = routes(text);
        assert_eq!(chosen(&routes, "/a;b/x", "h").unwrap().0, "/a;b");
        assert!(chosen(&routes, "/a;c/x", "h").is_err() && chosen(&routes, "/b%2561", "h").is_ok());
        assert_eq!(chosen(&routes, "/a/x", "h").unwrap().0, "");
    }

    const AS_THEY_COME: &str = r#"
        [[routes]]
        path = "/admin"
        upstream = "http://a"
        [[routes]]
        path = "/model"
        upstream = "http://a/base"
        strip = true
        paths = "as-they-come"
        [[routes]]
        path = "/"
        upstream = "http://a"
        paths = "as-they-come"
    "#;

    #[test]
    fn paths_that_come_as_they_are_stay_on_their_route() {
        let routes = routes(AS_THEY_COME);
        for (target, prefix, matched) in [
            ("/model/arn%3aaws%2Fx/invoke", "/model", "/model/arn:aws/x/invoke"),
            ("/model//x", "/model", "/model/x"),
            ("/model/%41%2D", "/model", "/model/A-"),
            ("/a//b", "", "/a/b"),
            ("/a%5Cb", "", "/a/b"),
            ("/a%ff", "", "/a\u{fffd}"),
            ("/a%zz", "", "/a%zz"),
        ] {
            let got = chosen(&routes, target, "h").unwrap_or_else(|why| panic!("{target}: {why}"));
            assert_eq!(got, (prefix.to_owned(), target.to_owned(), matched.to_owned()), "{target}");
        }
        for target in [
            "//admin",
            "/%61dmin%2Fx",
            "/model/..%2fadmin",
            "/model/../admin",
            "/model/x/../y",
            "/a\\..\\admin",
            "/a/../b",
            "/admin/../a",
            "/%2e%2e%2fADMIN",
            "/a/%252e%252e/admin",
            "/admin;x",
            "/z/../admin//..",
        ] {
            assert!(chosen(&routes, target, "h").is_err(), "{target}");
        }
        let only = self::routes("[[routes]]\nupstream = \"http://a\"\npaths = \"as-they-come\"\n");
        for target in ["/x/../admin", "//x", "/%2e%2e/x", "/a;b//..%2f%00"] {
            assert_eq!(chosen(&only, target, "h").unwrap().1, target);
        }
    }

    #[test]
    fn hosts_with_a_dot_or_a_port_take_their_route() {
        let text = r#"
            [[routes]]
            hosts = ["admin.example", "*.int.example"]
            path = "/x"
            upstream = "http://a"
            [[routes]]
            upstream = "http://b"
        "#;
        let routes = routes(text);
        for host in [
            "admin.example",
            "ADMIN.example.",
            "admin.example.:80",
            "admin.example:",
            "admin.example..",
            "a.int.example.",
        ] {
            assert_eq!(chosen(&routes, "/x", host).unwrap().0, "/x", "{host}");
        }
        assert_eq!(chosen(&routes, "http://admin.example./x", "other").unwrap().0, "/x");
        for host in ["int.example.", "xadmin.example", ".", ""] {
            assert_eq!(chosen(&routes, "/x", host).unwrap().0, "", "{host}");
        }
    }
}
