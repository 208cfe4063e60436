//! How requests reach upstreams, and what comes back: backends, headers of a proxy, bodies on their way, failures.

pub(crate) mod backends;
pub(crate) mod clients;
pub(crate) mod collect;
pub(crate) mod connections;
pub(crate) mod failed;
pub(crate) mod failure;
pub(crate) mod forward;
pub(crate) mod forwarded;
pub(crate) mod health;
pub(crate) mod idle;
pub(crate) mod request_body;
pub(crate) mod target;
pub(crate) mod tls;
pub(crate) mod tunnel;
pub(crate) mod upload;
