//! The memory that a request costs, by an allocator that counts.

use stc_context::{Context, Request, Settings};

/// At most four times the body and 16 MiB more, for a body at the limit.
#[test]
fn memory_is_bounded_by_the_body() {
    let context = Context::new(Settings::default()).unwrap();
    for (name, results, bytes) in [("openai-chat", 20, 1_000_000), ("anthropic", 16_000, 900)] {
        let request = stc_corpus::long_request(name, results, bytes);
        assert!(request.body.len() > 20 << 20 && request.body.len() < 32 << 20, "{}", request.body.len());
        let prepare = || {
            let endpoint = crate::laws::api(name);
            context.prepare(Request::new(endpoint, &request.body)).unwrap()
        };
        let info = allocation_counter::measure(|| {
            assert!(!prepare().report.items.is_empty());
        });
        // The body itself is the caller's, and counts once.
        let most = 3 * request.body.len() as u64 + (16 << 20);
        assert!(info.bytes_max <= most, "{name}: {} bytes for a body of {}", info.bytes_max, request.body.len());
    }
}
