//! What the public types promise beside their methods: which may be sent to, and shared with, other threads.

use std::error::Error as StdError;

use stc::explain::{Array, Explanation, Form, Named, Planned, Size};
use stc::io::{DecodeReader, DecodeWriter, EncodeReader, EncodeWriter, LineError};
use stc::{Decoder, Encoder, Error, ErrorKind, Expected, Format, Limits, Options, Position, SerdeError, UnknownFormat};

fn sent<T: Send + 'static>() {}
fn shared<T: Send + Sync + 'static>() {}
fn copied<T: Copy + Send + Sync + 'static>() {}
fn raised<T: StdError + Send + Sync + 'static>() {}

/// Tells whether a type is `Sync`: the inherent constant hides that of the trait where its bound holds.
macro_rules! is_sync {
    ($type:ty) => {{
        #[allow(dead_code)]
        trait Otherwise {
            const SYNC: bool = false;
        }
        impl<T> Otherwise for Probe<T> {}
        struct Probe<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        impl<T: Sync> Probe<T> {
            const SYNC: bool = true;
        }
        Probe::<$type>::SYNC
    }};
}

#[test]
fn values_are_copied_and_shared() {
    copied::<Error>();
    copied::<ErrorKind>();
    copied::<Expected>();
    copied::<Position>();
    copied::<Format>();
    copied::<Limits>();
    copied::<Options>();
    copied::<UnknownFormat>();
    copied::<LineError>();
    copied::<Size>();
    copied::<Form>();
    copied::<Planned>();
    shared::<Explanation>();
    shared::<Array>();
    shared::<Named>();
}

#[test]
fn errors_cross_threads() {
    raised::<Error>();
    raised::<UnknownFormat>();
    raised::<LineError>();
    raised::<SerdeError>();
    let error = stc::encode(b"[1,").expect_err("truncated");
    let copy = std::thread::spawn(move || error).join().expect("no panic");
    assert_eq!(copy, error);
}

#[test]
fn codecs_are_sent_and_decoders_are_shared_too() {
    sent::<Encoder>();
    sent::<EncodeReader<std::fs::File>>();
    sent::<EncodeWriter<std::fs::File>>();
    shared::<Decoder>();
    shared::<DecodeReader<std::fs::File>>();
    shared::<DecodeWriter<std::fs::File>>();
    assert!(is_sync!(Decoder));
    // The documentation says so; if this changes, so does that.
    assert!(!is_sync!(Encoder));
    assert!(!is_sync!(EncodeReader<std::fs::File>));
    assert!(!is_sync!(EncodeWriter<std::fs::File>));
}
