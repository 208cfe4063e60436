//! TLS from clients, with curl and openssl: protocols, reload, client certificates.

use crate::gateway::{Gateway, json_upstream, to};
use crate::protocols::{certify, curl, openssl};
use crate::proxying::echo;
use crate::rows::{ROWS, ROWS_STC};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn tls(folder: &Path, more: &str) -> String {
    format!("[tls]\ncertificate = \"{0}/cert.pem\"\nkey = \"{0}/key.pem\"\n{more}", folder.display())
}

/// The arguments of curl for a request that trusts the certificate in a file.
fn trusting(gateway: &Gateway, roots: &Path, path: &str) -> Vec<String> {
    let port = gateway.traffic.port();
    let (url, resolve) = (format!("https://localhost:{port}{path}"), format!("localhost:{port}:127.0.0.1"));
    ["--cacert", roots.to_str().unwrap(), "--resolve", &resolve, &url].map(String::from).to_vec()
}

fn fetch(gateway: &Gateway, roots: &Path, path: &str, more: &[&str]) -> String {
    let trusted = trusting(gateway, roots, path);
    curl(&[more, &trusted.iter().map(String::as_str).collect::<Vec<_>>()].concat())
}

/// Returns whether a request fails before any response.
fn fails(gateway: &Gateway, roots: &Path, more: &[&str]) -> bool {
    let output = Command::new("curl").arg("-s").args(more).args(trusting(gateway, roots, "/")).output().unwrap();
    !output.status.success() && output.stdout.is_empty()
}

#[test]
fn both_protocols_by_negotiation() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let roots = folder.path().join("cert.pem");
    let gateway = Gateway::start(&to(json_upstream(), &tls(folder.path(), "[timeouts]\nrequest = 1\n")));
    let version = ["-w", " %{http_version}"];
    assert_eq!(fetch(&gateway, &roots, "/rows", &version), format!("{ROWS} 2"));
    assert_eq!(fetch(&gateway, &roots, "/rows", &[&["--http1.1"], &version[..]].concat()), format!("{ROWS} 1.1"));
    assert_eq!(fetch(&gateway, &roots, "/rows", &["-H", "Accept-Encoding: stc"]), ROWS_STC);
    let plain = Command::new("curl").args(["-s", &format!("http://{}/", gateway.traffic)]).output().unwrap();
    assert!(!plain.status.success() && plain.stdout.is_empty(), "{plain:?}");
    // A client that says nothing, or stops in the handshake, is disconnected.
    for start in [&b""[..], b"\x16\x03\x01"] {
        let mut socket = TcpStream::connect(gateway.traffic).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.write_all(start).unwrap();
        let closed = socket.read_to_end(&mut Vec::new());
        assert!(!matches!(&closed, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock), "{start:?}");
    }
    gateway.comes_to("stc_connections", 0);
}

#[test]
fn upstreams_are_told() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let gateway = Gateway::start(&to(echo(), &tls(folder.path(), "")));
    let seen = fetch(&gateway, &folder.path().join("cert.pem"), "/", &[]).to_lowercase();
    assert!(seen.contains("x-forwarded-proto: https\r\n") && seen.contains("proto=https\r\n"), "{seen}");
}

#[test]
fn a_new_certificate_is_read_on_sighup() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certify(folder.path());
    certify(other.path());
    let old = other.path().join("old.pem");
    std::fs::copy(folder.path().join("cert.pem"), &old).unwrap();
    let gateway = Gateway::start(&to(json_upstream(), &tls(folder.path(), "")));
    assert_eq!(fetch(&gateway, &old, "/rows", &[]), ROWS);
    std::fs::copy(other.path().join("cert.pem"), folder.path().join("cert.pem")).unwrap();
    // A key that does not fit its certificate changes nothing.
    gateway.signal("-HUP");
    gateway.says("configuration kept as it was");
    assert_eq!(fetch(&gateway, &old, "/rows", &[]), ROWS);
    std::fs::copy(other.path().join("key.pem"), folder.path().join("key.pem")).unwrap();
    gateway.reload();
    assert_eq!(fetch(&gateway, &other.path().join("cert.pem"), "/rows", &[]), ROWS);
    assert!(fails(&gateway, &old, &[]));
}

/// Creates a certificate authority, and certificates of two clients: with a DNS name, and without.
fn clients(folder: &Path) {
    let run = |arguments: &[&str]| assert!(openssl(folder, arguments).status().unwrap().success(), "{arguments:?}");
    let new = ["req", "-newkey", "rsa:2048", "-nodes"];
    let authority = ["-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
    run(&[&new[..], &authority].concat());
    for (name, extension) in [("team", "subjectAltName=DNS:team.example"), ("bare", "basicConstraints=CA:FALSE")] {
        let (key, request, out) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        let subject = format!("/CN={name}");
        run(&[&new[..], &["-subj", &subject, "-addext", extension, "-keyout", &key, "-out", &request]].concat());
        let sign = ["x509", "-req", "-days", "2", "-CA", "ca.pem", "-CAkey", "ca.key", "-copy_extensions", "copy"];
        run(&[&sign[..], &["-in", &request, "-out", &out]].concat());
    }
}

#[test]
fn client_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    certify(folder.path());
    clients(folder.path());
    let roots = folder.path().join("cert.pem");
    let (team, bare) = ([at("team.pem"), at("team.key")], [at("bare.pem"), at("bare.key")]);
    let stranger = [at("cert.pem"), at("key.pem")];
    let with = |files: &[String; 2]| ["--cert".to_owned(), files[0].clone(), "--key".to_owned(), files[1].clone()];
    let status = ["-o", "/dev/null", "-w", "%{http_code}"];

    let optional = format!("client_ca = \"{}\"\nclient_certificates = \"optional\"\n", at("ca.pem"));
    let upstream = json_upstream();
    let route = format!(
        "[[routes]]\npath = \"/team\"\nupstream = \"http://{upstream}\"\nauth = {{ client_certificate = true }}\n"
    );
    let gateway = Gateway::start(&to(upstream, &(tls(folder.path(), &optional) + &route)));
    assert_eq!(fetch(&gateway, &roots, "/open", &status), "200");
    assert_eq!(fetch(&gateway, &roots, "/team", &status), "403");
    for (files, tenant) in [(&team, "team.example"), (&bare, "sha256:")] {
        let with = with(files);
        let with: Vec<_> = with.iter().map(String::as_str).collect();
        assert_eq!(fetch(&gateway, &roots, "/team", &[&with[..], &status[..]].concat()), "200");
        let line = gateway.says(&format!("\"tenant\":\"{tenant}"));
        assert!(line.contains("\"access\""), "{line}");
    }
    let strange = with(&stranger);
    let strange: Vec<_> = strange.iter().map(String::as_str).collect();
    assert!(fails(&gateway, &roots, &strange), "a certificate that nothing vouches for");
    assert_eq!(gateway.metric("stc_rejected_requests_total{reason=\"certificate\"}"), 1);

    let required = format!("client_ca = \"{}\"\n", at("ca.pem"));
    let gateway = Gateway::start(&to(json_upstream(), &tls(folder.path(), &required)));
    assert!(fails(&gateway, &roots, &[]), "no certificate");
    let team = with(&team);
    let team: Vec<_> = team.iter().map(String::as_str).collect();
    assert_eq!(fetch(&gateway, &roots, "/rows", &team), ROWS);
}
