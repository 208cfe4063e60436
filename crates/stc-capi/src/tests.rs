//! The exported functions as C calls them, and what C programs cannot test: panics, allocations and the table of statuses.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use crate::error::{Error, Failure, Status};
use crate::handle::{Answer, Codec, Handle, finish, push, whole};
use crate::memory::Bytes;
use crate::options::{Format, Options};
use crate::{encoder, once, texts};

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

#[test]
fn a_warm_handle_allocates_nothing() {
    let mut encoder = encoder::stc_encoder_new(None, None).expect("an encoder");
    let mut encode = || {
        let mut out = MaybeUninit::<Bytes>::uninit();
        // SAFETY: a slice has as many bytes as its length says.
        let status = unsafe {
            encoder::stc_encoder_encode(Some(&mut *encoder), JSON.as_ptr(), JSON.len(), Some(&mut out), None)
        };
        assert_eq!(status, Status::Ok);
        for chunk in JSON.chunks(7) {
            // SAFETY: the same.
            let status = unsafe {
                encoder::stc_encoder_push(Some(&mut *encoder), chunk.as_ptr(), chunk.len(), Some(&mut out), None)
            };
            assert_eq!(status, Status::Ok);
        }
        assert_eq!(encoder::stc_encoder_finish(Some(&mut *encoder), Some(&mut out), None), Status::Ok);
        // SAFETY: a call that succeeds writes it.
        unsafe { out.assume_init() }.len
    };
    let first = (encode(), encode()).1;
    let mut warm = 0;
    let counted = allocation_counter::measure(|| warm = encode());
    assert_eq!((counted.count_total, warm), (0, first));
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
    for format in [Format::Json, Format::Stc1, Format::Stc2, Format::Stc2Dense, Format::Stc2Refs] {
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
    assert_eq!(stc::Format::ALL.len(), 5, "a new format needs a number in stc.h");
    assert!(crate::options::format(5).is_err());
}

#[test]
fn the_defaults_are_those_of_the_codec() {
    let options = Options::default().codec().expect("valid");
    assert_eq!(options, stc::Options::default().format(stc::Format::Stc2));
    let changed = Options { window: 9, depth: 3, columns: u64::MAX, ..Options::default() }.codec().expect("valid");
    let limits = stc::Limits::default().depth(3).columns(usize::MAX);
    assert_eq!(changed, stc::Options::default().format(stc::Format::Stc2).limits(limits).window(9));
}
