//! rmcp, the Rust SDK: connects, calls what it is told, prints what it got.
//! `stc-matrix-rmcp URL HEADERS CALLS`, the last two as JSON.

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut headers = HashMap::new();
    for (name, value) in serde_json::from_str::<BTreeMap<String, String>>(&arguments[2])? {
        headers.insert(name.parse::<http::HeaderName>()?, value.parse::<http::HeaderValue>()?);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(arguments[1].as_str()).custom_headers(headers);
    let client = ().serve(StreamableHttpClientTransport::from_config(config)).await?;
    let tools = client.list_all_tools().await?;
    let mut results = Vec::new();
    for (name, call_arguments) in serde_json::from_str::<Vec<(String, Value)>>(&arguments[3])? {
        let mut params = CallToolRequestParams::new(name);
        params.arguments = call_arguments.as_object().cloned();
        results.push(serde_json::to_value(client.call_tool(params).await?)?);
    }
    let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
    println!("{}", json!({"tools": names, "results": results}));
    client.cancel().await?;
    Ok(())
}
