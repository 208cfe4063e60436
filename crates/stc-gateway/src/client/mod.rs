//! How clients reach the gateway: TLS, the start of a connection, malformed requests, permits and places, idle connections, and
//! clients that are too slow.

pub(crate) mod activity;
pub(crate) mod arrival;
pub(crate) mod https;
pub(crate) mod malformed;
pub(crate) mod memory;
pub(crate) mod opening;
pub(crate) mod pace;
pub(crate) mod permits;
pub(crate) mod places;
pub(crate) mod received;
pub(crate) mod sending;
pub(crate) mod share;
pub(crate) mod socket;
pub(crate) mod streams;
