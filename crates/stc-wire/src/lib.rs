//! What every rewriter of messages needs: JSON found and changed by span, server-sent events, and codecs that stay warm.
//!
//! A message is never parsed and printed. [`span`] and [`cursor`] find a value as a range of bytes, [`edit`] replaces ranges, and every
//! byte outside them is the sender's own. [`sse`] does the same for the events of a stream. [`transcode`] is the only
//! caller of the codec: its result is smaller than its input, and a failure, even a panic of the codec, leaves the original.
//! [`budget`] counts the work of all this, and ends what costs too much.

mod block;
pub mod budget;
pub mod caller;
pub mod cursor;
pub mod edit;
mod escape;
pub mod family;
mod saved;
pub mod span;
pub mod sse;
pub mod transcode;

pub use saved::Saved;
pub use transcode::{Refusal, Transcoded, Verify};
