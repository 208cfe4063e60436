//! What requests need and how many there can be: bearer tokens, JSON Web Tokens, rates and quotas, the admin address.

use crate::gateway::{Gateway, get, json_upstream, send, to};
use crate::protocols::openssl;
use crate::proxying::echo;
use crate::rows::{ROWS, ROWS_STC};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

const TOKEN: &str = "0123456789abcdef";

/// Writes a file of tokens for the tenants `search` and `ads`.
fn tokens(folder: &Path) -> String {
    let path = folder.join("tokens");
    std::fs::write(&path, format!("search {TOKEN}\nads {TOKEN}-ads\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

fn status(gateway: &Gateway, path: &str, headers: &str) -> String {
    get(gateway.traffic, path, headers).0.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn bearer_tokens_by_route() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = echo();
    let open = format!("[[routes]]\npath = \"/open\"\nupstream = \"http://{upstream}\"\nauth = {{}}\n");
    let kept = format!(
        "[[routes]]\npath = \"/kept\"\nupstream = \"http://{upstream}\"\nauth = {{ tokens = \"{}\", forward = true }}\n",
        tokens(folder.path())
    );
    let auth = format!("[auth]\ntokens = \"{}\"\n", tokens(folder.path()));
    let gateway = Gateway::start(&to(upstream, &(auth + &open + &kept)));
    let (head, _) = get(gateway.traffic, "/", "");
    assert!(head.starts_with("http/1.1 401") && head.contains("www-authenticate: bearer"), "{head}");
    for wrong in ["authorization: Basic eDp5\r\n".to_owned(), bearer("0123456789abcdeF"), bearer("")] {
        assert_eq!(status(&gateway, "/", &wrong), "401", "{wrong}");
    }
    assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"credentials\"}"), 4);
    assert_eq!(status(&gateway, "/open/x", ""), "200");
    let (head, seen) = get(gateway.traffic, "/x", &bearer(TOKEN));
    assert!(head.starts_with("http/1.1 200") && !seen.to_lowercase().contains("authorization"), "{head} {seen}");
    let line: Value = serde_json::from_str(&gateway.says("\"tenant\"")).unwrap();
    assert_eq!((&line["tenant"], &line["path"]), (&"search".into(), &"/x".into()));
    assert!(!line.to_string().contains(TOKEN));
    let (_, seen) = get(gateway.traffic, "/kept", &bearer(TOKEN));
    assert!(seen.to_lowercase().contains("authorization"), "{seen}");
}

/// Creates a token from its header and claims, with the signature that `sign` returns.
fn token(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
    format!("{text}.{signature}")
}

fn in_seconds(seconds: i64) -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 + seconds
}

fn by_secret(secret: &[u8]) -> impl Fn(&[u8]) -> Vec<u8> {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    move |text| ring::hmac::sign(&key, text).as_ref().to_vec()
}

#[test]
fn signed_tokens_with_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secret = b"a secret of thirty-two bytes, or more";
    let path = folder.path().join("secret");
    std::fs::write(&path, [secret, &b"\n"[..]].concat()).unwrap();
    let auth = format!(
        "[auth]\njwt = {{ algorithm = \"HS256\", key = \"{}\", issuer = \"us\", audience = \"gateway\", tenant = \"team\" }}\n",
        path.display()
    );
    let gateway = Gateway::start(&to(json_upstream(), &auth));
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let good = json!({"iss": "us", "aud": ["gateway"], "exp": in_seconds(600), "team": "search"});
    let sent = |header: &Value, claims: &Value, secret: &[u8]| {
        status(&gateway, "/", &bearer(&token(header, claims, by_secret(secret))))
    };
    assert_eq!(sent(&header, &good, secret), "200");
    assert!(gateway.says("\"tenant\"").contains("\"tenant\":\"search\""));
    assert_eq!(sent(&header, &good, b"another secret of thirty-two bytes"), "401");
    for (claim, value) in [
        ("iss", json!("them")),
        ("iss", json!(["us"])),
        ("iss", json!(["us", "them"])),
        ("iss", Value::Null),
        ("aud", json!("others")),
        ("aud", json!([])),
        ("aud", json!(["gateway", 7])),
        ("aud", json!({"gateway": true})),
        ("aud", Value::Null),
        ("exp", json!(in_seconds(-600))),
        ("exp", json!("never")),
        ("exp", Value::Null),
        ("nbf", json!(in_seconds(600))),
        ("nbf", json!("later")),
        ("team", json!(7)),
        ("team", json!("")),
        ("team", json!("x".repeat(1000))),
    ] {
        let mut claims = good.clone();
        claims[claim] = value;
        assert_eq!(sent(&header, &claims, secret), "401", "{claims}");
    }
    for missing in ["iss", "aud", "exp", "team"] {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(missing);
        assert_eq!(sent(&header, &claims, secret), "401", "no {missing}");
    }
    for algorithm in ["none", "HS384", "RS256", "hs256"] {
        assert_eq!(sent(&json!({"alg": algorithm}), &good, secret), "401", "{algorithm}");
    }
    for critical in [json!(["exp"]), json!(["b64"]), json!([]), Value::Null, json!("x")] {
        assert_eq!(sent(&json!({"alg": "HS256", "crit": critical}), &good, secret), "401", "{critical}");
    }
    let unsigned = token(&json!({"alg": "none"}), &good, |_| Vec::new());
    assert_eq!(status(&gateway, "/", &bearer(&unsigned)), "401");
}

