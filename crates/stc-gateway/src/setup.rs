//! What a configuration creates: engines, clients for upstreams, permits. A request keeps the setup that it started with.
//! What is counted and remembered stays when the configuration is read again: permits, failures of backends, sessions.

use crate::builtin::Catalogue;
use crate::client::https::TlsSettings;
use crate::client::memory::Account;
use crate::client::permits::Permits;
use crate::config::Config;
use crate::config::routes::{CompressRoute, Route};
use crate::context::compress::Compressor;
use crate::context::{ContextRoute, Delivery, telemetry};
use crate::guard::{Guard, GuardSettings};
use crate::metrics::{Failures, Metrics, RouteObserver};
use crate::plugins::Plugins;
use crate::pool::Threads;
use crate::routing;
use crate::upstream::backends::{Backend, Backends};
use crate::upstream::clients::Clients;
use crate::upstream::failed::Failed;
use crate::upstream::forward::Forward;
use crate::upstream::target::Target;
use crate::upstream::{health, tls};
use http::Request;
use stc_layer::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a configuration that all workers share.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// One per route, in the same order. They count held bodies, so all workers share them.
    engines: Vec<Engine>,
    /// One per route, in the same order. Their state is that of all workers.
    backends: Vec<Arc<Backends>>,
    pub(crate) permits: Arc<Permits>,
    pub(crate) memory: Arc<Account>,
    tls: Arc<rustls::ClientConfig>,
    pub(crate) plugins: Option<Plugins>,
    /// One per route, in the same order.
    contexts: Vec<Option<Arc<ContextRoute>>>,
    compressors: Vec<Guarded<Compressor>>,
    /// One per route, in the same order.
    guards: Vec<Option<Arc<Guard>>>,
    /// TLS to clients.
    pub(crate) https: Option<Arc<rustls::ServerConfig>>,
}

/// What answers requests, with what it requires of them.
pub(crate) type Guarded<T> = (Arc<T>, Option<Arc<Guard>>);

impl Plan {
    /// Creates what a configuration needs. `before` is in force until then, if the program runs already.
    pub(crate) async fn new(
        config: Config,
        catalogue: &Catalogue,
        metrics: &Arc<Metrics>,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let is_secure = |route: &Route| route.targets.iter().any(Target::is_secure);
        let tls = tls::client_config(config.routes.iter().any(is_secure))?;
        let pool = Threads::start(config.workers)?;
        let plugins = Plugins::load(&config.plugins, catalogue, &pool, metrics).await?;
        let engine = |route: &Route| {
            let observer = RouteObserver::new(metrics.clone(), route.name(), config.excerpts);
            Engine::observed(route.policy.clone(), Arc::new(observer)).with_pool(pool.clone())
        };
        let engines = config.routes.iter().map(engine).collect();
        let mut files = BTreeMap::new();
        let mut context = |route: &Route| -> Result<_, String> {
            let Some(settings) = route.context.clone() else { return Ok(None) };
            let telemetry = telemetry::shared(&mut files, &settings.telemetry).map_err(|why| config.located(why))?;
            let context = ContextRoute::new(&route.name(), settings, &pool, telemetry, metrics);
            context.map(|context| Some(Arc::new(context))).map_err(|why| config.located(why))
        };
        let contexts = config.routes.iter().map(&mut context).collect::<Result<_, _>>()?;
        let guard = |settings: &GuardSettings| -> Result<_, String> {
            let guard = Guard::new(
                settings,
                config.limits.failed_credentials_per_client,
                |scope| metrics.usage_of(scope),
                &pool,
            )?;
            Ok(guard.requires_something().then(|| Arc::new(guard)))
        };
        let guards = config.routes.iter().map(|route| guard(&route.guard)).collect::<Result<_, _>>()?;
        let compressor = |route: &CompressRoute| -> Result<_, String> {
            let compressor = Compressor::new(route.path.clone(), route.settings.clone(), &pool, metrics)?;
            Ok((Arc::new(compressor), guard(&route.guard)?))
        };
        let compressors = config.compress.iter().map(compressor).collect::<Result<_, _>>()?;
        let https = config.tls.as_ref().map(TlsSettings::load).transpose()?;
        let permits = match before {
            Some(before) => before.permits.next(config.limits, config.timeouts),
            None => Permits::new(config.limits, config.timeouts),
        };
        let permits = Arc::new(permits);
        let memory = before.map(|before| before.memory.clone()).unwrap_or_default();
        if before.is_none() {
            memory.apply(&config.limits);
        }
        let backends = |route: &Route| {
            let backends = Backends::new(route.targets.iter().cloned());
            Arc::new(match before.and_then(|before| before.backends_of(&route.name())) {
                Some((earlier, before)) => backends.after(before, earlier.health == route.health),
                None => backends,
            })
        };
        let backends = config.routes.iter().map(backends).collect();
        Ok(Self { engines, backends, permits, memory, tls, plugins, contexts, compressors, guards, https, config })
    }

