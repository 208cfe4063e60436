//! Requests to models: the laws of `stc-context` on any bytes, and on generated requests that the bytes choose and damage.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stc_context::{Api, Context, FormatChoice, Legend, Mode, Schemas, Settings, laws};
use std::sync::LazyLock;

static CONTEXTS: LazyLock<Vec<Context>> = LazyLock::new(|| {
    let short =
        Settings { min_bytes: 16, min_saving: 0.0, skip_tools: Vec::new(), errors: true, ..Settings::default() };
    let legend = Settings { legend: Legend::First, dedup: true, ..short.clone() };
    let refs = Settings { format: FormatChoice::Stc2, ..short.clone() };
    let plain = Settings { options: false, dedup: true, ..short.clone() };
    let whole = Settings { user_text: true, gemini_wrap: true, ..short.clone() };
    let [safe, standard, aggressive] =
        [Mode::Safe, Mode::Standard, Mode::Aggressive].map(|mode| Settings { mode, ..short.clone() });
    let schemas = Settings { schemas: Schemas::Minify, ..standard.clone() };
    let all = [short, legend, refs, plain, whole, safe, standard, aggressive, schemas];
    all.map(|settings| Context::new(settings).expect("good settings")).to_vec()
});

fuzz_target!(|data: &[u8]| {
    let Some((&[choice, damage], rest)) = data.split_first_chunk() else { return };
    let context = &CONTEXTS[usize::from(choice >> 3) % CONTEXTS.len()];
    if let Some(api) = Api::ALL.get(usize::from(choice & 7)) {
        laws::all(context, *api, rest);
        return;
    }
    let seed = rest.iter().take(8).fold(u64::from(damage), |seed, byte| seed << 8 | u64::from(*byte));
    let mut request = stc_corpus::request(seed);
    if request.body.len() > 20_000 {
        return; // too slow for a fuzzer; the tests have them
    }
    for place in rest.get(8..).unwrap_or_default().chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([place[0], place[1]])) % request.body.len().max(1);
        if let Some(byte) = request.body.get_mut(at) {
            *byte = place[2];
        }
    }
    let api = Api::ALL.into_iter().find(|api| api.name() == request.api).expect("an API");
    laws::all(context, api, &request.body);
});
