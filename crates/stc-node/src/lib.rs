//! The addon for Node. `index.cjs` has the names that users import: it checks arguments, and throws where these functions return a
//! [`Rejected`].
//!
//! A call in the background gets a copy of its bytes, because JavaScript can change a buffer at any time. A panic becomes an error of
//! JavaScript.

use napi::JsString;
use napi::bindgen_prelude::{AsyncTask, BigInt, Buffer, Either, Env, Task};
use napi::{Result, Status};
use napi_derive::napi;
use stc::Format;
use stc_binding::{Rejection, Settings};

/// A rejected document. Line and column are 0 in a stream.
#[napi(object)]
pub struct Rejected {
    /// A sentence for people.
    pub message: String,
    /// The kind's name, as "Syntax".
    pub kind: String,
    /// Bytes before the offending one.
    pub offset: f64,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Rejected {
    fn new(error: stc::Error, input: Option<&[u8]>) -> Self {
        let Rejection { message, kind, offset, position } = Rejection::new(error, input);
        let (line, column) = position.unwrap_or_default();
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Self { message, kind, offset: offset as f64, line: number(line), column: number(column) }
    }
}

type Answer<T> = Result<Either<T, Rejected>>;

/// Returns the format of a number; `index.cjs` has the names.
fn format(number: u32) -> Result<Format> {
    let format = Format::ALL.get(number as usize).copied();
    format.ok_or_else(|| napi::Error::new(Status::InvalidArg, "not a format"))
}

/// Returns output as a string of JavaScript. Output of the codec is UTF-8.
fn string<'env>(env: &'env Env, bytes: &[u8]) -> Result<JsString<'env>> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| napi::Error::new(Status::GenericFailure, error.to_string()))?;
    env.create_string(text)
}

fn answer<'env>(
    result: std::result::Result<Result<JsString<'env>>, stc::Error>,
    input: &[u8],
) -> Answer<JsString<'env>> {
    match result {
        Ok(text) => Ok(Either::A(text?)),
        Err(error) => Ok(Either::B(Rejected::new(error, Some(input)))),
    }
}

/// Encodes a document.
#[napi(catch_unwind)]
pub fn encode<'env>(env: &'env Env, json: &[u8], format: u32) -> Answer<JsString<'env>> {
    answer(stc_binding::encode(json, self::format(format)?, |text| string(env, text)), json)
}

/// Decodes a text.
#[napi(catch_unwind)]
pub fn decode<'env>(env: &'env Env, text: &[u8]) -> Answer<JsString<'env>> {
    answer(stc_binding::decode(text, |json| string(env, json)), text)
}

/// A conversion on a thread of Node's pool.
pub struct Conversion {
    input: Vec<u8>,
    /// The format to encode in; `None` decodes.
    format: Option<Format>,
}

impl Task for Conversion {
    type Output = std::result::Result<String, Rejected>;
    type JsValue = Either<String, Rejected>;

    fn compute(&mut self) -> Result<Self::Output> {
        let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (input, format) = (&self.input, self.format);
        let convert = || match format {
            Some(format) => stc_binding::encode(input, format, owned),
            None => stc_binding::decode(input, owned),
        };
        // A panic must not leave a thread of the pool: Node would end.
        let converted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(convert)).map_err(|_| {
            napi::Error::new(Status::GenericFailure, "a defect of the codec; the document is discarded")
        })?;
        Ok(converted.map_err(|error| Rejected::new(error, Some(&self.input))))
    }

    fn resolve(&mut self, _: Env, output: Self::Output) -> Result<Self::JsValue> {
        Ok(match output {
            Ok(text) => Either::A(text),
            Err(rejected) => Either::B(rejected),
        })
    }
}

fn owned(input: Either<String, &[u8]>) -> Vec<u8> {
    match input {
        Either::A(text) => text.into_bytes(),
        Either::B(bytes) => bytes.to_vec(),
    }
}

/// Encodes a document in the background.
#[napi(catch_unwind)]
pub fn encode_async(json: Either<String, &[u8]>, format: u32) -> Result<AsyncTask<Conversion>> {
    let format = Some(self::format(format)?);
    Ok(AsyncTask::new(Conversion { input: owned(json), format }))
}

/// Decodes a text in the background.
#[napi(catch_unwind)]
pub fn decode_async(text: Either<String, &[u8]>) -> AsyncTask<Conversion> {
    AsyncTask::new(Conversion { input: owned(text), format: None })
}

