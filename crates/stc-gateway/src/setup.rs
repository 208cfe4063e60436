//! What a configuration creates: engines, clients for upstreams, permits. A request keeps the setup that it started with.

use crate::builtin::Catalogue;
use crate::clients::Clients;
use crate::config::Config;
use crate::forward::Forward;
use crate::metrics::Metrics;
use crate::permits::Permits;
use crate::plugins::Plugins;
use crate::pool::Threads;
use crate::routes::Route;
use crate::tls;
use stc_layer::Engine;
use std::sync::Arc;

/// The part of a configuration that all workers share.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// One per route, in the same order. They count held bodies, so all workers share them.
    engines: Vec<Engine>,
    pub(crate) permits: Arc<Permits>,
    tls: Arc<rustls::ClientConfig>,
    pub(crate) plugins: Option<Plugins>,
}

impl Plan {
    pub(crate) async fn new(config: Config, catalogue: &Catalogue, metrics: &Arc<Metrics>) -> Result<Self, String> {
        let tls = tls::client_config(&config)?;
        let plugins = Plugins::load(&config.plugins, catalogue, metrics).await?;
        let pool = Threads::start(config.workers)?;
        let engine = |route: &Route| Engine::observed(route.policy.clone(), metrics.clone()).with_pool(pool.clone());
        let engines = config.routes.iter().map(engine).collect();
        let permits = Arc::new(Permits::new(config.limits, config.timeouts));
        Ok(Self { engines, permits, tls, plugins, config })
    }
}

/// The part of a configuration that one worker owns: its connections to upstreams, so that a request stays on one core.
pub(crate) struct Setup {
    pub(crate) plan: Arc<Plan>,
    routes: Vec<(String, Engine, Forward)>,
}

impl Setup {
    pub(crate) fn new(plan: &Arc<Plan>, metrics: &Arc<Metrics>) -> Self {
        let clients = Clients::new(&plan.config.timeouts, &plan.tls);
        let trusted = Arc::new(plan.config.trusted_proxies.clone());
        let (limits, timeouts) = (plan.config.limits, plan.config.timeouts);
        let routes = plan.config.routes.iter().zip(&plan.engines).map(|(route, engine)| {
            let (clients, trusted, metrics) = (clients.clone(), trusted.clone(), metrics.clone());
            let (target, host) = (Arc::new(route.target.clone()), route.host);
            let forward = Forward { clients, target, host, trusted, limits, timeouts, metrics };
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
