//! Messages to systemd (`Type=notify`): a datagram to the socket that `NOTIFY_SOCKET` names.

use std::ffi::OsStr;
use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Says that the program listens.
pub(crate) const READY: &str = "READY=1";
/// Says that it drains.
pub(crate) const STOPPING: &str = "STOPPING=1";

/// Sends a state, if systemd started the program. A failure changes nothing: only systemd waits for the message.
pub(crate) fn notify(state: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let sent = address(&name).and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(target: "gateway", why = %error, "systemd was not told {state}");
    }
}

/// Returns the address of a socket: a file, or after `@` an abstract name.
#[cfg(target_os = "linux")]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;

    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

/// Returns the address of a socket, which is a file.
#[cfg(not(target_os = "linux"))]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}
