//! What a configuration comes to: engines, ways to upstreams, places for requests. A request keeps the one it began with.

use super::config::Config;
use super::forward::{Forward, UpstreamClient, client};
use super::ledger::Ledger;
use super::permits::Permits;
use super::plugins::Plugins;
use super::stock::Catalogue;
use super::tls;
use crate::Engine;
use std::sync::Arc;

/// What all workers share of a configuration.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// One a route, in their order. They count the bodies that are held, so there is one set for all.
    engines: Vec<Engine>,
    pub(crate) permits: Arc<Permits>,
    tls: Arc<rustls::ClientConfig>,
    pub(crate) plugins: Option<Plugins>,
}

impl Plan {
    pub(crate) async fn new(config: Config, catalogue: &Catalogue, ledger: &Arc<Ledger>) -> Result<Self, String> {
        let tls = tls::towards(&config)?;
        let plugins = Plugins::load(&config.plugins, catalogue, ledger).await?;
        let engine = |route: &super::config::Route| Engine::observed(route.policy.clone(), ledger.clone());
        let engines = config.routes.iter().map(engine).collect();
        let permits = Arc::new(Permits::new(config.limits, config.timeouts));
        Ok(Self { engines, permits, tls, plugins, config })
    }
}

/// What one worker has: its own connections to upstreams, so that a request never leaves its core.
pub(crate) struct Setup {
    pub(crate) plan: Arc<Plan>,
    routes: Vec<(String, Engine, Forward)>,
}

impl Setup {
    pub(crate) fn new(plan: &Arc<Plan>, ledger: &Arc<Ledger>) -> Self {
        let client: UpstreamClient = client(&plan.config.timeouts, &plan.tls);
        let (limits, timeouts) = (plan.config.limits, plan.config.timeouts);
        let routes = plan.config.routes.iter().zip(&plan.engines).map(|(route, engine)| {
            let (client, ledger) = (client.clone(), ledger.clone());
            let forward = Forward { client, upstream: route.upstream.clone(), limits, timeouts, ledger };
            (route.prefix.clone(), engine.clone(), forward)
        });
        Self { plan: plan.clone(), routes: routes.collect() }
    }

    pub(crate) fn route(&self, path: &str) -> Option<(&Engine, &Forward)> {
        let under =
            |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let found = self.routes.iter().find(|(prefix, ..)| under(prefix))?;
        Some((&found.1, &found.2))
    }
}
