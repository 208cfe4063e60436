//! The layer on an axum service, over a socket.

use crate::upstream::{ROWS, ROWS_STC};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use stc_layer::TransformLayer;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve() -> SocketAddr {
    let rows = get(|| async { ([(CONTENT_TYPE, "application/json")], ROWS) });
    let app = Router::new().route("/rows", rows).layer(TransformLayer::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn exchange(address: SocketAddr, headers: &str) -> (String, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /rows HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn clients_that_opt_in_get_stc_and_others_the_original_bytes() {
    let address = serve().await;
    let (head, body) = exchange(address, "accept-encoding: gzip\r\n").await;
    assert_eq!(body, ROWS);
    assert!(!head.contains("stc") && !head.contains("vary"), "{head}");
    let (head, body) = exchange(address, "accept-encoding: stc\r\n").await;
    assert_eq!(body, ROWS_STC);
    assert!(head.contains("content-encoding: stc"), "{head}");
    assert!(head.contains(&format!("content-length: {}", ROWS_STC.len())), "{head}");
}
