//! What a configuration creates: engines, clients for upstreams, permits. A request keeps the setup that it started with.

use crate::builtin::Catalogue;
use crate::clients::Clients;
use crate::config::Config;
use crate::context::compress::Compressor;
use crate::context::{Delivery, Road, telemetry};
use crate::forward::Forward;
use crate::metrics::Metrics;
use crate::permits::Permits;
use crate::plugins::Plugins;
use crate::pool::Threads;
use crate::routes::Route;
use crate::tls;
use stc_layer::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a configuration that all workers share.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// One per route, in the same order. They count held bodies, so all workers share them.
    engines: Vec<Engine>,
    pub(crate) permits: Arc<Permits>,
    tls: Arc<rustls::ClientConfig>,
    pub(crate) plugins: Option<Plugins>,
    /// One per route, in the same order.
    roads: Vec<Option<Arc<Road>>>,
    compressors: Vec<Arc<Compressor>>,
}

impl Plan {
    pub(crate) async fn new(config: Config, catalogue: &Catalogue, metrics: &Arc<Metrics>) -> Result<Self, String> {
        let tls = tls::client_config(&config)?;
        let plugins = Plugins::load(&config.plugins, catalogue, metrics).await?;
        let pool = Threads::start(config.workers)?;
        let engine = |route: &Route| Engine::observed(route.policy.clone(), metrics.clone()).with_pool(pool.clone());
        let engines = config.routes.iter().map(engine).collect();
        let mut files = BTreeMap::new();
        let mut road = |route: &Route| -> Result<_, String> {
            let Some(settings) = route.context.clone() else { return Ok(None) };
            let telemetry = telemetry::shared(&mut files, &settings.telemetry)?;
            Road::new(&route.prefix, settings, &pool, telemetry, metrics).map(|road| Some(Arc::new(road)))
        };
        let roads = config.routes.iter().map(&mut road).collect::<Result<_, _>>()?;
        let compressor = |(path, settings): &(String, _)| {
            Compressor::new(path.clone(), Clone::clone(settings), &pool, metrics).map(Arc::new)
        };
        let compressors = config.compress.iter().map(compressor).collect::<Result<_, _>>()?;
        let permits = Arc::new(Permits::new(config.limits, config.timeouts));
        Ok(Self { engines, permits, tls, plugins, roads, compressors, config })
    }
}

/// The part of a configuration that one worker owns: its connections to upstreams, so that a request stays on one core.
pub(crate) struct Setup {
    pub(crate) plan: Arc<Plan>,
    routes: Vec<(String, Engine, Delivery)>,
}

impl Setup {
    pub(crate) fn new(plan: &Arc<Plan>, metrics: &Arc<Metrics>) -> Self {
        let clients = Clients::new(&plan.config.timeouts, &plan.tls);
        let trusted = Arc::new(plan.config.trusted_proxies.clone());
        let (limits, timeouts) = (plan.config.limits, plan.config.timeouts);
        let routes = plan.config.routes.iter().zip(&plan.engines).zip(&plan.roads).map(|((route, engine), road)| {
            let (clients, trusted, metrics) = (clients.clone(), trusted.clone(), metrics.clone());
            let (target, host) = (Arc::new(route.target.clone()), route.host);
            let forward = Forward { clients, target, host, trusted, limits, timeouts, metrics };
            let delivery = Delivery { forward, road: road.clone() };
            (route.prefix.clone(), engine.clone(), delivery)
        });
        Self { plan: plan.clone(), routes: routes.collect() }
    }

    /// Returns what answers a path that compresses.
    pub(crate) fn compressor(&self, path: &str) -> Option<&Arc<Compressor>> {
        let path = path.trim_end_matches('/');
        self.plan.compressors.iter().find(|compressor| compressor.path == path)
    }

    pub(crate) fn route(&self, path: &str) -> Option<(&Engine, &Delivery)> {
        let under =
            |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let found = self.routes.iter().find(|(prefix, ..)| under(prefix))?;
        Some((&found.1, &found.2))
    }
}
