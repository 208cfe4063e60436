//! Numbers of bytes: on the command line `4096`, `64K`, `1G`, `unlimited`; in messages `4.1 KB`.
//!
//! K, M, G and KiB, MiB, GiB are powers of 1024, KB, MB and GB powers of 1000, in every flag and every message.

use std::fmt;
use std::str::FromStr;

/// A number of bytes; the largest one means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl Size {
    pub(crate) const UNLIMITED: Self = Self(u64::MAX);

    /// Returns the size as a `usize`, for limits on memory.
    pub(crate) fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// Formats bytes in units of 1000: `999 B`, `4.1 KB`, `12.0 MB`.
pub(crate) fn decimal(bytes: u64) -> String {
    const LARGER: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in LARGER {
        // What would be printed as 1000.0 is one of the next unit.
        if value < 999.95 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let upper = text.to_ascii_uppercase();
        let (bare, base) = match upper.strip_suffix('B') {
            Some(bare) => (bare.strip_suffix('I').unwrap_or(bare), if bare.ends_with('I') { 1024 } else { 1000 }),
            None => (upper.as_str(), 1024_u64),
        };
        let unit = UNITS.iter().find_map(|&(letter, shift)| Some((bare.strip_suffix(letter)?, shift)));
        let (digits, shift) = unit.unwrap_or((&upper, 0));
        let number: u64 = digits
            .parse()
            .map_err(|_| "expected bytes such as 4096, 64K (65,536), 64KB (64,000) or 1G, or `unlimited`".to_owned())?;
        number.checked_mul(base.pow(shift / 10)).map(Self).ok_or_else(|| "too large".to_owned())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNLIMITED {
            return f.write_str("unlimited");
        }
        match UNITS.iter().find(|(_, shift)| self.0 != 0 && self.0.trailing_zeros() >= *shift) {
            Some((letter, shift)) => write!(f, "{}{letter}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_what_they_print() {
        for bytes in [0, 1, 1000, 1024, 1 << 20, 3 << 30, 256 << 10, u64::MAX] {
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
        }
        assert_eq!("64k".parse(), Ok(Size(64 << 10)));
        assert_eq!("64KiB".parse(), Ok(Size(64 << 10)));
        assert_eq!(
            ["64KB", "3mb", "1GB"].map(str::parse),
            [64_000, 3_000_000, 1_000_000_000].map(|size| Ok(Size(size)))
        );
        for wrong in ["", "K", "-1", "1.5M", "1X", "99999999T", "12iB", "12B", "KB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_kilobyte_is_a_thousand_bytes() {
        let sizes = [0, 999, 1000, 4096, 999_949, 999_950, 12_000_000, 3_500_000_000];
        let shown = ["0 B", "999 B", "1.0 KB", "4.1 KB", "999.9 KB", "1.0 MB", "12.0 MB", "3.5 GB"];
        assert_eq!(sizes.map(decimal), shown);
        assert_eq!(decimal(u64::MAX), "18446744.1 TB");
    }
}
