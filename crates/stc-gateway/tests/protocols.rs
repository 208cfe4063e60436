//! HTTP/2 from clients and TLS to upstreams, with curl and openssl.

use crate::gateway::{Gateway, json_upstream, to};
use crate::rows::{ROWS, ROWS_STC};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) fn curl(arguments: &[&str]) -> String {
    let output = Command::new("curl").arg("-s").args(arguments).output().expect("curl is installed");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn http_2_from_clients() {
    let mut gateway = Gateway::start(&to(json_upstream(), ""));
    let url = format!("http://{}/rows", gateway.traffic);
    let version = ["--http2-prior-knowledge", "-w", " %{http_version}", url.as_str()];
    assert_eq!(curl(&version), format!("{ROWS} 2"));
    assert_eq!(curl(&[&["-H", "Accept-Encoding: stc"], &version[..]].concat()), format!("{ROWS_STC} 2"));
    gateway.signal("-TERM");
    assert!(gateway.child.wait().unwrap().success());
}

/// Over HTTP/2 a HEAD agrees with its GET too.
#[test]
fn forms_over_http_2() {
    let gateway = Gateway::start(&to(json_upstream(), ""));
    let url = format!("http://{}/rows", gateway.traffic);
    let head = |more: &[&str]| {
        let h2 = ["--http2-prior-knowledge", "-H", "Accept-Encoding: stc", "-D", "-", "-o", "/dev/null"];
        let lines = curl(&[&h2[..], more, &[url.as_str()]].concat());
        let mut lines: Vec<String> = lines.lines().map(str::to_lowercase).collect();
        lines.retain(|line| !line.starts_with("x-request-id") && !line.starts_with("date"));
        lines
    };
    assert!(head(&[]).contains(&format!("content-length: {}", ROWS_STC.len())), "{:?}", head(&[]));
    assert_eq!(head(&[]), head(&["--head"]));
}

/// A TLS server with a self-signed certificate, stopped on drop.
struct Secure(Child);

impl Drop for Secure {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn openssl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Creates a self-signed certificate for `localhost`: `cert.pem` and `key.pem`.
pub(crate) fn certify(folder: &Path) {
    let made = openssl(
        folder,
        &[
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=CA:FALSE",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
        ],
    );
    assert!({ made }.status().expect("openssl is installed").success());
}

/// Serves the files of a folder over TLS under the name `localhost`.
fn secure(folder: &Path) -> (Secure, SocketAddr) {
    certify(folder);
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = address.port().to_string();
    let serving =
        openssl(folder, &["s_server", "-quiet", "-HTTP", "-accept", &port, "-cert", "cert.pem", "-key", "key.pem"]);
    let server = Secure({ serving }.spawn().unwrap());
    for _ in 0..400 {
        if TcpStream::connect(address).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    (server, address)
}

#[test]
fn tls_to_upstreams_with_the_right_name_only() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, address) = secure(folder.path());
    // With -HTTP the file contains the whole response.
    let length = ROWS.len();
    let response =
        format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{ROWS}");
    std::fs::write(folder.path().join("rows"), response).unwrap();
    let trusted = folder.path().join("cert.pem");
    let upstream = |host: &str| format!("upstream = \"https://{host}:{}\"\n", address.port());

    let gateway = Gateway::start_trusting(&upstream("localhost"), &trusted);
    let url = format!("http://{}/rows", gateway.traffic);
    assert_eq!(curl(&["-H", "Accept-Encoding: stc", &url]), ROWS_STC);
    // A name that is not in the certificate is rejected.
    let gateway = Gateway::start_trusting(&upstream("127.0.0.1"), &trusted);
    let url = format!("http://{}/rows", gateway.traffic);
    assert_eq!(curl(&["-o", "/dev/null", "-w", "%{http_code}", &url]), "502");
    let line = gateway.says("\"cause\":\"tls\"");
    assert!(line.contains("certificate not valid for name"), "{line}");
    // So is a certificate that nothing vouches for.
    let other = tempfile::tempdir().unwrap();
    let (_other, _) = secure(other.path());
    let gateway = Gateway::start_trusting(&upstream("localhost"), &other.path().join("cert.pem"));
    let url = format!("http://{}/rows", gateway.traffic);
    assert_eq!(curl(&["-o", "/dev/null", "-w", "%{http_code}", &url]), "502");
    let line = gateway.says("\"cause\":\"tls\"");
    assert!(line.contains("UnknownIssuer") || line.contains("BadSignature"), "{line}");
}
