//! What a field or an element may be: texts, integers, decimals, lists of them, `null`, and finished lexemes.
//!
//! There are no floats on purpose: how a float is printed is the standard library's business, and the corpus must
//! not change when that does. A decimal is two integers.

use crate::writer::Writer;

/// What can be written as a JSON value.
pub(crate) trait Value {
    /// Writes the value, and nothing around it.
    fn write(&self, writer: &mut Writer);
}

/// A finished lexeme, written as it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a>(pub(crate) &'a str);

/// The JSON value `null`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null;

/// A decimal number: `Decimal(-1234, 2)` is `-12.34`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal(pub(crate) i64, pub(crate) u32);

impl Value for Raw<'_> {
    fn write(&self, writer: &mut Writer) {
        writer.lexeme(self.0);
    }
}

impl Value for Null {
    fn write(&self, writer: &mut Writer) {
        Raw("null").write(writer);
    }
}

impl Value for Decimal {
    fn write(&self, writer: &mut Writer) {
        let Decimal(units, places) = *self;
        let one = 10_u64.pow(places);
        let (whole, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
        let sign = if units < 0 { "-" } else { "" };
        Raw(&format!("{sign}{whole}.{rest:0places$}", places = places as usize)).write(writer);
    }
}

impl Value for bool {
    fn write(&self, writer: &mut Writer) {
        Raw(if *self { "true" } else { "false" }).write(writer);
    }
}

impl Value for str {
    fn write(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Value for String {
    fn write(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl<T: Value + ?Sized> Value for &T {
    fn write(&self, writer: &mut Writer) {
        (**self).write(writer);
    }
}

impl<T: Value> Value for Option<T> {
    fn write(&self, writer: &mut Writer) {
        match self {
            Some(value) => value.write(writer),
            None => Null.write(writer),
        }
    }
}

impl<T: Value> Value for [T] {
    fn write(&self, writer: &mut Writer) {
        writer.elements(|w| self.iter().for_each(|value| w.value(value)));
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn write(&self, writer: &mut Writer) {
        self.as_slice().write(writer);
    }
}

impl<T: Value> Value for Vec<T> {
    fn write(&self, writer: &mut Writer) {
        self.as_slice().write(writer);
    }
}

macro_rules! integers {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            fn write(&self, writer: &mut Writer) {
                Raw(&self.to_string()).write(writer);
            }
        }
    )*};
}
integers!(i32 i64 u32 u64 usize);
