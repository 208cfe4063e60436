//! What a decoder says it expected, state by state: the kind of an error as well as its offset.

use stc::{Decoder, ErrorKind, Expected, Limits, Options};

/// A text, what is expected where it goes wrong, and where that is.
const SYNTAX: [(&str, Expected, u64); 29] = [
    ("x", Expected::Value, 0),
    ("[x]", Expected::ValueOrClose, 1),
    ("[1,]", Expected::Value, 3),
    ("{-}", Expected::KeyOrClose, 1),
    ("{a: 1,}", Expected::Key, 6),
    ("{a 1}", Expected::ColonOrCount, 3),
    ("{\"a\" 1}", Expected::ColonOrCount, 5),
    ("{a: 1]", Expected::CommaOrBrace, 5),
    ("[1}", Expected::CommaOrBracket, 2),
    ("[1 2]", Expected::CommaOrBracket, 3),
    ("[true 2]", Expected::CommaOrBracket, 6),
    ("1 2", Expected::End, 2),
    ("{a[0]: 1}", Expected::Count, 3),
    ("{a[x]: 1}", Expected::Count, 3),
    ("{a[12345678901234567890]: 1}", Expected::Count, 22),
    ("{a[1 1]: 1}", Expected::CountClose, 5),
    ("{a[1x]: 1}", Expected::CountClose, 4),
    ("{a[1] 1}", Expected::HeaderColon, 6),
    ("{a[1]: null}", Expected::SameKind, 7),
    ("{a[2]: 1,\"x\"}", Expected::SameKind, 9),
    ("[1]{}: 1", Expected::Key, 4),
    ("[1]{a,}: 1", Expected::Key, 6),
    ("[1]{a b}: 1", Expected::CommaOrHeaderClose, 6),
    ("[1]{\"a\";b}: 1", Expected::CommaOrHeaderClose, 7),
    ("[1]{a} 1", Expected::HeaderColon, 7),
    ("[1]{a}: x", Expected::Cell, 8),
    ("[1]{a}: [", Expected::Cell, 8),
    ("[2]{a}: 1 / x", Expected::Cell, 12),
    ("[1]{a,b}: 1,/", Expected::Cell, 12),
];

/// The same where a count has announced what is expected.
const COUNTS: [(&str, Expected, u64); 9] = [
    ("{a[2]: 1}", Expected::Comma, 8),
    ("[1]{a,b}: 1 / 2", Expected::Comma, 12),
    ("[2]{a,b}: 1,2 / 3 / 4", Expected::Comma, 18),
    ("[2]{a}: 1, 2", Expected::Slash, 9),
    ("[2]{a,b}: 1,2,3", Expected::Slash, 13),
    ("[1]{a}: 1/2", Expected::End, 9),
    ("[[1]{a}: 1 / 2]", Expected::CommaOrBracket, 11),
    ("[@a{k: 1,l: 2},@a(3)]", Expected::Comma, 19),
    ("[@a{k: 1,l: 2},@a(3,4,5)]", Expected::TupleClose, 21),
];

