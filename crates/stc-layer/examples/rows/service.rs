use axum::http::header::CONTENT_TYPE;
use axum::{Router, routing::get};
use stc_layer::TransformLayer;

const ROWS: &str = r#"[{"id": 1, "name": "users", "method": "GET"},
 {"id": 2, "name": "orders", "method": "POST"},
 {"id": 3, "name": "carts", "method": "GET"}]"#;

fn app() -> Router {
    let rows = get(|| async { ([(CONTENT_TYPE, "application/json")], ROWS) });
    Router::new().route("/rows", rows).layer(TransformLayer::default())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on {}", listener.local_addr()?);
    axum::serve(listener, app()).await
}
