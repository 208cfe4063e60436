//! The operator's configuration: a TOML file, environment variables, flags. Flags win over variables, variables over the
//! file.

pub(crate) mod limits;
pub(crate) mod mistakes;
pub(crate) mod routes;
pub(crate) mod values;
mod warnings;

use crate::client::https::TlsSettings;
pub(crate) use crate::config::limits::{Limits, Timeouts};
use crate::config::mistakes::{Document, Mistakes};
use crate::config::routes::{CompressRoute, Defaults, FileRoute, Route};
use crate::config::values::{Address, ErrorAt, Seconds, address, collide};
use crate::config::warnings::Effective;
use crate::context;
use crate::guard::{AuthSettings, GuardSettings, RateSettings};
use crate::traces::settings::TracesSettings;
use crate::upstream::forwarded::{HostHeader, TrustedProxies};
use crate::upstream::target::Target;
use serde::Deserialize;
use stc_layer::Policy;
use stc_plugin::{Binding, Conditions};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing_subscriber::filter::Targets;

/// What requests to the admin address need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdminAccess {
    /// A file with the token that requests need; every request by default.
    pub(crate) token: Option<PathBuf>,
    /// Host names under which it can be reached, beside addresses and `localhost`.
    pub(crate) hosts: Vec<String>,
}

/// Everything the program needs to run.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) admin: Option<SocketAddr>,
    pub(crate) log: Log,
    pub(crate) log_levels: Targets,
    /// Threads that serve: one per core.
    pub(crate) workers: usize,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// In the order of matching. Not empty.
    pub(crate) routes: Vec<Route>,
    pub(crate) trusted_proxies: TrustedProxies,
    /// Whether headers whose names contain `_` are forwarded: no.
    pub(crate) underscores_in_headers: bool,
    pub(crate) plugins: Vec<PluginConfig>,
    /// Paths that compress.
    pub(crate) compress: Vec<CompressRoute>,
    /// TLS to clients.
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) admin_access: AdminAccess,
    /// The file that keeps what was saved in the last day.
    pub(crate) history: Option<PathBuf>,
    /// What a million tokens cost, by name.
    pub(crate) prices: BTreeMap<String, f64>,
    /// Whether the page shows the start of the latest converted response.
    pub(crate) excerpts: bool,
    /// What sends sample traffic, in the demo.
    pub(crate) sample: Option<Sample>,
    /// Traces to a collector.
    pub(crate) traces: Option<TracesSettings>,
    /// What is written and has no effect, each with its position.
    pub(crate) warnings: Vec<String>,
    /// The file and its text.
    source: Option<(PathBuf, String)>,
}

/// Each message sends sample traffic once.
pub(crate) type Sample = tokio::sync::mpsc::Sender<()>;

/// A plugin and its binding.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginConfig {
    pub(crate) name: String,
    /// Lower runs earlier: 500.
    #[serde(default = "usual_priority")]
    pub(crate) priority: i32,
    /// The limit for one call in seconds: 1.
    timeout: Option<Seconds>,
    /// Whether a fault of the plugin ends the request: no.
    #[serde(default)]
    pub(crate) required: bool,
    tools: Option<Vec<String>>,
    routes: Option<Vec<String>>,
    tenants: Option<Vec<String>>,
    /// The plugin's own settings.
    #[serde(default)]
    pub(crate) settings: serde_json::Value,
    /// Its position in the file: `FILE:LINE:COLUMN: `.
    #[serde(skip)]
    pub(crate) place: String,
}

fn usual_priority() -> i32 {
    Binding::default().priority
}

impl PluginConfig {
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.map_or(Binding::default().timeout, |timeout| timeout.0)
    }

    pub(crate) fn conditions(&self) -> Result<Conditions, globset::Error> {
        let mut conditions = Conditions::default();
        if let Some(globs) = &self.tools {
            conditions = conditions.tools(globs.iter().map(String::as_str))?;
        }
        if let Some(globs) = &self.routes {
            conditions = conditions.routes(globs.iter().map(String::as_str))?;
        }
        if let Some(globs) = &self.tenants {
            conditions = conditions.tenants(globs.iter().map(String::as_str))?;
        }
        Ok(conditions)
    }
}

/// The form of the log on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Log {
    /// One JSON object per line.
    #[default]
    Json,
    /// One line of text per event.
    Text,
    /// No log.
    Off,
}

