//! The program as an operator runs it: a process, sockets, signals.

mod access;
mod backends;
mod context;
mod demo;
mod exchanges;
mod faults;
mod gateway;
mod https;
mod logs;
// systemd and sockets with abstract names.
#[cfg(target_os = "linux")]
mod packaging;
mod plugins;
mod protocols;
mod proxying;
mod rows;
mod running;
mod safety;
mod semantics;
mod signals;
// A second address of the loopback interface.
#[cfg(target_os = "linux")]
mod stalled;
mod tools;
mod traces;
