//! Every limit that the decoder checks in version 2: met exactly, and passed by one, on the slow path and on the fast paths.

use stc::laws;
use stc::{Decoder, Encoder, Error, ErrorKind, Format, Limits, Options};

/// Decodes `stc` whole, then in chunks of one byte, which must say the same.
fn decoded(stc: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let options = Options::default().limits(limits);
    let cuts: Vec<usize> = (0..stc.len()).collect();
    laws::decode_in_chunks(stc, &cuts, options);
    Decoder::with_options(options).decode(stc).map(<[u8]>::to_vec)
}

/// Checks that a document is taken at a limit of `exact`, and refused at one less: as it is, and with so much whitespace after it
/// that the fast paths read it.
fn is_exact(stc: &str, exact: usize, limits: impl Fn(usize) -> Limits, kind: ErrorKind, offset: Option<u64>) {
    for text in [stc.to_owned(), format!("{stc}{}", " ".repeat(200))] {
        decoded(text.as_bytes(), limits(exact)).unwrap_or_else(|error| panic!("{stc:?} at {exact}: {error}"));
        let error = decoded(text.as_bytes(), limits(exact - 1)).expect_err(stc);
        assert_eq!(error.kind(), kind, "{stc:?}");
        if let Some(offset) = offset {
            assert_eq!(error.offset(), offset, "{stc:?}");
        }
    }
}

#[test]
fn columns_of_headers_keys_of_shapes_and_names() {
    let cases = [
        ("[1]{a,b,c}:\n1,2,3\n", 3, 8),
        ("[1]{a,b?,c}:\n1,2,3\n", 3, 9),
        ("[1]{a?,b,c}:\n1,2,3\n", 3, 9),
        ("{1}{a,b}:\nk:1,2\n", 2, 6),
        ("[1]{a{b,c}}:\n(1,2)\n", 3, 8),
        ("[1]{a.{b,\"c\"}}:\n1,2\n", 3, 9),
        ("$a=\"x\"\n$b=\"y\"\n[$a,$b]", 2, 7),
        ("[@a{k:1},@b{k:2}]", 2, 9),
        ("@a{k:1,l:2}", 2, 7),
        ("@a{k: 1, \"l\": 2}", 2, 9),
        ("[&a[1],&b[2]]", 2, 7),
    ];
    for (stc, exact, offset) in cases {
        is_exact(stc, exact, |keys| Limits::default().columns(keys), ErrorKind::Columns, Some(offset));
    }
}

#[test]
fn bytes_of_headers_dictionaries_and_shapes() {
    let cases = [
        ("[1]{ab,cd?}:\n1,2\n", 4, 8),
        ("[1]{ab?,\"cd\"}:\n1,2\n", 6, 11),
        ("[1]{a=12,b}:\n1\n", 4, 9),
        ("[1]{b,a=\"xy\"}:\n1\n", 6, 11),
        ("[1]{a?=12}:\n\n", 3, 8),
        ("[1]{a={b:1}}:\n\n", 8, 10),
        ("[1]{n,u~\"${n}\"}:\n1\n", 8, 13),
        ("[1]{u~\"<${}>\"}:\n1\n", 8, 12),
        ("[1]{u?~\"${}\"=null}:\n1\n", 10, 16),
        ("$a=\"xy\"\n$a", 4, 6),
        ("$a=\"x\"\n$b=\"y\"\n[$a,$b]", 6, 12),
        ("$a=\"xy\"\n$b=\"z\"\n1", 7, 13),
        ("@a{kk:1,\"l\":2}", 5, 10),
        ("[@a{kk:1},@b{l:2}]", 3, 13),
    ];
    for (stc, exact, offset) in cases {
        is_exact(stc, exact, |bytes| Limits::default().header(bytes), ErrorKind::Header, Some(offset));
    }
}

/// An encoder's longest dictionary is read under the limit that it was written with: eight strings of 512 bytes, and their quotes.
#[test]
fn the_longest_dictionary_fits_the_limit() {
    let strings: Vec<String> =
        (0..8).flat_map(|n| vec![format!("\"{}\"", format!("word {n} ").repeat(74)[..512].to_owned()); 4]).collect();
    let json = format!("[{}]", strings.join(","));
    for header in [4095, 4096, 4111, 4112, 4113] {
        let limits = Limits::default().header(header);
        let options = Options::default().format(Format::Stc2).limits(limits);
        let stc = Encoder::with_options(options).encode(json.as_bytes()).unwrap().to_vec();
        assert_eq!(stc.starts_with(b"$a="), header >= 8 * 514, "{header}");
        assert_eq!(decoded(&stc, limits).unwrap(), json.as_bytes(), "{header}");
    }
}