    /// Returns the route of this name and its backends.
    fn backends_of(&self, name: &str) -> Option<(&Route, &Backends)> {
        let place = self.config.routes.iter().position(|route| route.name() == name)?;
        Some((&self.config.routes[place], &self.backends[place]))
    }

    /// Puts the numbers of permits and of bytes in force. Starts the health checks, which end with the plan, and makes the backends visible in the
    /// metrics. An excerpt on the page that the configuration no longer allows is removed.
    pub(crate) fn start(&self, metrics: &Metrics) {
        self.permits.apply();
        self.memory.apply(&self.config.limits);
        // The account is that of the process: a reload changes its numbers only.
        let _ = metrics.memory.set(self.memory.clone());
        if !self.config.excerpts {
            metrics.excerpt.forget();
        }
        metrics.set_backends(self.backends.iter().flat_map(|backends| backends.all()).cloned().collect());
        for (route, backends) in self.config.routes.iter().zip(&self.backends) {
            let Some(health) = &route.health else { continue };
            let clients = Clients::new(&self.config.timeouts, &self.tls);
            for backend in backends.all() {
                tokio::spawn(health::watch(health.clone(), Arc::downgrade(backend), clients.clone()));
            }
        }
    }
}

/// The part of a configuration that one worker owns: its connections to upstreams, so that a request stays on one core.
pub(crate) struct Setup {
    pub(crate) plan: Arc<Plan>,
    /// One per route, in the same order.
    routes: Vec<Routed>,
}

/// What serves the requests of a route.
pub(crate) struct Routed {
    /// Its name in spans.
    pub(crate) name: Arc<str>,
    pub(crate) engine: Engine,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) guard: Option<Arc<Guard>>,
}

impl Setup {
    pub(crate) fn new(plan: &Arc<Plan>, metrics: &Arc<Metrics>) -> Self {
        let clients = Clients::new(&plan.config.timeouts, &plan.tls);
        let trusted = Arc::new(plan.config.trusted_proxies.clone());
        let (limits, timeouts) = (plan.config.limits, plan.config.timeouts);
        let routes = plan.config.routes.iter().enumerate().map(|(place, route)| {
            let (engine, backends, context) = (&plan.engines[place], &plan.backends[place], &plan.contexts[place]);
            let (clients, trusted, metrics) = (clients.clone(), trusted.clone(), metrics.clone());
            let failures = |backend: &Arc<Backend>| Arc::new(Failures::new(metrics.clone(), backend.name.clone()));
            let failures = backends.all().iter().map(failures).collect();
            let connections = backends.all().iter().map(|backend| clients.keep(&backend.target)).collect();
            let (backends, host, timings) = (backends.clone(), route.host, metrics.timings_of(&route.name()));
            let forward =
                Forward { clients, connections, backends, failures, host, trusted, limits, timeouts, metrics, timings };
            let delivery = Arc::new(Delivery { forward, context: context.clone() });
            Routed { name: route.name().into(), engine: engine.clone(), delivery, guard: plan.guards[place].clone() }
        });
        Self { plan: plan.clone(), routes: routes.collect() }
    }

    /// Returns what answers a path that compresses.
    pub(crate) fn compressor(&self, path: &str) -> Option<&Guarded<Compressor>> {
        let path = path.trim_end_matches('/');
        self.plan.compressors.iter().find(|(compressor, _)| compressor.path == path)
    }

    /// Returns what serves a request, which gets the path that is forwarded.
    pub(crate) fn route<B>(&self, request: &mut Request<B>) -> Result<Option<&Routed>, Failed> {
        let place = routing::choose(request, &self.plan.config.routes)?;
        Ok(place.map(|place| &self.routes[place]))
    }
}
