//! The cost of the layer over a socket: the same axum service with and without it, alternating.
//!
//! Run it: `cargo bench -p stc-layer`. Without a preference it measures requests per second over eight connections, 1 KB
//! and 64 KB bodies, in alternating slices of a fifth of a second, so that other load on the machine affects both. With a
//! preference, 4 KB bodies, it alternates single requests on two connections and reports the difference of the medians.
//! `SLICES` sets the number of both (default 40).

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use bytes::Bytes;
use stc_layer::TransformLayer;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CONNECTIONS: usize = 8;
const SLICE: Duration = Duration::from_millis(200);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let slices = std::env::var("SLICES").ok().and_then(|slices| slices.parse().ok()).unwrap_or(40);
    for size in [1 << 10, 64 << 10] {
        let (with, without) = (serve(size, true).await, serve(size, false).await);
        let mut rates = [Vec::new(), Vec::new()];
        for turn in 0..slices {
            // The order alternates too.
            for place in [turn % 2, 1 - turn % 2] {
                rates[place].push(rate([with, without][place]).await);
            }
        }
        let ratios = rates[0].iter().zip(&rates[1]).map(|(with, without)| with / without).collect();
        let (with, without) = (median(rates[0].clone()), median(rates[1].clone()));
        println!(
            "not asked, {} KB: {with:.0} requests/s with the layer, {without:.0} without; median ratio of {slices} turns {:.3}",
            size >> 10,
            median(ratios)
        );
    }
    asked(slices * 100).await;
}

async fn asked(turns: usize) {
    let size = 4 << 10;
    let (with, without) = (serve(size, true).await, serve(size, false).await);
    let mut connections = [Connection::open(with, true).await, Connection::open(without, true).await];
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..turns {
        for place in [turn % 2, 1 - turn % 2] {
            let began = Instant::now();
            let length = connections[place].exchange().await;
            times[place].push(began.elapsed().as_secs_f64() * 1e6);
            assert_eq!(length < size, place == 0, "the layer makes it smaller, and nothing else does");
        }
    }
    let [with, without] = times.map(median);
    println!(
        "asked, {} KB: median {with:.1} us with the layer, {without:.1} us without; {:.1} us added",
        size >> 10,
        with - without
    );
}

/// Returns as many rows as fit this size.
fn body(size: usize) -> Bytes {
    Bytes::from(stc_corpus::make("sql-rows", 1, size).expect("a kind of the catalogue"))
}

async fn serve(size: usize, layer: bool) -> SocketAddr {
    let body = body(size);
    let rows = get(move || async move { ([(CONTENT_TYPE, "application/json")], body) });
    let app = Router::new().route("/", rows);
    let app = if layer { app.layer(TransformLayer::default()) } else { app };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Measures requests per second in one slice.
async fn rate(address: SocketAddr) -> f64 {
    let began = Instant::now();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            tokio::spawn(async move {
                let mut connection = Connection::open(address, false).await;
                let mut count = 0_u32;
                while began.elapsed() < SLICE {
                    connection.exchange().await;
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut count = 0;
    for client in clients {
        count += client.await.expect("a client");
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

/// A connection that repeats one request.
struct Connection {
    socket: TcpStream,
    request: &'static [u8],
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr, asks: bool) -> Self {
        let socket = TcpStream::connect(address).await.expect("a connection");
        socket.set_nodelay(true).expect("a socket");
        let request: &[u8] = if asks {
            b"GET / HTTP/1.1\r\nhost: bench\r\naccept: */*\r\naccept-encoding: stc\r\n\r\n"
        } else {
            b"GET / HTTP/1.1\r\nhost: bench\r\naccept: */*\r\naccept-encoding: gzip, br\r\n\r\n"
        };
        Self { socket, request, buffer: vec![0; 256 << 10] }
    }

    /// Sends the request; returns the length of the response's body.
    async fn exchange(&mut self) -> usize {
        self.socket.write_all(self.request).await.expect("to send");
        let mut filled = 0;
        loop {
            filled += self.socket.read(&mut self.buffer[filled..]).await.expect("to receive");
            let head = memchr::memmem::find(&self.buffer[..filled], b"\r\n\r\n");
            let Some(head) = head else { continue };
            let length = content_length(&self.buffer[..head]);
            if filled == head + 4 + length {
                return length;
            }
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = std::str::from_utf8(head).expect("a head of ASCII");
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    line.parse().expect("a number")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
