//! Traces by OpenTelemetry's protocol: a server span for each sampled request and a client span for each call of an upstream,
//! sent to a collector in batches, off the path of requests.
//!
//! The encoding is OTLP/HTTP with JSON, which is small enough to write here. opentelemetry-otlp writes it from protobuf types:
//! it brings prost and tonic beside opentelemetry, its SDK and an HTTP client, and the gateway's own client has its settings of
//! TLS, its limits and the causes of failures.
//!
//! Spans contain what the access log contains, and nothing from a body or a query, but for the name of a tool.

pub(crate) mod exporter;
mod otlp;
pub(crate) mod parent;
pub(crate) mod request;
pub(crate) mod settings;
pub(crate) mod span;
