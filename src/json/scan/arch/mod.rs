//! What differs between instruction sets, one file each: 64 bytes to masks, masks to positions, and a few questions
//! about 32 bytes. The algorithms that use them are written once, generic over [`Kernel`], and are safe code.
//!
//! A kernel is a zero-sized value that only its `detect` function makes: to have one proves that the processor has the
//! instructions. That is the whole safety argument.

#![allow(unsafe_code)] // The only place for it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
// The trait, the masks and the sizes that every kernel shares.
mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
// Portable: eight bytes in a `u64`.
mod swar;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use kernel::{Kernel, Masks, Numeric, SPAN};
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
/// The kernel that every processor of the target has, if there is no better one.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::Simd128 as Fallback;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) use swar::Swar as Fallback;