fn private(folder: &Path, name: &str) -> Vec<u8> {
    PrivateKeyDer::from_pem_file(folder.join(name)).unwrap().secret_der().to_vec()
}

#[test]
fn signed_tokens_with_a_public_key() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |arguments: &[&str]| assert!(openssl(folder.path(), arguments).status().unwrap().success(), "{arguments:?}");
    run(&["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa.pem"]);
    run(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ec.pem"]);
    for name in ["rsa", "ec"] {
        run(&["pkey", "-in", &format!("{name}.pem"), "-pubout", "-out", &format!("{name}.pub")]);
    }
    let random = SystemRandom::new();
    let rsa = RsaKeyPair::from_pkcs8(&private(folder.path(), "rsa.pem")).unwrap();
    let by_rsa = |text: &[u8]| {
        let mut signature = vec![0; rsa.public().modulus_len()];
        rsa.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).unwrap();
        signature
    };
    let private = private(folder.path(), "ec.pem");
    let ec = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private, &random).unwrap();
    let by_ec = |text: &[u8]| ec.sign(&random, text).unwrap().as_ref().to_vec();
    let claims = json!({"sub": "search", "exp": in_seconds(600)});
    let with_claim = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        claims
    };
    for (algorithm, name) in [("RS256", "rsa.pub"), ("ES256", "ec.pub")] {
        let path = folder.path().join(name);
        let auth = format!("[auth]\njwt = {{ algorithm = \"{algorithm}\", key = \"{}\" }}\n", path.display());
        let gateway = Gateway::start(&to(json_upstream(), &auth));
        let sent = |token: &str| status(&gateway, "/", &bearer(token));
        let rsa = token(&json!({"alg": "RS256"}), &claims, by_rsa);
        let ec = token(&json!({"alg": "ES256"}), &claims, by_ec);
        let right = [&rsa, &ec][usize::from(algorithm == "ES256")];
        let wrong = [&ec, &rsa][usize::from(algorithm == "ES256")];
        assert_eq!((sent(right), sent(wrong)), ("200".to_owned(), "401".to_owned()), "{algorithm}");
        // Without a setting for them, a token with an audience is not for everyone, and an issuer is one name.
        for claims in [with_claim("aud", Value::Null), with_claim("aud", json!("x")), with_claim("iss", json!(["us"]))]
        {
            let token = match algorithm {
                "RS256" => token(&json!({"alg": "RS256"}), &claims, by_rsa),
                _ => token(&json!({"alg": "ES256"}), &claims, by_ec),
            };
            assert_eq!(sent(&token), "401", "{claims}");
        }
        // The public key is no secret: a token signed with it proves nothing.
        let forged = token(&json!({"alg": "HS256"}), &claims, by_secret(&std::fs::read(&path).unwrap()));
        assert_eq!(sent(&forged), "401", "{algorithm}");
        let changed = right.replacen('.', ".e30", 1);
        assert_eq!(sent(&changed), "401", "{algorithm}");
    }
}

#[test]
fn rates_and_quotas_by_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let auth = format!("[auth]\ntokens = \"{}\"\n", tokens(folder.path()));
    let rate = "[rate]\nrequests_per_second = 0.01\nburst = 2\n[rate.tenants.ads]\nrequests_per_day = 3\n";
    let gateway = Gateway::start(&to(json_upstream(), &format!("{auth}{rate}")));
    let (search, ads) = (bearer(TOKEN), bearer(&format!("{TOKEN}-ads")));
    let sent = |headers: &str, count: usize| (0..count).map(|_| status(&gateway, "/", headers)).collect::<Vec<_>>();
    assert_eq!(sent(&search, 3), ["200", "200", "429"]);
    assert_eq!(sent(&ads, 4), ["200", "200", "200", "429"]);
    let (head, body) = get(gateway.traffic, "/", &search);
    let seconds: u64 = head.split("retry-after: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    assert!((1..=100).contains(&seconds) && body.contains("per second"), "{head} {body}");
    // A reload forgets nothing.
    gateway.reload();
    assert_eq!(sent(&ads, 1), ["429"]);
    assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"rate\"}"), 2);
    assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"quota\"}"), 2);
    // Without credentials, an address is a tenant; a route of its own counts for itself.
    let upstream = json_upstream();
    let own = format!(
        "[[routes]]\npath = \"/own\"\nupstream = \"http://{upstream}\"\nrate = {{ requests_per_day = 1 }}\n[rate]\nrequests_per_day = 1\n"
    );
    let gateway = Gateway::start(&to(upstream, &own));
    for path in ["/own", "/"] {
        assert_eq!([status(&gateway, path, ""), status(&gateway, path, "")], ["200", "429"], "{path}");
    }
}

