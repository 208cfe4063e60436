//! Which kernel to use: chosen once when a codec is made.

use super::arch;

/// A kernel as a value. [`with_kernel`] turns it into the type that code is generic over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    #[cfg(target_arch = "x86_64")]
    Avx512(arch::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(arch::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(arch::Neon),
    Portable(arch::Fallback),
}

impl Choice {
    /// Returns the best kernel for this processor.
    pub(crate) fn best() -> Self {
        Self::detected().next().unwrap_or(Self::Portable(arch::Fallback))
    }

    /// Returns every kernel that this processor can run, best first.
    #[cfg(any(test, feature = "__internal"))]
    pub(crate) fn available() -> Vec<Self> {
        Self::detected().chain([Self::Portable(arch::Fallback)]).collect()
    }

    fn detected() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [arch::Avx512::detect().map(Self::Avx512), arch::Avx2::detect().map(Self::Avx2)];
        #[cfg(target_arch = "aarch64")]
        let found = [arch::Neon::detect().map(Self::Neon)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let found = [None];
        found.into_iter().flatten()
    }
}

/// Evaluates an expression in which `$kernel` is the chosen kernel, in its own type.
macro_rules! with_kernel {
    ($choice:expr, $kernel:ident => $work:expr) => {
        match $choice {
            #[cfg(target_arch = "x86_64")]
            $crate::json::scan::choice::Choice::Avx512($kernel) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::json::scan::choice::Choice::Avx2($kernel) => $work,
            #[cfg(target_arch = "aarch64")]
            $crate::json::scan::choice::Choice::Neon($kernel) => $work,
            $crate::json::scan::choice::Choice::Portable($kernel) => $work,
        }
    };
}
pub(crate) use with_kernel;
