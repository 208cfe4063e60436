//! Decisions to bytes, one file a version. Everything appends to a buffer that the caller reuses.

pub(crate) mod v1;
pub(crate) mod v2;