#[test]
fn the_admin_address_wants_a_token_and_a_known_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    let access = format!("admin_hosts = [\"gateway.example\"]\nadmin_token = \"{}\"\n", path.display());
    let gateway = Gateway::start(&format!("{access}upstream = \"http://{}\"\n", json_upstream()));
    let sent = |path: &str, host: &str, headers: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n");
        send(gateway.admin, &request).0.split(' ').nth(1).unwrap().to_owned()
    };
    for path in ["/", "/state", "/metrics", "/page.js"] {
        assert_eq!(sent(path, "127.0.0.1", ""), "401", "{path}");
        assert_eq!(sent(path, "127.0.0.1", &bearer("0123456789abcdeX")), "401", "{path}");
        assert_eq!(sent(path, "127.0.0.1", &bearer(TOKEN)), "200", "{path}");
        assert_eq!(sent(path, "gateway.example:9090", &bearer(TOKEN)), "200", "{path}");
        assert_eq!(sent(path, "evil.example", &bearer(TOKEN)), "421", "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(sent(path, "probe.example", ""), "200", "{path}");
    }
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("operator:{TOKEN}"));
    assert_eq!(sent("/", "localhost", &format!("authorization: Basic {basic}\r\n")), "200");
    let post = "POST /compare HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\n[]";
    assert!(send(gateway.admin, post).0.starts_with("http/1.1 401"));
}

/// The operator decides by what a token proves, which is removed from the request.
#[test]
fn formats_by_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "[[stc.clients]]\ntenant = \"sea*\"\nformat = \"stc1\"\nrest = true\n";
    let auth = format!("[auth]\ntokens = \"{}\"\n{rule}", tokens(folder.path()));
    let gateway = Gateway::start(&to(json_upstream(), &auth));
    let (head, body) = get(gateway.traffic, "/rows", &bearer(TOKEN));
    assert_eq!(body, ROWS_STC, "{head}");
    assert!(head.contains("content-encoding: stc") && head.contains("cache-control: private"), "{head}");
    let line: Value = serde_json::from_str(&gateway.says("\"response\"")).unwrap();
    assert_eq!((&line["source"], &line["sent"]), (&"operator".into(), &"stc1".into()), "{line}");
    let (head, body) = get(gateway.traffic, "/rows", &bearer(&format!("{TOKEN}-ads")));
    assert_eq!(body, ROWS, "{head}");
    assert!(!head.contains("cache-control"), "{head}");
    // With `forward` the token stays, and a rule sees it.
    let rule = "[[stc.clients]]\nheader = \"authorization\"\nformat = \"stc1\"\nrest = true\n";
    let auth = format!("[auth]\ntokens = \"{}\"\nforward = true\n{rule}", tokens(folder.path()));
    let gateway = Gateway::start(&to(json_upstream(), &auth));
    let (head, body) = get(gateway.traffic, "/rows", &bearer(TOKEN));
    assert!(body == ROWS_STC && head.contains("vary: authorization"), "{head}");
}

