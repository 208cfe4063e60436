//! `stc-perf-memory KERNEL FORMAT DOCUMENT...`: counts allocations and peak memory of documents and prints a JSON line for
//! each; `stc-perf-memory context NAME` counts a request to a model. The harness calls it; a document is a case of the list or a path, and the format `-` is that of the case.
//!
//! The counting allocator never grows a buffer in place, so a growing buffer counts twice while it is copied. A peak is
//! therefore an upper bound.

use std::process::ExitCode;

use allocation_counter::{AllocationInfo, measure};
use serde_json::{Value, json};
use stc::Decoder;
use stc::internal::{Stages, encoder};
use stc_context::{Api, Request};
use stc_perf::{Case, Kernel, cases, requests};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("context") {
        return ended(arguments.try_for_each(|name| context(&name)));
    }
    let kernel = stc_perf::kernel(first.as_deref());
    let format = arguments.next().filter(|format| format != "-");
    let counted =
        kernel.and_then(|kernel| arguments.try_for_each(|document| count(&document, kernel, format.as_deref())));
    ended(counted)
}

fn ended(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stc-perf-memory: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the allocations and the peak of preparing a request to a model, with warm codecs.
fn context(name: &str) -> Result<(), String> {
    let (context, body) = requests::measured(name)?;
    let request = Request::new(Api::OpenAiChat, &body);
    let prepare = || assert!(context.prepare(request).is_ok_and(|done| done.body.is_some()), "a request that changes");
    prepare();
    let warm = measure(prepare);
    println!("{}", json!({ "allocations": warm.count_total, "peak": warm.bytes_max }));
    Ok(())
}

fn count(document: &str, kernel: Kernel, format: Option<&str>) -> Result<(), String> {
    let path = std::path::Path::new(document);
    let case = if path.is_file() { cases::read(path, false)? } else { cases::named(document)? };
    let case = match format {
        Some(format) => case.written_with(cases::options(format)?)?,
        None => case,
    };
    println!(
        "{}",
        json!({ "encode": encode(&case, kernel), "decode": decode(&case), "stages": stages(&case, kernel) })
    );
    Ok(())
}

fn encode(case: &Case, kernel: Kernel) -> Value {
    let json = &case.documents[0].json;
    let mut kept = None;
    let cold = measure(|| {
        let mut encoder = encoder(case.options, kernel);
        assert!(encoder.encode(json).is_ok(), "a case encodes");
        kept = Some(encoder);
    });
    let warm = measure(|| assert!(kept.as_mut().is_some_and(|encoder| encoder.encode(json).is_ok()), "and again"));
    memory(cold, warm)
}

fn decode(case: &Case) -> Value {
    let stc = &case.documents[0].stc;
    let mut kept = None;
    let cold = measure(|| {
        let mut decoder = Decoder::with_options(case.options);
        assert!(decoder.decode(stc).is_ok(), "a case decodes");
        kept = Some(decoder);
    });
    let warm = measure(|| assert!(kept.as_mut().is_some_and(|decoder| decoder.decode(stc).is_ok()), "and again"));
    memory(cold, warm)
}

fn memory(cold: AllocationInfo, warm: AllocationInfo) -> Value {
    json!({ "peak": cold.bytes_max, "cold": cold.count_total, "warm": warm.count_total })
}

/// Returns the memory of the scan alone, and what the rest of encoding adds to it.
fn stages(case: &Case, kernel: Kernel) -> Value {
    let json = &case.documents[0].json;
    let scan = measure(|| {
        Stages::new(kernel).scan(json);
    });
    let all = measure(|| {
        assert!(encoder(case.options, kernel).encode(json).is_ok(), "a case encodes");
    });
    let stage = |from: AllocationInfo, to: AllocationInfo| {
        let allocations = to.count_total.saturating_sub(from.count_total);
        json!({ "allocations": allocations, "bytes": to.bytes_total.saturating_sub(from.bytes_total) })
    };
    json!([stage(AllocationInfo::default(), scan), stage(scan, all)])
}