/// The same for what only version 2 has.
const SYNTAX_V2: [(&str, Expected, u64); 43] = [
    ("$1", Expected::Name, 1),
    ("[@1]", Expected::Name, 2),
    ("[@a x]", Expected::ShapeOpen, 3),
    ("$abcdefghijklmnopqrstuvwxy=\"x\"\n1", Expected::NameEnd, 25),
    ("[$abcdefghijklmnopqrstuvw-1]", Expected::NameEnd, 26),
    ("[@abcdefghijklmnopqrstuvwxY{a:1}]", Expected::NameEnd, 26),
    ("[&abcdefghijklmnopqrstuvwx_[1]]", Expected::NameEnd, 26),
    ("[*abcdefghijklmnopqrstuvwx0]", Expected::NameEnd, 26),
    ("[&1]", Expected::Name, 2),
    ("[&a\"1\"]", Expected::Container, 3),
    ("[*1]", Expected::Name, 2),
    ("$a=1", Expected::String, 3),
    ("$a=\"x\"1", Expected::LineFeed, 6),
    ("{1x", Expected::KeyedCountClose, 2),
    ("{1 2", Expected::KeyedCountClose, 3),
    ("{1}x", Expected::HeaderOpen, 3),
    ("[1]{a?,}", Expected::Key, 7),
    ("[1]{a?x", Expected::ColumnEnd, 6),
    ("[1]{a.x", Expected::SpliceOpen, 6),
    ("[1]{a~1", Expected::String, 6),
    ("[1]{a?~1", Expected::String, 7),
    ("[1]{a~\"${}${}\"}", Expected::BareKey, 12),
    ("[1]{a?~\"${b}\"}", Expected::Placeholder, 12),
    ("[1]{a~\"${}\"=", Expected::ColumnEnd, 11),
    ("[1]{a~\"${}\"}:\n(", Expected::TableCell, 14),
    ("[1]{a?}x", Expected::HeaderColon, 7),
    ("[1]{a?}:x", Expected::LineFeed, 8),
    ("[1]{a}:\n_", Expected::TableCell, 8),
    ("[1]{a}:\n!open", Expected::Value, 9),
    ("[1]{a}:\n!1,2", Expected::LineFeed, 10),
    ("{1}{a}:\nx:!{}}", Expected::LineFeed, 13),
    ("[1]{*}:\n!{}", Expected::RowObject, 8),
    ("[1]{a,b}:\n1,_", Expected::TableCell, 12),
    ("{1}{a}:\n-", Expected::Key, 8),
    ("{1}{a}:\nk-", Expected::Colon, 9),
    ("[[1]{a}:\n1\nx]", Expected::ValueOrClose, 11),
    ("{a[1]{b}:\n1\n,", Expected::KeyOrClose, 12),
    ("[1]{a}:\n(1)\n", Expected::TableCell, 8),
    ("[&a(1)]", Expected::Container, 3),
    ("[1]{a?,,b}:\n", Expected::Key, 7),
    ("[1]{a,b?}:\n1,_\n", Expected::TableCell, 13),
    ("[1]{*}:\n1\n", Expected::RowObject, 8),
    ("[1]{a,*}:\n", Expected::Key, 6),
];

/// A text that ends too early, and what is expected there.
const TRUNCATED: [(&str, Expected); 23] = [
    ("", Expected::Value),
    ("[", Expected::ValueOrClose),
    ("{a:[1] ", Expected::CommaOrBrace),
    ("[[1] ", Expected::CommaOrBracket),
    ("[1]{a}:", Expected::Cell),
    ("[1]{a}:\n", Expected::TableCell),
    ("[1]{a,b}:\n1 ", Expected::Comma),
    ("[1]{a,b}:\n[1] ", Expected::Comma),
    ("[1]{a,b?}:\n1,[1] ", Expected::LineFeed),
    ("[1]{a,b}:\n1, ", Expected::TableCell),
    ("[1]{a,b=1}:\n[1] ", Expected::LineFeed),
    ("[1]{a,b=1}:\n1 ", Expected::LineFeed),
    ("[1]{a=1}:\n", Expected::TableCell),
    ("[1]{a{b}}:\n(1 ", Expected::TupleClose),
    ("[1]{a{b}}:\n([1] ", Expected::TupleClose),
    ("[1]{a{b,c}}:\n([1] ", Expected::Comma),
    ("[1]{a{b,c?}}:\n(1, ", Expected::TableCell),
    ("[@s{a:1},@s([1] ", Expected::TupleClose),
    ("[@s{a:1,b:2},@s([1] ", Expected::Comma),
    ("[1]{*}:\n", Expected::RowObject),
    ("{1}{*}:\na:", Expected::RowObject),
    ("[1]{*}:\n{} ", Expected::LineFeed),
    ("[1]{a={b:1} ", Expected::ColumnEnd),
];

