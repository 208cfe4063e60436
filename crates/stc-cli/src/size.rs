//! A number of bytes on the command line: `4096`, `64K`, `1G`, `unlimited`.

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

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let upper = text.to_ascii_uppercase();
        let bare = upper.strip_suffix("IB").unwrap_or(&upper);
        let unit = UNITS.iter().find_map(|&(letter, shift)| Some((bare.strip_suffix(letter)?, shift)));
        let (digits, shift) = unit.unwrap_or((&upper, 0));
        let number: u64 =
            digits.parse().map_err(|_| "expected bytes such as 4096, 64K, 10M or 1G, or `unlimited`".to_owned())?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| "too large".to_owned())
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
        for wrong in ["", "K", "-1", "1.5M", "1X", "99999999T", "12iB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
