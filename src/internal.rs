//! Access for tests, benches and fuzz targets: codecs on a chosen kernel, and the encoder's stages one by one.

use crate::buffer::{BLOCK, Buffer};
use crate::json::scan::{Choice, Scanner, with_kernel};
use crate::{Decoder, Encoder, Format, Options};

/// One of the scan kernels this processor can run.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(Choice);

impl Kernel {
    /// Returns all of them, best first; the portable one is always last.
    pub fn available() -> Vec<Self> {
        Choice::available().into_iter().map(Self).collect()
    }

    /// Returns `avx512`, `avx2`, `neon` or `portable`, which in WebAssembly may be the kernel for `simd128`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Choice::Neon(_) => "neon",
            Choice::Portable(_) => "portable",
        }
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// Creates an encoder that uses `kernel`, also where the processor has a better one.
pub fn encoder(options: Options, kernel: Kernel) -> Encoder {
    Encoder::with_kernel(options, kernel.0)
}

/// Creates a decoder that uses `kernel`, also where the processor has a better one.
pub fn decoder(options: Options, kernel: Kernel) -> Decoder {
    Decoder::with_kernel(options, kernel.0)
}

/// Returns these options with the references of [`Format::Stc2`] left out, as an encoder does where a document has no room for them.
pub const fn without_references(options: Options) -> Options {
    options.without_references()
}

/// Returns the slow-path steps of this thread since the last call. A fast path that stops too soon does not change the output;
/// only this count shows it. Counted with debug assertions only; zero in other builds.
pub fn take_slow_steps() -> u64 {
    crate::slow_path::take_slow_steps()
}

/// Returns the squeezed text and the structural index of `bytes`, unless the scanner found something wrong.
pub fn scanned(bytes: &[u8], kernel: Kernel) -> Option<(Vec<u8>, Vec<u32>)> {
    let mut scanner = Scanner::default();
    let (mut text, mut index, mut kept) = (Buffer::default(), Buffer::default(), Buffer::default());
    let (blocks, rest) = bytes.split_at(bytes.len() / BLOCK * BLOCK);
    with_kernel!(kernel.0, kernel => {
        scanner.squeeze(kernel, blocks, &mut text, &mut index, &mut kept);
        scanner.squeeze_rest(kernel, rest, &mut text, &mut index, &mut kept);
    });
    (!scanner.is_wrong() && scanner.may_end()).then(|| (text.to_vec(), index.to_vec()))
}

/// The stages of an encoder of STC 1 one by one, to measure what each costs.
#[derive(Debug)]
pub struct Stages {
    kernel: Choice,
    encoder: Encoder,
    text: Buffer<u8>,
    index: Buffer<u32>,
    kept: Buffer<u64>,
}

impl Stages {
    /// Creates the stages on `kernel`.
    pub fn new(kernel: Kernel) -> Self {
        let options = Options::default().format(Format::Stc1);
        Self {
            kernel: kernel.0,
            encoder: Encoder::with_kernel(options, kernel.0),
            text: Buffer::default(),
            index: Buffer::default(),
            kept: Buffer::default(),
        }
    }

    /// Scans only, and returns the number of entries. Whitespace is squeezed out as in encoding.
    pub fn scan(&mut self, json: &[u8]) -> usize {
        let Self { text, index, kept, .. } = self;
        let mut scanner = Scanner::default();
        let (blocks, rest) = json.split_at(json.len() / BLOCK * BLOCK);
        let mut entries = 0;
        with_kernel!(self.kernel, kernel => {
            for batch in blocks.chunks(crate::json::tape::BATCH) {
                text.clear();
                index.clear();
                kept.clear();
                scanner.squeeze(kernel, batch, text, index, kept);
                entries += index.len();
            }
            text.clear();
            index.clear();
            scanner.squeeze_rest(kernel, rest, text, index, kept);
        });
        entries + index.len()
    }

    /// Encodes, and returns the number of bytes written, or none if the document is refused.
    pub fn encode(&mut self, json: &[u8]) -> Option<usize> {
        self.encoder.encode(json).ok().map(<[u8]>::len)
    }
}