#[test]
fn bytes_of_a_row_with_templates() {
    // `{"n":1,"u":"1"}`, the same with another cell, and a tuple with a template.
    for (stc, exact) in [
        ("[1]{n,u~\"${n}\"}:\n1\n", 15),
        ("[2]{n,u~\"${n}\",v?}:\n1,\n1,[2]\n", 23),
        ("[1]{t{n,u~\"<${n}>\"}}:\n[(1),(22)]\n", 45),
        ("[1]{n,u~\"<${}${n}>\"}:\n1,x\n", 18),
        // A row that is a value.
        ("[2]{n,u~\"${n}\"}:\n1\n!{u:[1,2,3],v:1}\n", 19),
    ] {
        is_exact(stc, exact, |bytes| Limits::default().row(bytes), ErrorKind::Row, None);
    }
    // A template that names no column is filled where it stands, so nothing is held.
    let stc = b"[1]{n,u~\"<${}>\"}:\n1,x\n";
    assert_eq!(decoded(stc, Limits::default().row(0)).unwrap(), br#"[{"n":1,"u":"<x>"}]"#);
}

#[test]
fn bytes_of_anchored_values() {
    let cases = [
        ("[&a[1,2],*a]", 5),
        ("[&a[&b[1]],*a,*b]", 8),
        ("[&a[1],&b[22]]", 7),
        ("[&a{k:[1]{x}:\n2\n}]", 15),
        ("[1]{n,u~\"${n}\",v}:\n1,&a[1,2]\n", 5),
        ("[&a[[1]{n,u~\"${n}\"}:\n1\n]]", 19),
        ("[1]{v{x}}:\n&a(1)\n", 7),
        // What is before, between and after them does not count.
        ("[\"abcdefgh\",&a[1],\"abcdefgh\",*a,*a,&b[2],\"abcdefgh\"]", 6),
        ("[&a[1],&b[2],&c[3]]", 9),
        ("[&a[],&b[],&c[],&d[],&e[]]", 10),
        // A row that is held, inside an anchored value, before and after other rows.
        ("[&a[[2]{n,u~\"${n}\"}:\n1\n22\n]]", 37),
    ];
    for (stc, exact) in cases {
        is_exact(stc, exact, |bytes| Limits::default().anchors(bytes), ErrorKind::Anchors, None);
    }
}

/// While an anchored value is open, what it has so far counts: the error is at its first byte that is too much.
#[test]
fn bytes_of_an_open_anchored_value() {
    for (stc, before, json) in [
        ("[&a[\"xxxx\"]]", 3, "[\"xxxx\"]"),
        ("[1,&a[\"Z\"],2]", 5, "[\"Z\"]"),
        ("[{k:[&a[\"xxxx\",1,22,[],{}]]},[333]]", 7, "[\"xxxx\",1,22,[],{}]"),
    ] {
        let long = "z".repeat(200);
        let (stc, json) = (stc.replace('Z', &long), json.replace('Z', &long));
        for most in 0..json.len() {
            let text = format!("{stc}{}", " ".repeat(200));
            let error = decoded(text.as_bytes(), Limits::default().anchors(most)).expect_err(&stc);
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Anchors, (before + most) as u64), "{most}: {stc}");
        }
        decoded(stc.as_bytes(), Limits::default().anchors(json.len())).unwrap_or_else(|error| panic!("{stc}: {error}"));
    }
}

