//! `stc-gateway demo`: a sample upstream and the proxy in one process, and five commands to try.

mod mcp;
mod model;
mod samples;
mod traffic;
mod upstream;

use crate::builtin::Catalogue;
use crate::config::values::address;
use crate::config::{Flags, Log};
use crate::serve::{self, Listening};
use std::net::{SocketAddr, TcpListener};
use tokio::sync::mpsc;

/// The addresses of the demo.
#[derive(clap::Args)]
pub(crate) struct Demo {
    /// The address of the proxy
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    listen: SocketAddr,
    /// The address of the page and the metrics
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090", value_parser = address)]
    admin: SocketAddr,
}

impl Demo {
    pub(crate) fn run(self, catalogue: &Catalogue) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("the sample upstream: {error}"))?;
        let address = listener.local_addr().map_err(|error| format!("the sample upstream: {error}"))?;
        std::thread::spawn(move || upstream::serve(listener));
        let (sample, mut wanted) = mpsc::channel(1);
        let flags = Flags {
            sample: Some(sample),
            upstream: Some(format!("http://{address}")),
            listen: Some(self.listen),
            admin: Some(self.admin),
            log: Some(Log::Off),
            context: Some("lossless".to_owned()),
            ..Flags::default()
        };
        serve::run(&flags, catalogue, |listening| {
            print(listening, address);
            let proxy = listening.traffic;
            std::thread::spawn(move || {
                while wanted.blocking_recv().is_some() {
                    traffic::send(proxy);
                }
            });
        })
    }
}

fn print(listening: &Listening, upstream: SocketAddr) {
    println!("The sample upstream is at http://{upstream}, the proxy at http://{}.", listening.traffic);
    if let Some(admin) = listening.admin {
        println!("The page with its savings: http://{admin}/");
    }
    println!("\nThe original JSON, STC 2, an MCP tool call, a chat request, and what the model saw of it:\n");
    for line in lines(listening.traffic) {
        println!("{line}");
    }
    println!();
}

/// Returns the commands to try.
fn lines(proxy: SocketAddr) -> [String; 5] {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_users"}}"#;
    let reads = "Accept: application/json, text/event-stream";
    [
        format!("curl -s http://{proxy}/users"),
        format!("curl -s -H 'Accept-Encoding: stc' -H 'X-STC-Version: 2' http://{proxy}/users"),
        format!(
            "curl -s -H '{reads}' -H 'X-Prefer-Format: stc2' -H 'Content-Type: application/json' -d '{call}' http://{proxy}/mcp"
        ),
        format!(
            "curl -s http://{proxy}{} | curl -s -H 'Content-Type: application/json' -d @- http://{proxy}{}",
            model::REQUEST,
            model::CHAT
        ),
        format!("curl -s http://{proxy}{}", model::SEEN),
    ]
}