/// The flags and variables of the command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Flags {
    /// The configuration file
    #[arg(long, value_name = "FILE", env = "STC_GATEWAY_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// The upstream for requests that match no route
    #[arg(long, value_name = "URL", env = "STC_GATEWAY_UPSTREAM")]
    pub(crate) upstream: Option<String>,
    /// The address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", env = "STC_GATEWAY_LISTEN", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// The address for operators: the page, /healthz, /readyz and /metrics [default: none]
    #[arg(long, value_name = "ADDRESS", env = "STC_GATEWAY_ADMIN", value_parser = address)]
    pub(crate) admin: Option<SocketAddr>,
    /// The form of the log on standard output [default: json]
    #[arg(long, value_name = "FORM", env = "STC_GATEWAY_LOG")]
    pub(crate) log: Option<Log>,
    /// What happens to tool results in requests to models: lossless, safe, standard, aggressive, disabled [default: nothing]
    #[arg(long, value_name = "MODE", env = "STC_GATEWAY_CONTEXT")]
    pub(crate) context: Option<String>,
    /// Who reads the requests to models, whatever they name: large, small, auto [default: auto]
    #[arg(long, value_name = "READER", env = "STC_GATEWAY_READER")]
    pub(crate) reader: Option<String>,
    /// What is logged: a level, or levels by target as in warn,access=info [default: info]
    #[arg(long, value_name = "LEVELS", env = "STC_GATEWAY_LOG_LEVEL")]
    pub(crate) log_level: Option<Targets>,
    /// The number of threads that serve [default: one per core]
    #[arg(long, value_name = "COUNT", env = "STC_GATEWAY_WORKERS")]
    pub(crate) workers: Option<std::num::NonZeroUsize>,
    /// What sends sample traffic: set by the demo only, whose page shows excerpts.
    #[arg(skip)]
    pub(crate) sample: Option<Sample>,
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct File {
    listen: Option<Address>,
    admin: Option<toml::Spanned<Address>>,
    upstream: Option<toml::Spanned<String>>,
    log: Option<Log>,
    log_level: Option<toml::Spanned<String>>,
    workers: Option<std::num::NonZeroUsize>,
    limits: Limits,
    timeouts: Timeouts,
    host: Option<HostHeader>,
    trusted_proxies: TrustedProxies,
    underscores_in_headers: bool,
    stc: Option<toml::Spanned<Policy>>,
    context: Option<toml::Spanned<toml::Table>>,
    tls: Option<toml::Spanned<TlsSettings>>,
    auth: Option<AuthSettings>,
    rate: Option<toml::Spanned<RateSettings>>,
    admin_token: Option<PathBuf>,
    admin_hosts: Vec<String>,
    history: Option<PathBuf>,
    #[serde(deserialize_with = "prices")]
    prices: BTreeMap<String, f64>,
    excerpts: bool,
    traces: Option<TracesSettings>,
    routes: Vec<toml::Spanned<FileRoute>>,
    plugins: Vec<toml::Spanned<PluginConfig>>,
}

impl Config {
    /// Reads the file that the flags name, if any, and applies the flags.
    pub(crate) fn load(flags: &Flags) -> Result<Self, String> {
        let text = match &flags.config {
            Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?,
            None => String::new(),
        };
        Self::read(&text, flags).map_err(|Mistakes(mut all)| {
            all.sort();
            all.iter().map(|mistake| placed(flags, &text, mistake)).collect::<Vec<_>>().join("\n")
        })
    }

