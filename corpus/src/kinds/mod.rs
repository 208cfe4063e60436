//! The generators, one file for each domain. Each is `fn(&mut Rng, &mut Writer)` and stops when the writer is full.

pub(crate) mod cloud;
pub(crate) mod cluster;
pub(crate) mod commerce;
pub(crate) mod config;
pub(crate) mod desk;
pub(crate) mod develop;
pub(crate) mod forge;
pub(crate) mod geo;
pub(crate) mod graphql;
pub(crate) mod logs;
pub(crate) mod prose;
pub(crate) mod rpc;
pub(crate) mod search;
pub(crate) mod series;
pub(crate) mod shapes;
pub(crate) mod spelling;
pub(crate) mod sql;
