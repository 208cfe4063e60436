//! Tests of whole files: all their mistakes at once, and what has no effect in them.

use super::*;

#[track_caller]
fn shown(text: &str) -> Vec<String> {
    let flags = Flags::default();
    match Config::read(text, &flags) {
        Ok(config) => config.warnings,
        Err(Mistakes(mut found)) => {
            found.sort();
            let path = Path::new("c.toml");
            found.iter().map(|(offset, why)| format!("{}{why}", place(path, text, *offset))).collect()
        }
    }
}

/// All mistakes of all tables, each in its own line, with the name that was probably meant.
#[test]
fn all_mistakes_at_once() {
    let text = "upstream = \"http://a\"\nlisten = 7\n[limits]\nrequets = 1\nstreams = 0\n\
                [context]\nmod = \"safe\"\nmin_bytes = \"1\"\nallow = [\"safe\", \"losless\"]\nskip_tools = [\"a[\"]\n\
                [context.redact]\nenabled = \"requird\"\nrules = [\"-jwts\"]\n\
                [context.cap]\nbytes = 0\n\
                [[routes]]\npath = \"/a\"\nupstream = \"http://a\"\ncontext = { api = \"antropic\", memo = { tll = 5 } }\n";
    let found = shown(text);
    let expected = [
        ("c.toml:2:10: ", ""),
        ("c.toml:4:1: ", "unknown field `requets`; did you mean `requests`?"),
        ("c.toml:5:11: ", ""),
        ("c.toml:7:1: ", "unknown field `mod`; did you mean `mode`?"),
        ("c.toml:8:13: ", ""),
        ("c.toml:9:9: ", "`context.mode`: expected disabled, "),
        ("c.toml:10:14: ", "`context.skip_tools`: expected families"),
        ("c.toml:12:11: ", "did you mean `required`?"),
        ("c.toml:13:10: ", "rule `jwts`: no such rule"),
        ("c.toml:15:9: ", "`context.cap.bytes`: expected 1 to 1048576"),
        ("c.toml:19:19: ", "did you mean `anthropic`?"),
        ("c.toml:19:40: ", "unknown field `tll`; did you mean `ttl`?"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (place, why)) in found.iter().zip(expected) {
        assert!(found.starts_with(place) && found.contains(why), "{place}{why}: {found}");
    }
}

/// Lines about models, each mistake at its place, and the flag.
#[test]
fn readers_that_are_wrong() {
    let lines = "{ model = \"a\", fromat = \"json\" }, { model = \"b\", format = \"jsn\" }, { model = \"c d\", format = \"json\" }";
    let text = format!("upstream = \"http://a\"\n[context]\nreader = \"larg\"\nreaders = [{lines}]\n");
    let found = shown(&text);
    for (part, why) in [
        ("\"larg\"", "`context.reader`: expected auto, large or small; did you mean `large`?"),
        ("fromat", "unknown field `fromat`; did you mean `format`?"),
        ("\"jsn\"", "did you mean `json`?"),
        ("\"c d\"", "`context.readers`: expected 1 to 128 letters"),
    ] {
        let place = place(Path::new("c.toml"), &text, text.find(part));
        assert!(found.iter().any(|found| found.starts_with(&place) && found.contains(why)), "{place}{why}: {found:#?}");
    }
    let flags = |reader: &str| Flags {
        upstream: Some("http://a".to_owned()),
        context: Some("lossless".to_owned()),
        reader: Some(reader.to_owned()),
        ..Flags::default()
    };
    let read = |text: &str, reader| Config::read(text, &flags(reader)).map_err(|Mistakes(found)| found[0].1.clone());
    assert_eq!(read("", "huge").unwrap_err(), "--reader: `context.reader`: expected auto, large or small");
    let settings = read("[context]\nreader = \"small\"\n", "large").unwrap().routes[0].context.clone().unwrap();
    assert_eq!(settings.reader, stc_context::ReaderChoice::Large, "the flag wins");
}

#[test]
fn what_has_no_effect() {
    let route = "[[routes]]\npath = \"/\"\nupstream = \"http://a\"\n";
    let compress = "[[routes]]\npath = \"/v1/compress\"\ncompress = true\n";
    for (text, expected) in [
        (route.to_owned(), None),
        (format!("[context]\n{route}"), Some("`[context]` applies to no route")),
        (format!("[context]\n{route}context = false\n"), Some("`[context]` applies to no route")),
        (format!("[context]\n{route}context = true\n"), None),
        (format!("[context]\n{compress}"), None),
        (format!("{compress}strip = true\n"), Some("`strip` has no effect on a path that compresses")),
        (format!("{compress}context = false\n"), Some("`context = false` has no effect")),
        (format!("upstream = \"http://b\"\n{route}"), Some("no request reaches `upstream`")),
        (
            format!("[rate]\nrequests_per_second = 5\n{route}rate = {{ burst = 7, requests_per_second = 2 }}\n"),
            Some("`[rate]`"),
        ),
        (format!("[rate]\nrequests_per_second = 5\n{route}"), None),
        (format!("[stc]\nmin_bytes = 5\n{route}stc = {{}}\n"), Some("`[stc]` applies to no route")),
        (format!("admin_token = \"t\"\n{route}"), Some("`admin_token` has no effect without `admin`")),
        (format!("admin = \"127.0.0.1:0\"\nadmin_token = \"t\"\n{route}"), None),
        (
            "[[routes]]\npath = \"/mcp\"\nupstream = \"http://a\"\n[[plugins]]\nname = \"x\"\nroutes = [\"/mpc/**\"]\n"
                .to_owned(),
            Some("no route has a path that `/mpc/**` matches"),
        ),
    ] {
        let found = shown(&text);
        assert_eq!(found.len(), usize::from(expected.is_some()), "{text}\n{found:?}");
        assert!(expected.is_none_or(|expected| found[0].contains(expected)), "{text}\n{found:?}");
    }
    let flags = Flags { upstream: Some("http://a".to_owned()), context: Some("safe".to_owned()), ..Flags::default() };
    assert!(Config::read("[context]\n", &flags).unwrap().warnings.is_empty());
}