/// Copies of copies are as deep as what they copy, at every place of a document.
#[test]
fn levels_of_copies() {
    let limits = |levels| Limits::default().depth(levels);
    for (stc, depth, offset) in [
        ("[&a[],[*a]]", 3, Some(7)),
        ("[&a[1],&b[*a],[[*b]]]", 5, Some(16)),
        ("[&a[1],&b[*a],{k:*b}]", 4, Some(17)),
        ("[&a[1],&b[[*a],2],&c[*b],[*c]]", 6, Some(26)),
        ("[&x[1],[1]{a}:\n*x\n]", 4, Some(15)),
        ("[&x[1],[1]{a{b}}:\n([*x])\n]", 6, Some(20)),
        ("[@a{k:1},[@a(2)]]", 3, Some(12)),
        ("[1]{c{a,b=[1]},d}:\n&x(1),[*x]\n", 5, None),
        ("[1]{*,a{*}}:\n{a:{}}\n", 3, Some(16)),
        ("[1]{*}:\n{a[1]: 1}\n", 3, Some(10)),
        ("[1]{*}:\n{}\n", 2, Some(3)),
        ("[2]{*,k=[[1]]}:\n{}\n{}\n", 4, Some(16)),
        ("[[2]{*,k{*,l=[1]}}:\n{k:[{}]}\n{}\n]", 6, None),
    ] {
        is_exact(stc, depth, limits, ErrorKind::Depth, offset);
    }
}

#[test]
fn levels_in_rows() {
    // A header, a row that comes again and again, and how deep it is.
    let cases = [
        ("{x}", "1", 2),
        ("{x,y?}", "[1,2],", 3),
        ("{x,y?}", "[],", 3),
        ("{x?={k:[1]},y}", ",2", 4),
        ("{x=[[1]],y}", "2", 4),
        ("{x.{z.{u}},y}", "1,2", 4),
        ("{x{z}}", "(1)", 3),
        ("{x{z}}", "[(1),(2)]", 4),
        ("{x{z},y}", "[(1),(2),(3)],[4]", 4),
        ("{x{z=[1]}}", "[(),()]", 5),
        ("{x,y}", "*a,1", 4),
        ("{x,y}", "1,@s([2])", 4),
        // Rows that are a value have the levels of that value, and those of the constants too.
        ("{x,y}", "!1", 2),
        ("{x,y}", "!{y:1,x:2}", 2),
        ("{x,y}", "!{y:[1],x:2}", 3),
        ("{x,y}", "![[[]]]", 4),
        ("{x,y}", "!*a", 3),
        ("{x,y}", "!@s([2])", 3),
        ("{x=[1],y}", "!1", 3),
    ];
    let limits = |levels| Limits::default().depth(levels);
    for (header, row, depth) in cases {
        for rows in [1, 30] {
            let stc = format!("[@s{{k:1}},&a[[1]],[{rows}]{header}:\n{}]", format!("{row}\n").repeat(rows));
            is_exact(&stc, depth + 1, limits, ErrorKind::Depth, None);
            let stc = format!("[@s{{k:1}},&a[[1]],{{{rows}}}{header}:\n{}]", format!("k:{row}\n").repeat(rows));
            is_exact(&stc, depth + 1, limits, ErrorKind::Depth, None);
        }
    }
}

#[test]
fn levels_of_a_headers_value_are_counted_from_the_value() {
    // While the header is read the value may have two levels, wherever the table is; the row then has five.
    for (stc, depth, offset) in [("[[1]{a=[[1]]}:\n\n]", 5, 15), ("[[1]{a=[[[1]]]}:\n\n]", 6, 17)] {
        is_exact(stc, depth, |levels| Limits::default().depth(levels), ErrorKind::Depth, Some(offset));
    }
    let error = decoded(b"[1]{a=[[[1]]]}:\n\n", Limits::default().depth(2)).expect_err("three levels");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Depth, 8));
}

#[test]
fn a_name_has_up_to_24_bytes() {
    const LONGEST: &str = "Abcdefghij-lmnopqrs_uvw0";
    // `N` is the name, and the offset that of its 25th byte.
    for (text, offset) in [("$N=\"x\"\n[$N]", 25), ("[@N{k:1},@N(2)]", 26), ("[&N[1],*N]", 26)] {
        for name in ["a", LONGEST] {
            let stc = text.replace('N', name);
            decoded(stc.as_bytes(), Limits::default()).unwrap_or_else(|error| panic!("{stc}: {error}"));
        }
        let stc = text.replace('N', &format!("{LONGEST}x"));
        let error = decoded(stc.as_bytes(), Limits::default()).expect_err("25 bytes");
        assert_eq!(error.offset(), offset, "{text}");
    }
}
