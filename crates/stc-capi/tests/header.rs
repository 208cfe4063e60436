//! include/stc.h is what cbindgen generates from this crate. `STC_RECORD=1 cargo test -p stc-capi --test header` writes it.

use std::path::Path;

#[test]
fn the_header_is_generated_from_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs"));
    let mut generated = Vec::new();
    builder.generate().expect("a header").write(&mut generated);
    // Notes on safety are for Rust: C has the paragraph at the top of the header.
    let text = String::from_utf8(generated).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = String::new();
    let mut at = 0;
    while at < lines.len() {
        if lines.get(at + 1).is_some_and(|next| next.trim() == "// # Safety") {
            at += 4;
        }
        kept += lines[at].trim_end();
        kept.push('\n');
        at += 1;
    }
    let path = root.join("include/stc.h");
    if std::env::var_os("STC_RECORD").is_some() {
        std::fs::write(&path, &kept).expect("writable");
    }
    let checked_in = std::fs::read_to_string(&path).expect("include/stc.h");
    assert_eq!(checked_in, kept, "STC_RECORD=1 cargo test -p stc-capi --test header writes include/stc.h");
    for name in [
        "stc_encoder_push",
        "stc_decoder_finish",
        "stc_encode",
        "stc_estimate_tokens",
        "stc_legend",
        "stc_mcp_push",
        "stc_version",
    ] {
        assert_eq!(kept.matches(&format!("{name}(")).count(), 1, "{name}");
    }
}