/// Decodes a text at once, with whitespace after it, so that fast paths read it, and byte by byte; all must fail alike.
fn refused(stc: &str, limits: Limits) -> (ErrorKind, u64) {
    let options = Options::default().limits(limits);
    let mut decoder = Decoder::with_options(options);
    let mut error_of = |stc: &str| decoder.decode(stc.as_bytes()).map(<[u8]>::len).expect_err(stc);
    let error = error_of(stc);
    if error.offset() < stc.len() as u64 {
        assert_eq!(error_of(&format!("{stc}{}", " ".repeat(200))), error, "{stc} and whitespace");
    }
    let mut out = Vec::new();
    let pushed = stc.as_bytes().chunks(1).try_for_each(|byte| decoder.push(byte, &mut out));
    assert_eq!(pushed.and_then(|()| decoder.finish(&mut out)).expect_err(stc), error, "{stc}");
    (error.kind(), error.offset())
}

#[test]
fn an_error_says_what_was_expected() {
    for (stc, expected, offset) in SYNTAX.into_iter().chain(SYNTAX_V2) {
        let (kind, at) = refused(stc, Limits::default());
        assert_eq!((kind, at), (ErrorKind::Syntax(expected), offset), "{stc}");
    }
    for (stc, expected, offset) in COUNTS {
        assert_eq!(refused(stc, Limits::default()), (ErrorKind::Count(expected), offset), "{stc}");
    }
    for (stc, expected) in TRUNCATED {
        assert_eq!(refused(stc, Limits::default()), (ErrorKind::Truncated(expected), stc.len() as u64), "{stc}");
    }
}

/// What is defined, or named by a placeholder or a key, elsewhere or not at all: the error is at its own place.
#[test]
fn an_error_of_a_name_is_at_the_name() {
    for (stc, kind, offset) in [
        ("[$a=\"x\"\n1]", ErrorKind::Name, 1),
        ("[&a[1],$a=\"x\"\n1]", ErrorKind::Name, 7),
        ("[1]{a?{b{*},c{*}}=1}:\n", ErrorKind::Syntax(Expected::ColumnEnd), 17),
        ("[1]{a?{b{*}}=1}:\n", ErrorKind::Syntax(Expected::ColumnEnd), 12),
        ("[[1]{a,b,a}: 1,2,3]", ErrorKind::DuplicateColumn, 9),
        ("[[1]{a?,b,c=1,a}:\n1,2\n]", ErrorKind::DuplicateColumn, 14),
        ("[[1]{*,k=1}:\n{k:2}\n]", ErrorKind::DuplicateColumn, 14),
        ("[[1]{a~\"${b}\",c}:\n1\n]", ErrorKind::Placeholder, 8),
    ] {
        assert_eq!(refused(stc, Limits::default()), (kind, offset), "{stc}");
    }
}

/// Output that is held back exceeds its limit at the offset of its input: digits that were no count at the digits, what the end of the
/// text decides at the end.
#[test]
fn output_that_is_held_back_meets_its_limit() {
    for (stc, most, offset) in [
        ("[12]", 0, 0),
        ("[12]", 1, 1),
        ("[12]", 2, 2),
        ("[12]", 3, 3),
        ("[1234,5]", 3, 3),
        ("[1 ]", 2, 3),
        ("{a[2]: 1,2}", 8, 9),
        ("{a[2]: 1,2}", 9, 10),
        ("{a:nulls}", 9, 7),
        ("{a:null}", 8, 7),
        ("$a=\"xyz\"\n$a", 3, 11),
        ("$a=\"xyz\"\n$a", 4, 11),
        ("$a=\"xyz\"\n$a\"1\"", 4, 12),
    ] {
        assert_eq!(refused(stc, Limits::default().output(most)), (ErrorKind::Output, offset), "{stc} and {most} bytes");
    }
}

#[test]
fn a_shape_has_as_many_keys_as_columns_are_allowed() {
    let stc = "[@a{k: 1,l: 2},@a(3,4)]";
    let most = |keys| Options::default().limits(Limits::default().columns(keys));
    let json = br#"[{"k":1,"l":2},{"k":3,"l":4}]"#;
    assert_eq!(Decoder::with_options(most(2)).decode(stc.as_bytes()), Ok(&json[..]));
    assert_eq!(refused(stc, Limits::default().columns(1)), (ErrorKind::Columns, 9));
}
