//! Active health checks: a GET to each backend of a route at an interval.

use crate::config::routes::Health;
use crate::upstream::backends::{Backend, Sick};
use crate::upstream::clients::Clients;
use crate::upstream::connections::ClientError;
use crate::upstream::failure::{Cause, Failure};
use crate::upstream::upload::Upload;
use http::{Request, Uri};
use std::sync::Weak;
use std::time::Duration;

/// The time for one check.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// Checks a backend until nothing else uses it.
pub(crate) async fn watch(health: Health, backend: Weak<Backend>, clients: Clients) {
    loop {
        let Some(backend) = backend.upgrade() else { return };
        let result = tokio::time::timeout(CHECK_TIME, check(&health.path, &backend, &clients)).await;
        let late = |_| Err(Sick::Failed(Failure::new(Cause::Timeout, "no head of a response")));
        backend.checked(result.unwrap_or_else(late));
        drop(backend);
        tokio::time::sleep(health.interval.0).await;
    }
}

async fn check(path: &str, backend: &Backend, clients: &Clients) -> Result<(), Sick> {
    let uri = path.parse().ok().and_then(|path: Uri| backend.target.origin_url(&path));
    let request = uri.and_then(|uri| Request::builder().uri(uri).body(Upload::empty()).ok());
    let request = request.ok_or_else(|| Sick::Failed(Failure::new(Cause::Connect, "the path is not part of a URL")))?;
    let response = clients
        .fresh
        .request(request)
        .await
        .map_err(|error| Sick::Failed(Failure::of(&ClientError::General(error))))?;
    if response.status().is_success() { Ok(()) } else { Err(Sick::Status(response.status())) }
}