    /// Reads a configuration. Each mistake has an offset in the text, if it is about the text, and a message.
    fn read(text: &str, flags: &Flags) -> Result<Self, Mistakes> {
        let document = mistakes::parse(text)?;
        let file = File::read(&document, text)?;
        let policy = match file.stc {
            None => Policy::default(),
            Some(policy) => {
                policy.get_ref().check().map_err(|why| (Some(policy.span().start), why.to_owned()))?;
                policy.into_inner()
            }
        };
        let context =
            context::settings::Defaults::read(file.context, flags.context.as_deref(), flags.reader.as_deref())?;
        let guard = guard(file.auth, file.rate)?;
        if let Some(tls) = &file.tls {
            tls.get_ref().check().map_err(|why| (Some(tls.span().start), why.to_owned()))?;
        }
        let tls = file.tls.map(toml::Spanned::into_inner);
        let defaults = Defaults { policy, host: file.host, context, guard };
        let (mut routes, compress) = routes::read(file.routes, &defaults)?;
        let plugin = |plugin: toml::Spanned<PluginConfig>| {
            let place =
                flags.config.as_deref().map_or(String::new(), |path| place(path, text, Some(plugin.span().start)));
            PluginConfig { place, ..plugin.into_inner() }
        };
        let default = match (&flags.upstream, &file.upstream) {
            (Some(url), _) => Some(Target::parse(url).map_err(|why| (None, format!("--upstream: {why}")))?),
            (None, Some(url)) => Some(Target::parse(url.get_ref()).map_err(|why| (Some(url.span().start), why))?),
            (None, None) => None,
        };
        let has_default = default.is_some();
        if let Some(target) = default {
            routes.push(defaults.route(target)?);
        }
        if routes.is_empty() && compress.is_empty() {
            let why = "no upstream: set --upstream URL, or `upstream` or [[routes]] in the file";
            return Err((None, why.to_owned()).into());
        }
        check_certificates(tls.as_ref(), routes.iter().map(|route| &route.guard))?;
        let listen = flags.listen.or(file.listen.map(|listen| listen.0));
        let listen = listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080)));
        let place = file.admin.as_ref().map(|admin| admin.span().start);
        let admin = flags.admin.or(file.admin.map(|admin| admin.into_inner().0));
        if let Some(admin) = admin.filter(|admin| collide(*admin, listen)) {
            return Err((place, format!("`admin` {admin} and `listen` {listen} take the same connections")).into());
        }
        let mut config = Self {
            listen,
            admin,
            log: flags.log.or(file.log).unwrap_or_default(),
            log_levels: match (&flags.log_level, file.log_level) {
                (Some(levels), _) => levels.clone(),
                (None, Some(text)) => levels(&text)?,
                (None, None) => Targets::new().with_default(tracing::Level::INFO),
            },
            workers: flags.workers.or(file.workers).map_or_else(cores, |workers| workers.get().min(1024)),
            limits: file.limits,
            timeouts: file.timeouts,
            plugins: file.plugins.into_iter().map(plugin).collect(),
            trusted_proxies: file.trusted_proxies,
            underscores_in_headers: file.underscores_in_headers,
            routes,
            compress,
            tls,
            admin_access: AdminAccess { token: file.admin_token, hosts: file.admin_hosts },
            history: file.history,
            prices: file.prices,
            excerpts: file.excerpts || flags.sample.is_some(),
            sample: flags.sample.clone(),
            traces: file.traces,
            warnings: Vec::new(),
            source: flags.config.clone().map(|path| (path, text.to_owned())),
        };
        config.warnings = config.without_effect(&document, flags, has_default, text);
        Ok(config)
    }

    /// Returns what is written and has no effect.
    fn without_effect(&self, document: &Document<'_>, flags: &Flags, has_default: bool, text: &str) -> Vec<String> {
        let effective = Effective {
            document: document.get_ref(),
            routes: &self.routes,
            compress: &self.compress,
            has_default,
            has_context_flag: flags.context.is_some(),
            has_admin: self.admin.is_some(),
        };
        effective.warnings().iter().map(|warning| placed(flags, text, warning)).collect()
    }
}

impl File {
    /// Reads the document, with the tables that are merged later, so that the mistakes of all are found.
    fn read(document: &Document<'_>, text: &str) -> Result<Self, Mistakes> {
        let (file, mut found) = mistakes::read::<Self>(document.clone(), text);
        found.extend(context::settings::mistakes(document.get_ref(), text));
        match file {
            Some(file) if found.is_empty() => Ok(file),
            _ => Err(Mistakes(found)),
        }
    }
}

impl Config {
    /// Logs what the program starts with.
    pub(crate) fn log_start(&self, traffic: SocketAddr) {
        tracing::info!(
            target: "gateway",
            version = env!("CARGO_PKG_VERSION"),
            listen = %traffic,
            admin = self.admin.map(tracing::field::display),
            workers = self.workers,
            limits = ?self.limits,
            timeouts = ?self.timeouts,
            plugins = self.plugins.len(),
            tls = self.tls.is_some(),
            traces = self.traces.as_ref().map(|traces| tracing::field::display(&traces.endpoint.url)),
            "started"
        );
        for route in &self.routes {
            route.log();
        }
    }

