//! The program as an operator runs it: a process, sockets, signals. On Linux only: the tests use sockets with abstract names, a second
//! address of the loopback interface, and `/proc`.

mod access;
mod backends;
mod claims;
mod context;
mod demo;
mod exchanges;
mod faults;
mod gateway;
mod https;
mod logs;
mod memory;
mod packaging;
mod plugins;
mod protocols;
mod proxying;
mod rows;
mod running;
mod safety;
mod semantics;
mod signals;
mod stalled;
mod tools;
mod traces;
