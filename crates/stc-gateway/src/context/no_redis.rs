//! In place of `redis.rs` in a program that was built without it: a setting that names a Redis is refused.

use crate::metrics::Metrics;
use stc_context::{Key, MemoSettings, Secret, Write};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// A shared store, which this program does not have.
pub(super) struct Redis(Infallible);

impl Redis {
    pub(super) fn shared(
        _: &str,
        _: Duration,
        _: &MemoSettings,
        _: &Secret,
        _: &Arc<Metrics>,
    ) -> Result<Arc<Self>, String> {
        Err("`context.store.redis`: this program was built without the feature redis".to_owned())
    }

    pub(super) async fn get(&self, _: &[Key]) -> Vec<Option<Arc<[u8]>>> {
        match self.0 {}
    }

    pub(super) fn put(&self, _: Vec<Write>) {
        match self.0 {}
    }
}
