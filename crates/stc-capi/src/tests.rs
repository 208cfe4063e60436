//! The exported functions as C calls them, and what C programs cannot test: panics, allocations and the table of statuses.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use crate::error::{Error, Failure, Status};
use crate::handle::{Answer, Codec, Handle, finish, push, whole};
use crate::memory::Bytes;
use crate::options::{Format, Options};
use crate::{once, texts};

const JSON: &[u8] = br#"[{"id":1,"ok":true},{"id":2,"ok":true},{"id":3,"ok":true}]"#;

/// A codec with a defect: each call panics, and so does the next one unless the handle has made a new codec.
struct Defective {
    is_used: bool,
}

impl Defective {
    fn panic(&mut self) -> ! {
        assert!(!self.is_used, "used again after a panic");
        self.is_used = true;
        panic!("planted");
    }
}

impl Codec for Defective {
    fn with_options(_: stc::Options) -> Self {
        Self { is_used: false }
    }
    fn whole(&mut self, _: &[u8]) -> Result<&[u8], stc::Error> {
        self.panic()
    }
    fn push(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), stc::Error> {
        self.panic()
    }
    fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), stc::Error> {
        self.panic()
    }
    fn clear(&mut self) {
        self.panic()
    }
}

fn message(error: &Error) -> String {
    let bytes: Vec<u8> = error.message.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect();
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_panic_becomes_a_status_and_the_handle_has_a_new_codec() {
    let mut handle = Handle::<Defective>::new(None).expect("a handle");
    for call in 0..6 {
        let (mut out, mut error) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let answer = Answer { out: Some(&mut out), error: Some(&mut error) };
        let status = match call % 3 {
            // SAFETY: a slice has as many bytes as its length says.
            0 => unsafe { whole(Some(&mut handle), JSON.as_ptr(), JSON.len(), answer) },
            // SAFETY: the same.
            1 => unsafe { push(Some(&mut handle), JSON.as_ptr(), JSON.len(), answer) },
            _ => finish(Some(&mut handle), answer),
        };
        assert_eq!(status, Status::Panic);
        // SAFETY: a call that fails writes both.
        let (out, error) = unsafe { (out.assume_init(), error.assume_init()) };
        assert_eq!((out.len, error.status), (0, Status::Panic));
        assert_eq!(message(&error), "a defect of the library; the document is discarded");
        handle.clear();
    }
}

/// A document of about 60 KB with what each format has forms for: rows, rows of many shapes, repeated texts and subtrees, long strings.
fn large() -> Vec<u8> {
    let row = |n: usize| {
        let extra = if n.is_multiple_of(3) { ",\"labels\":[\"bug\",\"ui\"]" } else { "" };
        format!(
            "{{\"id\":{n},\"url\":\"/items/{n}/comments\",\"state\":\"open and waiting\",\"at\":{{\"zone\":\"eu-{}\"}}{extra}}}",
            n % 4
        )
    };
    let rows: Vec<String> = (0..400).map(row).collect();
    let owner = r#"{"login":"ann","name":"Ann \"A\" Example","team":["one","two",{"lead":null}]}"#;
    let list: Vec<String> = (0..60).map(|n| format!("{{\"n\":{n},\"owner\":{owner}}}")).collect();
    let text = "words, ".repeat(600);
    format!("{{\"rows\":[{}],\"list\":[{}],\"text\":\"{text}\"}}", rows.join(","), list.join(",")).into_bytes()
}

/// Counts the allocations of `work`, which returns the length of an output, after two warm-up calls that return the same.
fn warm_allocations(mut work: impl FnMut() -> usize) -> u64 {
    let first = (work(), work()).1;
    let mut warm = 0;
    let counted = allocation_counter::measure(|| warm = work());
    assert_eq!(warm, first);
    counted.count_total
}

/// Converts a document whole and in chunks with one handle, and returns the bytes of all outputs.
fn converted<C: Codec>(handle: &mut Handle<C>, document: &[u8]) -> usize {
    let mut written = 0;
    let mut call = |handle: &mut Handle<C>, work: Step<'_>| {
        let mut out = MaybeUninit::<Bytes>::uninit();
        let answer = Answer { out: Some(&mut out), error: None };
        let status = match work {
            // SAFETY: a slice has as many bytes as its length says.
            Step::Whole(document) => unsafe { whole(Some(handle), document.as_ptr(), document.len(), answer) },
            // SAFETY: the same.
            Step::Push(chunk) => unsafe { push(Some(handle), chunk.as_ptr(), chunk.len(), answer) },
            Step::Finish => finish(Some(handle), answer),
        };
        assert_eq!(status, Status::Ok);
        // SAFETY: a call that succeeds writes it.
        written += unsafe { out.assume_init() }.len;
    };
    call(handle, Step::Whole(document));
    document.chunks(1000).for_each(|chunk| call(handle, Step::Push(chunk)));
    call(handle, Step::Finish);
    written
}