#[test]
fn check_config_refuses_what_would_protect_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let (short, good) = (file("short", "abc"), file("good", &"x".repeat(40)));
    let tokens = tokens(folder.path());
    let on_token = "[[stc.clients]]\nheader = \"Authorization\"\nformat = \"stc2\"\n";
    for (wrong, expected) in [
        ("[tls]\ncertificate = \"c.pem\"\n".to_owned(), "missing field `key`"),
        ("[tls]\ncertificate = \"missing.pem\"\nkey = \"k.pem\"\n".to_owned(), "missing.pem"),
        (format!("[tls]\ncertificate = \"{good}\"\nkey = \"{good}\"\n"), "no certificate"),
        ("[tls]\ncertificate = \"c\"\nkey = \"k\"\nclient_certificates = \"required\"\n".to_owned(), "client_ca"),
        ("[auth]\nclient_certificate = true\n".to_owned(), "client_ca"),
        ("[auth]\ntokens = \"missing\"\n".to_owned(), "missing"),
        (format!("[auth]\ntokens = \"{good}\"\n"), "good:1: expected a tenant and a token"),
        (format!("[auth]\ntoken = \"{tokens}\"\n"), "unknown field `token`"),
        (format!("[auth]\njwt = {{ algorithm = \"none\", key = \"{good}\" }}\n"), "unknown variant `none`"),
        (format!("[auth]\njwt = {{ algorithm = \"HS256\", key = \"{short}\" }}\n"), "at least 32 bytes"),
        (format!("[auth]\njwt = {{ algorithm = \"RS256\", key = \"{good}\" }}\n"), "not a public key"),
        ("[rate]\n".to_owned(), "is required"),
        ("[rate]\nburst = 3\n".to_owned(), "is required"),
        ("[rate]\nrequests_per_day = 9\nburst = 3\n".to_owned(), "needs `requests_per_second`"),
        ("[rate]\nrequests_per_second = 0\n".to_owned(), "between 0.001"),
        ("[rate]\nrequests_per_day = 0\n".to_owned(), "at least 1"),
        ("[rate]\nrequests_per_day = 1\n[rate.tenants.a]\n".to_owned(), "the tenant `a`"),
        (format!("admin_token = \"{short}\"\n"), "at least 16 characters"),
        ("[[routes]]\npath = \"/a\"\nupstream = \"http://a\"\ntools = { include = [\"a[\"] }\n".to_owned(), "a["),
        ("[[routes]]\npath = \"/a\"\nupstream = \"http://a\"\nrate = { burst = 0 }\n".to_owned(), "at least 1"),
        (format!("{on_token}[auth]\ntokens = \"{tokens}\"\n"), "use `tenant`"),
        (
            format!(
                "{on_token}[[routes]]\npath = \"/a\"\nupstream = \"http://a\"\nauth = {{ tokens = \"{tokens}\" }}\n"
            ),
            "c.toml:6:8",
        ),
    ] {
        let path = file("c.toml", &format!("upstream = \"http://a\"\n{wrong}"));
        let output = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).args(["check-config", &path]).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{wrong}: {said}");
    }
}

/// An address that failed too often is answered without a look at its token; another address is not, and neither is a request without one.
#[test]
fn failed_credentials_are_limited_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let more = format!(
        "trusted_proxies = [\"127.0.0.1\"]\n[auth]\ntokens = \"{}\"\n[limits]\nfailed_credentials_per_client = 3\n",
        tokens(folder.path())
    );
    let gateway = Gateway::start(&to(json_upstream(), &more));
    let from = |address: &str, token: &str| {
        status(&gateway, "/", &format!("x-forwarded-for: 6.6.6.6, {address}\r\n{}", bearer(token)))
    };
    for (address, other) in [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1")] {
        for _ in 0..3 {
            assert_eq!(from(address, "a-wrong-token-of-someone"), "401");
        }
        assert_eq!(
            (from(address, "a-wrong-token-of-someone"), from(address, TOKEN)),
            ("429".to_owned(), "429".to_owned())
        );
        assert_eq!((from(other, TOKEN), from(other, "a-wrong-token-of-someone")), ("200".to_owned(), "401".to_owned()));
        assert_eq!(status(&gateway, "/", &format!("x-forwarded-for: {address}\r\n")), "401");
    }
    assert_eq!(from("2001:db8::ffff", TOKEN), "429", "the same /64 network");
    let (head, body) = get(gateway.traffic, "/", &format!("x-forwarded-for: 192.0.2.1\r\n{}", bearer(TOKEN)));
    assert!(head.contains("retry-after: ") && body.contains("failed credentials"), "{head} {body}");
    assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"failures\"}"), 6);
}

/// What a client's header says changes nothing about a tenant that a token has proved.
#[test]
fn a_header_names_no_other_tenant_than_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = "[[plugins]]\nname = \"tenant\"\nsettings = { required = true }\n";
    let gateway = Gateway::start(&to(echo(), &format!("[auth]\ntokens = \"{}\"\n{plugin}", tokens(folder.path()))));
    for (line, expected) in [
        ("", "200"),
        ("x-tenant: search\r\n", "200"),
        ("x-tenant:\r\n", "200"),
        ("x-tenant: ads\r\n", "403"),
        ("x-tenant: search\r\nx-tenant: ads\r\n", "403"),
    ] {
        assert_eq!(status(&gateway, "/", &format!("{line}{}", bearer(TOKEN))), expected, "{line}");
        let logged: Value = serde_json::from_str(&gateway.says("\"tenant\"")).unwrap();
        assert_eq!(logged["tenant"], "search", "{line}");
    }
}
