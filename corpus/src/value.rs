//! The types that can be written as a field or an element: strings, integers, decimals, lists of them, `null`, and finished
//! lexemes.
//!
//! There are no floats: the standard library may print a float differently one day, and the corpus must not change with
//! it. A decimal is two integers.

use crate::writer::{Value, Writer};

/// A finished lexeme, written without change.
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