/// Returns the lines that explain a format to a model.
#[napi(catch_unwind)]
pub fn legend(format: u32) -> Result<&'static str> {
    Ok(stc::legend(self::format(format)?))
}

/// Returns about how many tokens a text has.
#[napi(catch_unwind)]
pub fn estimate_tokens(text: Either<String, &[u8]>) -> f64 {
    match text {
        Either::A(text) => stc::estimate_tokens(text.as_bytes()) as f64,
        Either::B(bytes) => stc::estimate_tokens(bytes) as f64,
    }
}

/// Returns the family of a tool by its name.
#[napi(catch_unwind)]
pub fn tool_family(name: String) -> &'static str {
    stc_wire::family::Family::of_tool(&name).name()
}

/// Returns the names of the formats, in the order of their numbers.
#[napi(catch_unwind)]
pub fn formats() -> Vec<&'static str> {
    Format::ALL.map(Format::name).to_vec()
}

/// Returns the version of the package.
#[napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

enum Codec {
    Encoder(Box<stc::Encoder>),
    Decoder(Box<stc::Decoder>),
}

/// A codec with settings of its own.
#[napi]
pub struct Handle {
    codec: Codec,
}

fn bytes(result: std::result::Result<(), stc::Error>, out: Vec<u8>) -> Either<Buffer, Rejected> {
    match result {
        Ok(()) => Either::A(out.into()),
        Err(error) => Either::B(Rejected::new(error, None)),
    }
}

#[napi]
impl Handle {
    /// Creates an encoder of a format, or a decoder if there is none; `names` and `values` are limits.
    #[napi(constructor, catch_unwind)]
    pub fn new(format: Option<u32>, names: Vec<String>, values: Vec<BigInt>) -> Result<Self> {
        let invalid = |message: String| napi::Error::new(Status::InvalidArg, message);
        let mut settings = Settings::of(format.map_or(Ok(Format::default()), self::format)?);
        for (name, value) in names.iter().zip(values) {
            let (is_negative, value, is_lossless) = value.get_u64();
            if is_negative || !is_lossless {
                return Err(invalid(format!("{name} is out of range")));
            }
            if !settings.set(name, value) {
                return Err(invalid(format!("unknown setting {name}")));
            }
        }
        let options = settings.options();
        let codec = match format {
            Some(_) => Codec::Encoder(Box::new(stc::Encoder::with_options(options))),
            None => Codec::Decoder(Box::new(stc::Decoder::with_options(options))),
        };
        Ok(Self { codec })
    }

    /// Converts a whole document.
    #[napi(catch_unwind)]
    pub fn convert<'env>(&mut self, env: &'env Env, input: Either<String, &[u8]>) -> Answer<JsString<'env>> {
        let input = match &input {
            Either::A(text) => text.as_bytes(),
            Either::B(bytes) => bytes,
        };
        let result = match &mut self.codec {
            Codec::Encoder(encoder) => encoder.encode(input),
            Codec::Decoder(decoder) => decoder.decode(input),
        };
        answer(result.map(|output| string(env, output)), input)
    }

    /// Takes a chunk of a document.
    #[napi(catch_unwind)]
    pub fn push(&mut self, chunk: Either<String, &[u8]>) -> Either<Buffer, Rejected> {
        let chunk = match &chunk {
            Either::A(text) => text.as_bytes(),
            Either::B(bytes) => bytes,
        };
        let mut out = Vec::new();
        let result = match &mut self.codec {
            Codec::Encoder(encoder) => encoder.push(chunk, &mut out),
            Codec::Decoder(decoder) => decoder.push(chunk, &mut out),
        };
        bytes(result, out)
    }

    /// Ends a document.
    #[napi(catch_unwind)]
    pub fn finish(&mut self) -> Either<Buffer, Rejected> {
        let mut out = Vec::new();
        let result = match &mut self.codec {
            Codec::Encoder(encoder) => encoder.finish(&mut out),
            Codec::Decoder(decoder) => decoder.finish(&mut out),
        };
        bytes(result, out)
    }

    /// Discards a document that was begun.
    #[napi(catch_unwind)]
    pub fn clear(&mut self) {
        match &mut self.codec {
            Codec::Encoder(encoder) => encoder.clear(),
            Codec::Decoder(decoder) => decoder.clear(),
        }
    }
}