    /// Returns a message about a setting of `[context]` that is found wrong when it is used, with its position.
    pub(crate) fn located(&self, why: String) -> String {
        let Some((path, text)) = &self.source else { return why };
        let document = mistakes::parse(text).ok();
        let offset = document.and_then(|document| context::settings::place(document.get_ref(), &why));
        format!("{}{why}", place(path, text, offset))
    }

    /// Says on stderr, and in the log, what is written and has no effect.
    pub(crate) fn warn(&self) {
        for why in &self.warnings {
            eprintln!("stc-gateway: warning: {why}");
            tracing::warn!(target: "gateway", why, "a setting without effect");
        }
    }
}

/// Reads what routes require that do not say otherwise.
fn guard(auth: Option<AuthSettings>, rate: Option<toml::Spanned<RateSettings>>) -> Result<GuardSettings, ErrorAt> {
    if let Some(rate) = &rate {
        rate.get_ref().check().map_err(|why| (Some(rate.span().start), why))?;
    }
    let rate = rate.map(|rate| (String::new(), rate.into_inner()));
    Ok(GuardSettings { auth, rate, tools: None })
}

/// Checks that clients can show the certificates that routes require.
fn check_certificates<'a>(
    tls: Option<&TlsSettings>,
    mut guards: impl Iterator<Item = &'a GuardSettings>,
) -> Result<(), ErrorAt> {
    let needed = guards.any(|guard| guard.auth.as_ref().is_some_and(|auth| auth.client_certificate));
    if needed && tls.is_none_or(|tls| tls.client_ca.is_none()) {
        return Err((None, "`client_certificate` needs `client_ca` in [tls]".to_owned()));
    }
    Ok(())
}

fn prices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let prices = BTreeMap::<String, f64>::deserialize(deserializer)?;
    match prices.iter().find(|(_, price)| !(0.0..=1e6).contains(*price)) {
        Some((name, _)) => Err(serde::de::Error::custom(format!("the price of `{name}` must be between 0 and 1e6"))),
        None => Ok(prices),
    }
}

/// Parses `info`, or `warn,access=info`.
fn levels(text: &toml::Spanned<String>) -> Result<Targets, ErrorAt> {
    let at = |error| (Some(text.span().start), format!("`log_level`: {error}"));
    text.get_ref().parse().map_err(at)
}

/// Formats a message with its position, if there is a file.
fn placed(flags: &Flags, text: &str, (offset, why): &ErrorAt) -> String {
    let place = flags.config.as_deref().map_or(String::new(), |path| place(path, text, *offset));
    format!("{place}{why}")
}

/// Formats a position as compilers do: `FILE:LINE:COLUMN: `.
fn place(path: &Path, text: &str, offset: Option<usize>) -> String {
    let Some(before) = offset.and_then(|offset| text.get(..offset)) else { return format!("{}: ", path.display()) };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{}:{line}:{column}: ", path.display())
}