/// A call with a handle.
enum Step<'a> {
    Whole(&'a [u8]),
    Push(&'a [u8]),
    Finish,
}

#[test]
fn warm_handles_allocate_nothing() {
    for document in [JSON.to_vec(), large()] {
        for format in [Format::Json, Format::Stc1, Format::Stc2, Format::Stc2Labelled] {
            let options = Options { format: format as u32, ..Options::default() };
            let mut encoder = Handle::<stc::Encoder>::new(Some(&options)).expect("an encoder");
            let counted = warm_allocations(|| converted(&mut encoder, &document));
            assert_eq!(counted, 0, "the encoder of {format:?}, {} bytes", document.len());

            let mut encoder = stc::Encoder::with_options(options.codec().expect("valid"));
            let text = encoder.encode(&document).expect("encodes").to_vec();
            let mut decoder = Handle::<stc::Decoder>::new(None).expect("a decoder");
            let counted = warm_allocations(|| converted(&mut decoder, &text));
            assert_eq!(counted, 0, "the decoder of {format:?}, {} bytes", document.len());
        }
    }
}

#[test]
fn a_buffer_that_memory_does_not_have_is_empty() {
    // The last is more than an address space has; the others are errors of the call. The allocator that counts here adds lengths up.
    for len in [usize::MAX, isize::MAX as usize + 1, isize::MAX as usize / 2] {
        let buffer = once::stc_buffer_new(len);
        assert_eq!((buffer.data.is_null(), buffer.len, buffer.capacity), (true, 0, 0), "{len}");
    }
    let mut buffer = once::stc_buffer_new(9);
    assert_eq!((buffer.data.is_null(), buffer.len), (false, 9));
    once::stc_buffer_free(Some(&mut buffer));
}

#[test]
fn an_error_after_every_byte_of_a_message_fits() {
    // The longest message of the codec, with the longest offset.
    let error = stc::decode(b"{a[x]: 1}").expect_err("no count").shifted(u64::MAX - 10);
    assert!(error.to_string().len() < crate::error::MESSAGE, "{error}");
    let mut written = MaybeUninit::uninit();
    crate::error::reported(Err(Failure::Rejected(error, None)), Some(&mut written));
    // SAFETY: an error is written.
    assert_eq!(message(&unsafe { written.assume_init() }), error.to_string());
}

#[test]
fn every_status_has_the_name_of_its_variant() {
    for (status, name) in Status::ALL {
        assert_eq!(format!("{status:?}\0"), name);
        // SAFETY: the function returns a text with a NUL.
        let returned = unsafe { CStr::from_ptr(texts::stc_status_name(status as i32)) };
        assert_eq!(returned.to_bytes_with_nul(), name.as_bytes());
    }
    // SAFETY: the same.
    assert_eq!(unsafe { CStr::from_ptr(texts::stc_status_name(-7)) }, c"Other");
}

#[test]
fn every_format_has_its_number() {
    for format in [Format::Json, Format::Stc1, Format::Stc2, Format::Stc2Labelled] {
        let codec = crate::options::format(format as u32).expect("a format");
        assert_eq!(format!("{format:?}"), format!("{codec:?}"));
        let mut out = MaybeUninit::uninit();
        // SAFETY: a slice has as many bytes as its length says.
        let status = unsafe { once::stc_encode(JSON.as_ptr(), JSON.len(), format as u32, Some(&mut out), None) };
        assert_eq!(status, Status::Ok);
        // SAFETY: a call that succeeds writes it.
        let mut out = unsafe { out.assume_init() };
        // SAFETY: the buffer has `len` bytes.
        let text = unsafe { std::slice::from_raw_parts(out.data, out.len) };
        let mut encoder = stc::Encoder::with_options(stc::Options::default().format(codec));
        assert_eq!(text, encoder.encode(JSON).expect("encodes"));
        once::stc_buffer_free(Some(&mut out));
        once::stc_buffer_free(Some(&mut out));
    }
    assert_eq!(stc::Format::ALL.len(), 4, "a new format needs a number in stc.h");
    assert!(crate::options::format(4).is_err());
}

#[test]
fn the_defaults_are_those_of_the_codec() {
    let options = Options::default().codec().expect("valid");
    assert_eq!(options, stc::Options::default().format(stc::Format::Stc2));
    let changed = Options { window: 9, depth: 3, columns: u64::MAX, ..Options::default() }.codec().expect("valid");
    let limits = stc::Limits::default().depth(3).columns(usize::MAX);
    assert_eq!(changed, stc::Options::default().format(stc::Format::Stc2).limits(limits).window(9));
}
