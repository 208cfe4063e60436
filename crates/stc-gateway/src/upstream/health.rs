//! Active health checks: a GET to each backend of a route at an interval.

use crate::config::routes::Health;
use crate::upstream::backends::Backend;
use crate::upstream::clients::Clients;
use crate::upstream::upload::Upload;
use http::{Request, Uri};
use std::sync::Weak;
use std::time::Duration;

/// The time for one check.
const LIMIT: Duration = Duration::from_secs(5);

/// Checks a backend until nothing else uses it.
pub(crate) async fn watch(health: Health, backend: Weak<Backend>, clients: Clients) {
    loop {
        let Some(backend) = backend.upgrade() else { return };
        let up = tokio::time::timeout(LIMIT, is_up(&health.path, &backend, &clients)).await.unwrap_or(false);
        backend.checked(up);
        drop(backend);
        tokio::time::sleep(health.interval.0).await;
    }
}

async fn is_up(path: &str, backend: &Backend, clients: &Clients) -> bool {
    let Some(uri) = path.parse().ok().and_then(|path: Uri| backend.target.origin_url(&path)) else { return false };
    let Ok(request) = Request::builder().uri(uri).body(Upload::empty()) else { return false };
    clients.fresh.request(request).await.is_ok_and(|response| response.status().is_success())
}