#[cfg(test)]
mod whole_files;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, flags: &Flags) -> Result<Config, Mistakes> {
        Config::read(text, flags)
    }

    #[test]
    fn flags_over_file_over_defaults() {
        let text = "listen = \"127.0.0.1:1\"\nupstream = \"http://a\"\nlog = \"off\"\n[limits]\nrequests = 5\n";
        let config = read(text, &Flags::default()).unwrap();
        assert_eq!((config.listen.port(), config.limits.requests, config.limits.connections), (1, 5, 10_000));
        assert_eq!(config.routes[0].targets[0].authority().host(), "a");
        let flags = Flags { upstream: Some("https://b:9".into()), listen: "[::1]:7".parse().ok(), ..Flags::default() };
        let config = read(text, &flags).unwrap();
        assert_eq!((config.listen.port(), config.routes[0].targets[0].authority().host()), (7, "b"));
        assert_eq!(config.log, Log::Off);
    }

    #[test]
    fn routes_by_the_longest_prefix_with_their_own_policy() {
        let text = r#"
            upstream = "http://rest"
            [stc]
            min_bytes = 7
            [[routes]]
            path = "/mcp"
            upstream = "http://mcp"
            [[routes]]
            path = "/mcp/secret/"
            upstream = "http://secret"
            stc = { formats = [] }
        "#;
        let config = read(text, &Flags::default()).unwrap();
        let shown: Vec<_> =
            config.routes.iter().map(|r| (r.prefix.as_str(), r.policy.min_bytes, r.policy.formats.len())).collect();
        assert_eq!(shown, [("/mcp/secret", 128, 0), ("/mcp", 7, 4), ("", 7, 4)]);
    }

    #[test]
    fn the_readme_shows_the_defaults() {
        let readme = include_str!("../../README.md").split("## Configuration").nth(1).unwrap();
        let text = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let config = read(text, &Flags::default()).unwrap();
        assert_eq!(format!("{:?}", config.limits), format!("{:?}", Limits::default()));
        assert_eq!(format!("{:?}", config.timeouts), format!("{:?}", Timeouts::default()));
        assert!(config.routes.len() == 2 && !config.routes[0].policy.mcp.fold && config.routes[1].policy.mcp.fold);
        let plugins = readme.split("## Plugins").nth(1).unwrap();
        let plugins = plugins.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let config = read(&format!("upstream = \"http://a\"\n{plugins}"), &Flags::default()).unwrap();
        let plugin = &config.plugins[0];
        assert!(plugin.required && plugin.priority == 100 && plugin.timeout() == Duration::from_secs(1));
        assert_eq!((&*plugin.name, &plugin.settings["replacement"]), ("mask-emails", &"[email]".into()));
    }

    #[test]
    fn the_readme_shows_the_defaults_of_traces() {
        let readme = include_str!("../../README.md").split("## Traces").nth(1).unwrap();
        let text = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let shown = read(&format!("upstream = \"http://a\"\n{text}"), &Flags::default()).unwrap().traces.unwrap();
        let usual = "upstream = \"http://a\"\n[traces]\nendpoint = \"http://collector:4318\"\n";
        let usual = read(usual, &Flags::default()).unwrap().traces.unwrap();
        assert_eq!(TracesSettings { headers_env: None, ..shown }, usual);
    }

    #[test]
    fn the_readme_s_example_of_many_servers() {
        let readme = include_str!("../../README.md").split("## Many servers").nth(1).unwrap();
        let text = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let config = read(text, &Flags::default()).unwrap();
        let shown: Vec<_> = config.routes.iter().map(|r| (r.prefix.as_str(), r.targets.len())).collect();
        assert_eq!(shown, [("/everything", 1), ("/tickets", 1), ("/search", 2)]);
    }

    #[test]
    fn the_readme_s_example_of_access() {
        let readme = include_str!("../../README.md").split("## Access").nth(1).unwrap();
        let text = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let config = read(text, &Flags::default()).unwrap();
        let [route, rest] = &config.routes[..] else { panic!("two routes") };
        assert!(config.tls.is_some() && route.guard.tools.is_some() && rest.guard.tools.is_none());
        assert!(route.guard.auth.as_ref().unwrap().jwt.is_none() && rest.guard.auth.as_ref().unwrap().jwt.is_some());
        assert_eq!([route, rest].map(|route| route.guard.rate.as_ref().unwrap().0.as_str()), ["/admin-tools", ""]);
    }

    #[test]
    fn errors_have_positions() {
        let path = Path::new("c.toml");
        for (text, expected) in [
            ("listen = \"127.0.0.1\"\n", "c.toml:1:10: "),
            ("\n\nupstrem = \"http://a\"\n", "c.toml:3:1: "),
            ("upstream = \"http://a\"\n[stc]\nverify = \"maybe\"\n", "c.toml:3:10: "),
            ("upstream = \"ftp://a\"\n", "c.toml:1:12: "),
            ("upstream = \"http://a/b?c\"\n", "c.toml:1:12: "),
            ("[[routes]]\npath = \"mcp\"\nupstream = \"http://a\"\n", "c.toml:2:8: "),
            ("a = [\n", "c.toml:"),
            ("", "c.toml: "),
        ] {
            let Mistakes(found) = read(text, &Flags::default()).unwrap_err();
            let [(offset, why)] = &found[..] else { panic!("{found:?}") };
            let shown = format!("{}{why}", place(path, text, *offset));
            assert!(shown.starts_with(expected), "{text:?}: {shown}");
        }
    }
}
