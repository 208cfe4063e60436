//! An encoder and a decoder in tokio tasks: the codec never waits, so `push` and `finish` stand between two awaits.
//!
//!     cargo run --example tokio

use std::io;

use stc::{Decoder, Encoder, Format, Options};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};

/// The bytes that are read at a time.
const CHUNK: usize = 16 << 10;

/// Encodes what `reader` has and writes it to `writer`. STC 1 is passed on as it comes; every other format is written at the end.
async fn encode(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    format: Format,
) -> io::Result<()> {
    let mut encoder = Encoder::with_options(Options::default().format(format));
    let (mut chunk, mut out) = (vec![0; CHUNK], Vec::new());
    loop {
        let read = reader.read(&mut chunk).await?;
        if read == 0 {
            break;
        }
        encoder.push(&chunk[..read], &mut out)?;
        writer.write_all(&out).await?;
        out.clear();
    }
    encoder.finish(&mut out)?;
    writer.write_all(&out).await?;
    writer.shutdown().await
}

/// Decodes what `reader` has, of any format, and writes the JSON to `writer` as it comes.
async fn decode(mut reader: impl AsyncRead + Unpin, mut writer: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut decoder = Decoder::new();
    let (mut chunk, mut out) = (vec![0; CHUNK], Vec::new());
    loop {
        let read = reader.read(&mut chunk).await?;
        if read == 0 {
            break;
        }
        decoder.push(&chunk[..read], &mut out)?;
        writer.write_all(&out).await?;
        out.clear();
    }
    decoder.finish(&mut out)?;
    writer.write_all(&out).await?;
    writer.shutdown().await
}

/// Sends a document through both tasks and returns what arrives.
async fn there_and_back(json: Vec<u8>, format: Format) -> io::Result<Vec<u8>> {
    let (near, far) = duplex(CHUNK);
    let (end, mut arrived) = duplex(CHUNK);
    let encoding = tokio::spawn(async move { encode(&json[..], near, format).await });
    let decoding = tokio::spawn(decode(far, end));
    let mut back = Vec::new();
    arrived.read_to_end(&mut back).await?;
    encoding.await??;
    decoding.await??;
    Ok(back)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let rows: Vec<String> = (0..10_000).map(|id| format!(r#"{{"id": {id}, "state": "open"}}"#)).collect();
    let json = format!("[{}]", rows.join(", ")).into_bytes();
    for format in Format::ALL {
        let back = there_and_back(json.clone(), format).await?;
        println!("{format}: {} bytes there, {} bytes of minified JSON back", json.len(), back.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_comes_back_is_the_minified_document() {
        let rows: Vec<String> = (0..5000).map(|id| format!(r#"{{"id": {id}, "on": true}}"#)).collect();
        let json = format!("[{}]", rows.join(", "));
        for format in Format::ALL {
            let back = there_and_back(json.clone().into_bytes(), format).await.expect("it arrives");
            assert_eq!(back, stc::minify(json.as_bytes()).expect("JSON"), "{format}");
        }
    }

    #[tokio::test]
    async fn an_error_ends_the_task_that_meets_it() {
        let error = encode(&b"[1, 2"[..], tokio::io::sink(), Format::Stc1).await.expect_err("truncated");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
