//! The program as a process, upstreams with prepared behaviour, a client that sees every byte.

use crate::rows::ROWS;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A running gateway, stopped on drop.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    pub(crate) traffic: SocketAddr,
    pub(crate) admin: SocketAddr,
    said: mpsc::Receiver<String>,
    _folder: tempfile::TempDir,
    pub(crate) config: PathBuf,
}

impl Gateway {
    pub(crate) fn start(config: &str) -> Self {
        Self::start_with(config, Stdio::piped())
    }

    /// Starts it with this standard output; only piped output is read.
    pub(crate) fn start_with(config: &str, stdout: Stdio) -> Self {
        Self::launch(config, stdout, &[])
    }

    /// Starts it with these environment variables.
    pub(crate) fn start_in(config: &str, variables: &[(&str, &str)]) -> Self {
        Self::launch(config, Stdio::piped(), variables)
    }

    /// Starts it with these root certificates instead of the machine's.
    pub(crate) fn start_trusting(config: &str, roots: &Path) -> Self {
        Self::start_in(config, &[("SSL_CERT_FILE", roots.to_str().unwrap())])
    }

    fn launch(config: &str, stdout: Stdio, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.toml");
        // The host of the requests in these tests.
        let hosts = if config.contains("admin_hosts") { "" } else { "admin_hosts = [\"h\"]\n" };
        std::fs::write(&path, format!("{hosts}{config}")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
        command.args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config"]).arg(&path);
        // Headers for a collector, where a test's configuration names the variable.
        command.env("STC_TEST_HEADERS", "api-key=k%2Cey");
        command.envs(variables.iter().copied());
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        // The addresses are on the standard error. The log is read after them, so that none of its lines is passed over.
        let (send, said) = mpsc::channel();
        read_lines(child.stderr.take(), &send);
        let traffic = address(&wait_for(&said, "listening on"));
        let admin = address(&wait_for(&said, "admin on"));
        read_lines(child.stdout.take(), &send);
        Self { child, traffic, admin, said, _folder: folder, config: path }
    }

    pub(crate) fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Has it read its configuration again, and waits until it says so on the standard error. The log says it too; a line left from the
    /// last reload must not pass for this one.
    pub(crate) fn reload(&self) {
        self.signal("-HUP");
        self.says("stc-gateway: configuration read again");
    }

    /// Waits for a line that contains this text.
    pub(crate) fn says(&self, what: &str) -> String {
        wait_for(&self.said, what)
    }

    /// Returns everything that it still says until it ends.
    pub(crate) fn rest(&self) -> String {
        self.said.iter().collect::<Vec<_>>().join("\n")
    }
}

/// Returns the lines of both outputs of a process.
pub(crate) fn listen(child: &mut Child) -> mpsc::Receiver<String> {
    let (send, said) = mpsc::channel();
    read_lines(child.stderr.take(), &send);
    read_lines(child.stdout.take(), &send);
    said
}

fn read_lines(pipe: Option<impl Read + Send + 'static>, send: &mpsc::Sender<String>) {
    let Some(pipe) = pipe else { return };
    let send = send.clone();
    thread::spawn(move || BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
}

/// Waits for a line that contains this text.
pub(crate) fn wait_for(said: &mpsc::Receiver<String>, what: &str) -> String {
    loop {
        let line = said.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("never said {what}"));
        if line.contains(what) {
            return line;
        }
    }
}

/// Parses the address at the end of a line.
pub(crate) fn address(line: &str) -> SocketAddr {
    line.rsplit("://").next().unwrap().trim_end_matches('/').parse().unwrap()
}

impl Gateway {
    /// Returns the value of a metric, named with its labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let (_, metrics) = get(self.admin, "/metrics", "");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
    }

    /// Waits until a metric has this value.
    pub(crate) fn comes_to(&self, name: &str, value: u64) {
        for _ in 0..400 {
            if self.metric(name) == value {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{name} stays at {}", self.metric(name));
    }

    /// Returns the resident memory in megabytes.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts an upstream that handles every connection with this function.
pub(crate) fn upstream(handle: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let handle = handle.clone();
            thread::spawn(move || handle(socket));
        }
    });
    address
}

/// Reads the head of a request.
pub(crate) fn head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

pub(crate) fn json_upstream() -> SocketAddr {
    upstream(|mut socket| {
        while !head(&mut socket).is_empty() {
            let length = ROWS.len();
            let _ = write!(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{ROWS}"
            );
        }
    })
}

pub(crate) fn send(address: SocketAddr, request: &str) -> (String, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    // A connection that ends early shows what arrived.
    let _ = socket.read_to_end(&mut response);
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    (head.to_lowercase(), body.to_owned())
}

pub(crate) fn get(address: SocketAddr, path: &str, headers: &str) -> (String, String) {
    send(address, &format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{headers}\r\n"))
}

/// Starts an upstream that answers every connection's first request with exactly these bytes.
pub(crate) fn answers(bytes: impl Into<Vec<u8>>) -> SocketAddr {
    let bytes = bytes.into();
    upstream(move |mut socket| {
        head(&mut socket);
        let _ = socket.write_all(&bytes);
    })
}

pub(crate) fn to(upstream: SocketAddr, more: &str) -> String {
    format!("upstream = \"http://{upstream}\"\n{more}")
}
