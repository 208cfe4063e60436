//! Sessions: what is kept from one request to the next, whom it belongs to, and how much of it there is.

use stc_context::{
    Api, Begun, Bounds, Caller, Context, Done, HeaderOptions, Key, Memo, MemoSettings, MemoryStore, Request, Secret,
    SessionFrom, Settings, Store, Write,
};
use std::sync::Arc;

const BOUNDS: Bounds =
    Bounds { entry_bytes: 16 << 10, session_bytes: 512 << 10, sessions: 4096, total_bytes: 256 << 20, ttl: 1_000_000 };

fn rows(count: usize) -> String {
    let row = |n| format!(r#"{{\"id\":{n},\"state\":\"open\",\"by\":{{\"name\":\"ann\",\"team\":\"core\"}}}}"#);
    format!("[{}]", (0..count).map(row).collect::<Vec<_>>().join(","))
}

fn chat(results: usize, more: &str) -> String {
    let result = |n| format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"{}"}}"#, rows(30 + n));
    let results: Vec<_> = (0..results).map(result).collect();
    format!(r#"{{{more}"messages":[{}]}}"#, results.join(","))
}

fn begun(context: &Context, tenant: &str, session: Option<&str>, body: &str) -> Begun {
    let headers = HeaderOptions { session: session.map(str::as_bytes), ..HeaderOptions::default() };
    let request = Request { endpoint: Api::OpenAiChat.into(), body: body.as_bytes(), headers, model: None };
    context.begin(request, Caller { tenant: tenant.as_bytes(), route: "/v1" }).unwrap()
}

fn turn(context: &Context, store: &MemoryStore, tenant: &str, session: &str, body: &str) -> Done {
    let begun = begun(context, tenant, Some(session), body);
    let found = store.get(begun.keys(), 0);
    let mut done = context.finish(body.as_bytes(), begun, &found).unwrap();
    store.put(std::mem::take(&mut done.keep), 0);
    done
}

fn memos(done: &Done) -> [usize; 3] {
    Memo::ALL.map(|memo| done.report.memos(memo))
}

#[test]
fn a_later_request_of_the_session_uses_what_was_kept() {
    let context = Context::new(Settings::default()).unwrap();
    let store = MemoryStore::new(BOUNDS);
    let first = turn(&context, &store, "t", "s", &chat(3, ""));
    assert_eq!(memos(&first), [0, 3, 0]);
    let second = turn(&context, &store, "t", "s", &chat(5, ""));
    assert_eq!(memos(&second), [3, 2, 0]);
    let body = chat(5, "");
    let (endpoint, headers) = (Api::OpenAiChat.into(), HeaderOptions::default());
    let plain = Request { endpoint, body: body.as_bytes(), headers, model: None };
    assert_eq!(second.body, context.prepare(plain).unwrap().body, "the same bytes as without a memo");
    assert_eq!(memos(&turn(&context, &store, "u", "s", &chat(3, ""))), [0, 3, 0], "another tenant");
    assert_eq!(memos(&turn(&context, &store, "t", "r", &chat(3, ""))), [0, 3, 0], "another session");
}

/// Other settings, or another text under the same id: prepared anew, counted, and stable from then on. Another format, as that for
/// another model, has a memo of its own.
#[test]
fn what_changed_is_prepared_anew() {
    let store = MemoryStore::new(BOUNDS);
    let context = Context::new(Settings::default()).unwrap();
    let other = Settings { format: stc_context::FormatChoice::Stc2, ..Settings::default() };
    let other = Context::new(other).unwrap();
    let body = chat(3, "");
    let first = turn(&context, &store, "t", "s", &body);
    let verified = Settings { verify: stc_wire::Verify::Always, ..Settings::default() };
    let verified = Context::new(verified).unwrap();
    assert_eq!(memos(&turn(&verified, &store, "t", "s", &body)), [0, 0, 3]);
    assert_eq!(memos(&turn(&verified, &store, "t", "s", &body)), [3, 0, 0]);
    let changed = turn(&other, &store, "t", "s", &body);
    assert_eq!(memos(&changed), [0, 3, 0]);
    assert_ne!(first.body, changed.body);
    let again = turn(&other, &store, "t", "s", &body);
    assert_eq!((memos(&again), &again.body), ([3, 0, 0], &changed.body));
    let first_again = turn(&verified, &store, "t", "s", &body);
    assert_eq!((memos(&first_again), &first_again.body), ([3, 0, 0], &first.body));
    let edited = body.replace("open", "shut");
    assert_eq!(memos(&turn(&other, &store, "t", "s", &edited)), [0, 0, 3]);
    assert_eq!(memos(&turn(&other, &store, "t", "s", &edited)), [3, 0, 0]);
}

