//! What went wrong, as C reads it: a status, an offset, and a message in a fixed array, so that nothing has to be freed.

use std::ffi::c_char;
use std::io::Write;
use std::mem::MaybeUninit;

use stc::ErrorKind;

/// The outcome of a call. From STC_STATUS_SYNTAX to STC_STATUS_DEFECT it is the kind of a rejected document.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No error.
    Ok = 0,
    /// A byte that the grammar does not allow at this place.
    Syntax = 1,
    /// The input ended before the document did.
    Truncated = 2,
    /// Bytes that are not UTF-8.
    Utf8 = 3,
    /// A control character inside a string, not escaped.
    Control = 4,
    /// Fewer or more values than a count says.
    Count = 5,
    /// A header has a key twice, or an object of an open list has a key that it must not have there.
    DuplicateColumn = 6,
    /// Limit `depth`: containers nested too deep.
    Depth = 7,
    /// Limit `input`: the document is too long.
    Input = 8,
    /// Limit `output`: the result would be too long.
    Output = 9,
    /// Limit `ratio`: the result would be too many times the size of the input.
    Ratio = 10,
    /// Limit `columns`: a header or a shape has too many keys, or there are too many names.
    Columns = 11,
    /// Limit `header`: a header, the keys of all shapes, or the dictionary are too long.
    Header = 12,
    /// A name is not defined at this place, or is defined already.
    Name = 13,
    /// A template names no column that could fill it.
    Placeholder = 14,
    /// Limit `row`: a row with templates is too long.
    Row = 15,
    /// Limit `anchors`: the anchored values are too long.
    Anchors = 16,
    /// A kind of rejection that this version of stc.h has no name for.
    Other = 17,
    /// A defect of the encoder: the document was refused, and nothing wrong was found in it.
    Defect = 18,
    /// A handle or an output is NULL, or input is NULL and its length is not 0.
    NullArgument = 32,
    /// A length above PTRDIFF_MAX.
    Length = 33,
    /// A format that is none of stc_format.
    UnknownFormat = 34,
    /// A defect of the library. The document is discarded, and the handle is ready for another.
    Panic = 35,
}

impl Status {
    /// Every status, in the order of its numbers.
    pub(crate) const ALL: [(Self, &'static str); 23] = [
        (Self::Ok, "Ok\0"),
        (Self::Syntax, "Syntax\0"),
        (Self::Truncated, "Truncated\0"),
        (Self::Utf8, "Utf8\0"),
        (Self::Control, "Control\0"),
        (Self::Count, "Count\0"),
        (Self::DuplicateColumn, "DuplicateColumn\0"),
        (Self::Depth, "Depth\0"),
        (Self::Input, "Input\0"),
        (Self::Output, "Output\0"),
        (Self::Ratio, "Ratio\0"),
        (Self::Columns, "Columns\0"),
        (Self::Header, "Header\0"),
        (Self::Name, "Name\0"),
        (Self::Placeholder, "Placeholder\0"),
        (Self::Row, "Row\0"),
        (Self::Anchors, "Anchors\0"),
        (Self::Other, "Other\0"),
        (Self::Defect, "Defect\0"),
        (Self::NullArgument, "NullArgument\0"),
        (Self::Length, "Length\0"),
        (Self::UnknownFormat, "UnknownFormat\0"),
        (Self::Panic, "Panic\0"),
    ];

    fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Syntax(_) => Self::Syntax,
            ErrorKind::Truncated(_) => Self::Truncated,
            ErrorKind::Utf8 => Self::Utf8,
            ErrorKind::Control => Self::Control,
            ErrorKind::Count(_) => Self::Count,
            ErrorKind::DuplicateColumn => Self::DuplicateColumn,
            ErrorKind::Depth => Self::Depth,
            ErrorKind::Input => Self::Input,
            ErrorKind::Output => Self::Output,
            ErrorKind::Ratio => Self::Ratio,
            ErrorKind::Columns => Self::Columns,
            ErrorKind::Header => Self::Header,
            ErrorKind::Name => Self::Name,
            ErrorKind::Placeholder => Self::Placeholder,
            ErrorKind::Row => Self::Row,
            ErrorKind::Anchors => Self::Anchors,
            ErrorKind::Defect => Self::Defect,
            _ => Self::Other,
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::NullArgument => "an argument is NULL",
            Self::Length => "a length above PTRDIFF_MAX",
            Self::UnknownFormat => "not a format of stc_format",
            Self::Panic => "a defect of the library; the document is discarded",
            _ => "",
        }
    }
}

/// Bytes of a message, with its NUL.
pub(crate) const MESSAGE: usize = 160;

/// What went wrong. A call that returns STC_STATUS_OK does not write it.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    /// What the call returned.
    pub status: Status,
    /// The offset of the offending byte in the document; the document's length if it ended too early.
    pub offset: u64,
    /// The line of the offset, from 1; 0 in a stream, whose earlier chunks are gone.
    pub line: u64,
    /// The column of the offset in characters, from 1; 0 in a stream.
    pub column: u64,
    /// A sentence for people, which ends with a NUL.
    pub message: [c_char; 160],
}

/// Why a call failed, before it is written for C.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The document was rejected; with its place, if the whole input is at hand.
    Rejected(stc::Error, Option<stc::Position>),
    /// The call itself was wrong, or the library.
    Call(Status),
}

impl Failure {
    /// Returns the failure of a document that is at hand in full.
    pub(crate) fn of(error: stc::Error, input: &[u8]) -> Self {
        Self::Rejected(error, Some(error.position(input)))
    }

    fn status(&self) -> Status {
        match self {
            Self::Rejected(error, _) => Status::of(error.kind()),
            Self::Call(status) => *status,
        }
    }

    fn message(&self) -> [c_char; MESSAGE] {
        let mut text = [0; MESSAGE];
        // The last byte stays a NUL. A message that does not fit would be cut, which is no error.
        let mut room = &mut text[..MESSAGE - 1];
        let _ = match self {
            Self::Rejected(error, _) => write!(room, "{error}"),
            Self::Call(status) => write!(room, "{}", status.message()),
        };
        text.map(|byte| byte as c_char)
    }
}

/// Writes a failure to `error`, if the caller wants it, and returns the status of the call.
pub(crate) fn reported(result: Result<(), Failure>, error: Option<&mut MaybeUninit<Error>>) -> Status {
    let Err(failure) = result else { return Status::Ok };
    let status = failure.status();
    if let Some(error) = error {
        let (offset, position) = match &failure {
            Failure::Rejected(rejected, position) => (rejected.offset(), *position),
            Failure::Call(_) => (0, None),
        };
        let (line, column) = position.map_or((0, 0), |position| (position.line as u64, position.column as u64));
        error.write(Error { status, offset, line, column, message: failure.message() });
    }
    status
}
