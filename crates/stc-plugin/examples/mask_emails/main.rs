//! The PII filter of `plugin.rs` on one body. `cargo run -p stc-plugin --example mask_emails`.

mod plugin;

use bytes::Bytes;
use plugin::MaskEmails;
use stc_plugin::{Phase, PluginContext, PluginError};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), PluginError> {
    let mut registry = stc_plugin::Registry::new();
    registry.add(MaskEmails::default(), stc_plugin::Binding::at(100)).await?;
    let mut context = PluginContext::new(http::Method::GET, "/users");
    context.hold_response_body(Some(Bytes::from_static(br#"{"id":7,"mail":"ada@example.org"}"#)));
    registry.run(Phase::PostUpstream, &mut context).await;
    println!("{}", String::from_utf8_lossy(&context.take_response_body().unwrap_or_default()));
    Ok(())
}