#[test]
fn a_session_is_named_by_the_first_place_that_does() {
    let keys = |settings: &Settings, header, more: &str| -> Vec<Key> {
        begun(&Context::new(settings.clone()).unwrap(), "t", header, &chat(1, more)).keys().to_vec()
    };
    let usual = Settings::default();
    assert_eq!(keys(&usual, None, ""), []);
    assert_eq!(keys(&usual, None, r#""prompt_cache_key":"a","#), [], "not a place by default");
    let header = keys(&usual, Some("a"), "");
    assert_eq!(header.len(), 1);
    let option = keys(&usual, Some("a"), r#""_stc":{"session_id":"a"},"#);
    assert!(option.len() == 1 && option != header, "an option and a header are two sessions");
    assert_eq!(keys(&usual, Some("a"), r#""_stc":{"memo":false},"#), []);
    assert_eq!(keys(&usual, Some("a"), r#""_stc":{"dedup":true},"#), [], "a duplicate depends on its request");
    let from = vec![SessionFrom::PromptCacheKey, SessionFrom::Conversation, SessionFrom::Header];
    let places =
        Settings { memo: MemoSettings { sessions_from: from, ..MemoSettings::default() }, ..Settings::default() };
    assert_eq!(keys(&places, Some("a"), ""), header, "the last place");
    assert_ne!(keys(&places, Some("a"), r#""prompt_cache_key":"a","#), header);
    let thread = keys(&places, None, r#""conversation":"a","#);
    assert_eq!(thread, keys(&places, None, r#""conversation":{"id":"a"},"#));
    assert_eq!(keys(&places, None, r#""conversation":"","#), []);
    let off = Settings { memo: MemoSettings { enabled: false, ..MemoSettings::default() }, ..Settings::default() };
    assert_eq!(keys(&off, Some("a"), ""), []);
    let long = "x".repeat(257);
    let headers = HeaderOptions { session: Some(long.as_bytes()), ..HeaderOptions::default() };
    let request = Request { endpoint: Api::OpenAiChat.into(), body: b"{}", headers, model: None };
    let error = Context::new(usual).unwrap().prepare(request).unwrap_err();
    assert_eq!(error.field(), "X-STC-Session");
}

/// A hundred tenants with the same session and call ids, a million lookups from eight threads: every value is the tenant's own.
#[test]
fn tenants_never_cross() {
    let context = Context::new(Settings::default()).unwrap().with_secret(Secret::new([9; 16]));
    let body = chat(10, "");
    let store = Arc::new(MemoryStore::new(BOUNDS));
    let keys: Arc<Vec<Vec<Key>>> =
        Arc::new((0..100).map(|n| begun(&context, &n.to_string(), Some("s"), &body).keys().to_vec()).collect());
    let distinct: std::collections::HashSet<_> = keys.iter().flatten().map(|key| key.entry).collect();
    assert_eq!(distinct.len(), 1000);
    for (tenant, keys) in keys.iter().enumerate() {
        let value: Arc<[u8]> = vec![tenant as u8; 100].into();
        store.put(keys.iter().map(|key| Write { key: *key, value: value.clone() }).collect(), 0);
    }
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let (store, keys) = (store.clone(), keys.clone());
            std::thread::spawn(move || {
                let mut looked = 0;
                for round in 0..125 {
                    for (tenant, keys) in keys.iter().enumerate() {
                        for value in store.get(keys, round) {
                            let value = value.expect("nothing was dropped");
                            assert!(value.iter().all(|byte| *byte == tenant as u8), "thread {thread}");
                            looked += 1;
                        }
                    }
                }
                looked
            })
        })
        .collect();
    let looked: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(looked, 1_000_000);
}

/// A million sessions: the memory stays within the configured bytes and a tenth more.
#[test]
fn memory_of_a_million_sessions() {
    const TOTAL: usize = 64 << 20;
    for sessions in [4096, 1_000_000] {
        let bounds = Bounds { sessions, total_bytes: TOTAL, ..BOUNDS };
        let mut kept = 0;
        let info = allocation_counter::measure(|| {
            let store = MemoryStore::new(bounds);
            for number in 0..1_000_000_u128 {
                // Spread as hashes are.
                let session = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let key = Key { session, entry: session ^ 1 };
                let value = vec![7; 50 + number as usize % 200].into();
                store.put(vec![Write { key, value }], number as u64);
            }
            kept = store.sessions();
        });
        assert!(info.bytes_max as usize <= TOTAL + TOTAL / 10, "{sessions}: {} bytes", info.bytes_max);
        assert!(kept > sessions.min(TOTAL / 1000) / 2, "{sessions}: {kept} sessions");
    }
}
