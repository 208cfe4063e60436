//! The choices of the encoder of version 2, on documents small enough to see the reason; and the recorded outcome for the
//! corpus. Both change only on purpose.

use stc::Encoder;

use crate::levels::Level;

/// The reason, the JSON, its STC 2 and, if it differs, its STC 2 with references.
type Chosen = (&'static str, &'static str, &'static str, Option<&'static str>);

const CHOSEN: [Chosen; 41] = [
    ("two short rows: a table is not shorter", r#"[{"a":1},{"a":2}]"#, r#"[{"a":1},{"a":2}]"#, None),
    ("one row is not a table", r#"[{"a":1}]"#, r#"[{"a":1}]"#, None),
    (
        "short keys, short rows: not shorter",
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"}]"#,
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"}]"#,
        None,
    ),
    (
        "the same as an object of objects",
        r#"{"x":{"id":1,"name":"ann"},"y":{"id":2,"name":"bob"}}"#,
        "{x:{id:1,name:ann},y:{id:2,name:bob}}",
        None,
    ),
    (
        "a constant",
        r#"[{"id":1,"state":"open"},{"id":2,"state":"open"},{"id":3,"state":"open"}]"#,
        "[3]{id,state=open}:\n1\n2\n3\n",
        None,
    ),
    (
        "an optional column",
        r#"[{"id":1,"state":"open"},{"id":2},{"id":3,"state":"shut"}]"#,
        "[3]{id,state?}:\n1,open\n2,\n3,shut\n",
        None,
    ),
    (
        "a default",
        r#"[{"id":1,"kind":"issue"},{"id":2,"kind":"issue"},{"id":3,"kind":"pull request"},{"id":4,"kind":"issue"}]"#,
        "[4]{id,kind?=issue}:\n1,\n2,\n3,\"pull request\"\n4,\n",
        None,
    ),
    (
        "a splice",
        r#"[{"id":1,"at":{"x":1,"y":2}},{"id":2,"at":{"x":3,"y":4}}]"#,
        "[2]{id,at.{x,y}}:\n1,1,2\n2,3,4\n",
        None,
    ),
    (
        "tuples, because one row has null",
        r#"[{"id":1,"at":{"x":1,"y":2}},{"id":2,"at":null},{"id":3,"at":{"x":3,"y":4}}]"#,
        "[3]{id,at{x,y}}:\n1,(1,2)\n2,null\n3,(3,4)\n",
        None,
    ),
    (
        "tuples in arrays",
        r#"[{"id":1,"at":[{"x":1,"y":2}]},{"id":2,"at":[]},{"id":3,"at":[{"x":3,"y":4},{"x":5,"y":6}]}]"#,
        "[3]{id,at{x,y}}:\n1,[(1,2)]\n2,[]\n3,[(3,4),(5,6)]\n",
        None,
    ),
    (
        "a splice in a splice",
        r#"[{"a":{"b":{"c":1,"d":2},"e":3}},{"a":{"b":{"c":4,"d":5},"e":6}}]"#,
        "[2]{a.{b.{c,d},e}}:\n1,2,3\n4,5,6\n",
        None,
    ),
    ("two key orders: not a table", r#"[{"b":1,"a":2},{"a":3,"b":4}]"#, r#"[{"b":1,"a":2},{"a":3,"b":4}]"#, None),
    (
        "another key order in the place of a tuple",
        r#"[{"id":1,"by":{"name":"ann","age":7}},{"id":2,"by":{"age":8,"name":"bob"}},{"id":3,"by":{"name":"cy","age":9}}]"#,
        "[3]{id,by{name,age}}:\n1,(ann,7)\n2,{age:8,name:bob}\n3,(cy,9)\n",
        None,
    ),
    ("duplicate keys", r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, None),
    ("an empty object as a constant", r#"[{"id":1,"none":{}},{"id":2,"none":{}}]"#, "[2]{id,none={}}:\n1\n2\n", None),
    (
        "empty objects are not tuples",
        r#"[{"id":1,"some":{}},{"id":2,"some":{"key":1}},{"id":3,"some":{"key":2}}]"#,
        "[3]{id,some}:\n1,{}\n2,{key:1}\n3,{key:2}\n",
        None,
    ),
    (
        "nor with all keys optional and one object in another order",
        r#"[{"id":1,"some":{"first":1,"second":2}},{"id":2,"some":{"first":3}},{"id":3,"some":{}},{"id":4,"some":{"second":3}},{"id":5,"some":{"first":1,"second":2}},{"id":6,"some":{"second":7}},{"id":7,"some":{"second":1,"first":2}}]"#,
        "[7]{id,some?{first?,second?}=(1,2)}:\n1,\n2,(3,)\n3,{}\n4,(,3)\n5,\n6,(,7)\n7,{second:1,first:2}\n",
        None,
    ),
    (
        "a shape",
        r#"{"one":{"first":1,"second":2,"third":3},"two":[{"first":4,"second":5,"third":6}],"three":true}"#,
        r#"{one:@a{first:1,second:2,third:3},two:[@a(4,5,6)],three:true}"#,
        None,
    ),
    (
        "a shape in an array",
        r#"[[{"name":"ann","email":"ann@example.org","active":true},1],[{"name":"bob","email":"bob@example.org","active":false},2]]"#,
        "[[@a{name:ann,email:ann@example.org,active:true},1],[@a(bob,bob@example.org,false),2]]",
        None,
    ),
    (
        "a dictionary entry for a shared prefix",
        r#"["https://example.org/some/way/to/go/1","https://example.org/some/way/to/go/2","https://example.org/some/way/to/go/3","https://example.org/some/way/to/go/4"]"#,
        r#"["https://example.org/some/way/to/go/1","https://example.org/some/way/to/go/2","https://example.org/some/way/to/go/3","https://example.org/some/way/to/go/4"]"#,
        Some("$a=\"https://example.org/some/way/to/go\"\n[$a\"/1\",$a\"/2\",$a\"/3\",$a\"/4\"]"),
    ),
    (
        "an anchor, which saves more than a shape",
        r#"{"a":{"login":"somebody","id":12345,"site":"https://example.org"},"b":1,"c":[{"login":"somebody","id":12345,"site":"https://example.org"}]}"#,
        "{a:@a{login:somebody,id:12345,site:https://example.org},b:1,c:[@a(somebody,12345,https://example.org)]}",
        Some("{a:&a{login:somebody,id:12345,site:https://example.org},b:1,c:[*a]}"),
    ),
    (
        "a template",
        r#"[{"id":1,"url":"https://example.org/items/1"},{"id":2,"url":"https://example.org/items/2"},{"id":3,"url":"https://example.org/items/3"}]"#,
        "[3]{id,url}:\n1,https://example.org/items/1\n2,https://example.org/items/2\n3,https://example.org/items/3\n",
        Some("[3]{id,url~\"https://example.org/items/${id}\"}:\n1\n2\n3\n"),
    ),
    (
        "a default in a splice; with references, a template and an anchor",
        r#"[{"id":1,"by":{"login":"ann","home":"https://example.org/ann"}},{"id":2,"by":{"login":"bob","home":"https://example.org/bob"}},{"id":3,"by":{"login":"ann","home":"https://example.org/ann"}}]"#,
        "[3]{id,by.{login?=ann,home?=https://example.org/ann}}:\n1,,\n2,bob,https://example.org/bob\n3,,\n",
        Some("[3]{id,by{login,home~\"https://example.org/${login}\"}}:\n1,&a(ann)\n2,(bob)\n3,*a\n"),
    ),
    (
        "times of one month; with references, a filled column",
        r#"[{"id":3,"at":"2026-05-12T08:00:00Z"},{"id":5,"at":"2026-05-13T09:30:00Z"},{"id":9,"at":null},{"id":7,"at":"2026-05-21T17:45:10Z"},{"id":2,"at":null},{"id":4,"at":null}]"#,
        "[6]{id,at}:\n3,\"2026-05-12T08:00:00Z\"\n5,\"2026-05-13T09:30:00Z\"\n9,null\n7,\"2026-05-21T17:45:10Z\"\n2,null\n4,null\n",
        Some("[6]{id,at~\"2026-05-${}Z\"}:\n3,12T08:00:00\n5,13T09:30:00\n9,null\n7,21T17:45:10\n2,null\n4,null\n"),
    ),
    (
        "arrays in cells",
        r#"[{"id":1,"tags":["a","b"],"box":[[1,2],[3,4]]},{"id":2,"tags":[],"box":[[5,6],[7,8]]}]"#,
        "[2]{id,tags,box}:\n1,[\"a\",\"b\"],[[1,2],[3,4]]\n2,[],[[5,6],[7,8]]\n",
        None,
    ),
    ("nothing to shorten", r#"[1,2,3]"#, r#"[1,2,3]"#, None),
    ("nothing to shorten", r#""text""#, r#""text""#, None),
    ("nothing to shorten", r#"{}"#, r#"{}"#, None),
    ("nothing to shorten", r#"[]"#, r#"[]"#, None),
    ("nothing to shorten", r#"{"only":1}"#, r#"{"only":1}"#, None),
    (
        "a key that needs quotes",
        r#"[{"key with spaces":1,"ok":null},{"key with spaces":2,"ok":null}]"#,
        "[2]{\"key with spaces\",ok=null}:\n1\n2\n",
        None,
    ),
    (
        "tables that are not shorter",
        r#"{"rows":[{"n":1},{"n":2},{"n":3}],"more":[{"n":4},{"n":5},{"n":6}],"end":0}"#,
        r#"{"rows":[{"n":1},{"n":2},{"n":3}],"more":[{"n":4},{"n":5},{"n":6}],"end":0}"#,
        None,
    ),
    (
        "a prefix of 14 bytes is long enough",
        r#"["https://ab.cde/1/and/so/on/0","https://ab.cde/7920/and/so/on/1","https://ab.cde/15839/and/so/on/2","https://ab.cde/23758/and/so/on/3","https://ab.cde/31677/and/so/on/4","https://ab.cde/39596/and/so/on/5"]"#,
        r#"["https://ab.cde/1/and/so/on/0","https://ab.cde/7920/and/so/on/1","https://ab.cde/15839/and/so/on/2","https://ab.cde/23758/and/so/on/3","https://ab.cde/31677/and/so/on/4","https://ab.cde/39596/and/so/on/5"]"#,
        Some(
            "$a=\"https://ab.cde\"\n[$a\"/1/and/so/on/0\",$a\"/7920/and/so/on/1\",$a\"/15839/and/so/on/2\",$a\"/23758/and/so/on/3\",$a\"/31677/and/so/on/4\",$a\"/39596/and/so/on/5\"]",
        ),
    ),
    (
        "a prefix of 13 bytes is not",
        r#"["https://ab.cd/1/and/so/on/0","https://ab.cd/7920/and/so/on/1","https://ab.cd/15839/and/so/on/2","https://ab.cd/23758/and/so/on/3","https://ab.cd/31677/and/so/on/4","https://ab.cd/39596/and/so/on/5"]"#,
        r#"["https://ab.cd/1/and/so/on/0","https://ab.cd/7920/and/so/on/1","https://ab.cd/15839/and/so/on/2","https://ab.cd/23758/and/so/on/3","https://ab.cd/31677/and/so/on/4","https://ab.cd/39596/and/so/on/5"]"#,
        None,
    ),
    (
        "a string of 39 bytes is too short for the dictionary",
        r#"["the quick brown fox jumps over the lazy","the quick brown fox jumps over the lazy","the quick brown fox jumps over the lazy"]"#,
        r#"["the quick brown fox jumps over the lazy","the quick brown fox jumps over the lazy","the quick brown fox jumps over the lazy"]"#,
        None,
    ),
    (
        "a string of 40 bytes is long enough",
        r#"["the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy."]"#,
        r#"["the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy."]"#,
        Some("$a=\"the quick brown fox jumps over the lazy.\"\n[$a,$a,$a]"),
    ),
    (
        "objects of an array in an array are not tuples, and get a shape",
        r#"[{"id":0,"m":[[{"alphabet":0,"betatron":1,"gammaray":2},{"alphabet":3,"betatron":4,"gammaray":5}]]},{"id":1,"m":[[{"alphabet":10,"betatron":11,"gammaray":12},{"alphabet":13,"betatron":14,"gammaray":15}]]},{"id":2,"m":[[{"alphabet":20,"betatron":21,"gammaray":22},{"alphabet":23,"betatron":24,"gammaray":25}]]}]"#,
        "[3]{id,m}:\n0,[[@a{alphabet:0,betatron:1,gammaray:2},@a(3,4,5)]]\n1,[[@a(10,11,12),@a(13,14,15)]]\n2,[[@a(20,21,22),@a(23,24,25)]]\n",
        None,
    ),
    (
        "the same next to a tuple",
        r#"[{"id":0,"m":[{"k":0},[{"alphabet":0,"betatron":1,"gammaray":2},{"alphabet":3,"betatron":4,"gammaray":5}]]},{"id":1,"m":[{"k":1},[{"alphabet":10,"betatron":11,"gammaray":12},{"alphabet":13,"betatron":14,"gammaray":15}]]},{"id":2,"m":[{"k":2},[{"alphabet":20,"betatron":21,"gammaray":22},{"alphabet":23,"betatron":24,"gammaray":25}]]}]"#,
        "[3]{id,m{k}}:\n0,[(0),[@a{alphabet:0,betatron:1,gammaray:2},@a(3,4,5)]]\n1,[(1),[@a(10,11,12),@a(13,14,15)]]\n2,[(2),[@a(20,21,22),@a(23,24,25)]]\n",
        None,
    ),
    (
        "objects deeper than the search for tables get a shape too",
        r#"[{"id":0,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":0,"betatron":1,"gammaray":2},"y":{"alphabet":5,"betatron":6,"gammaray":7}}}}}}}}}}}}}}}}}}}},{"id":1,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":10,"betatron":11,"gammaray":12},"y":{"alphabet":15,"betatron":16,"gammaray":17}}}}}}}}}}}}}}}}}}}},{"id":2,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":20,"betatron":21,"gammaray":22},"y":{"alphabet":25,"betatron":26,"gammaray":27}}}}}}}}}}}}}}}}}}}}]"#,
        "[3]{id,m.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n}}}}}}}}}}}}}}}}}:\n0,{n:@a{z:@b{alphabet:0,betatron:1,gammaray:2},y:@b(5,6,7)}}\n1,{n:@a(@b(10,11,12),@b(15,16,17))}\n2,{n:@a(@b(20,21,22),@b(25,26,27))}\n",
        None,
    ),
    (
        "one repeated object does not outweigh the splice; with references, a filled column",
        r#"[{"id":0,"at":{"x":300,"y":"k0z"}},{"id":1,"at":{"x":301,"y":"k7z"}},{"id":2,"at":{"x":304,"y":"k14z"}},{"id":3,"at":{"x":309,"y":"k21z"}},{"id":4,"at":{"x":316,"y":"k28z"}},{"id":5,"at":{"x":325,"y":"k35z"}},{"id":6,"at":{"x":304,"y":"k14z"}},{"id":7,"at":{"x":349,"y":"k49z"}},{"id":8,"at":{"x":364,"y":"k56z"}}]"#,
        "[9]{id,at.{x,y}}:\n0,300,k0z\n1,301,k7z\n2,304,k14z\n3,309,k21z\n4,316,k28z\n5,325,k35z\n6,304,k14z\n7,349,k49z\n8,364,k56z\n",
        Some(
            "[9]{id,at.{x,y~\"k${}z\"}}:\n0,300,0\n1,301,7\n2,304,14\n3,309,21\n4,316,28\n5,325,35\n6,304,14\n7,349,49\n8,364,56\n",
        ),
    ),
    (
        "a long repeated object outweighs the cost of the others",
        r#"{"before":{"w0":"29c093ccd369cf","w1":"37ab6fbbc48d14","w2":"45964baab5b059","w3":"53812799a6d39e","w4":"616c038897f6e3"},"after":{"w0":"29c093ccd369cf","w1":"37ab6fbbc48d14","w2":"45964baab5b059","w3":"53812799a6d39e","w4":"616c038897f6e3"},"l0":[{"f0":0}],"l1":[{"f1":0}],"l2":[{"f2":0}]}"#,
        "{before:@a{w0:\"29c093ccd369cf\",w1:\"37ab6fbbc48d14\",w2:\"45964baab5b059\",w3:\"53812799a6d39e\",w4:\"616c038897f6e3\"},after:@a(\"29c093ccd369cf\",\"37ab6fbbc48d14\",\"45964baab5b059\",\"53812799a6d39e\",\"616c038897f6e3\"),l0:[{f0:0}],l1:[{f1:0}],l2:[{f2:0}]}",
        Some(
            "{before:&a{w0:\"29c093ccd369cf\",w1:\"37ab6fbbc48d14\",w2:\"45964baab5b059\",w3:\"53812799a6d39e\",w4:\"616c038897f6e3\"},after:*a,l0:[{f0:0}],l1:[{f1:0}],l2:[{f2:0}]}",
        ),
    ),
];

#[test]
fn small_documents() {
    for (why, json, plain, named) in CHOSEN {
        for (level, expected) in [(Level::NoReferences, plain), (Level::Whole, named.unwrap_or(plain))] {
            let mut encoder = Encoder::with_options(level.options());
            let stc = encoder.encode(json.as_bytes()).expect("JSON");
            assert_eq!(String::from_utf8_lossy(stc), expected, "{why}, {level}");
            assert_eq!(stc::decode(stc).as_deref(), Ok(json.as_bytes()), "{why}");
        }
    }
}

/// Returns FNV-1a of the bytes, folded to 32 bits: shows a change that keeps the length.
#[cfg(all(debug_assertions, not(miri)))]
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325, hash);
    (hash >> 32) ^ (hash & 0xFFFF_FFFF)
}

/// Asserts that `found` is the content of tests/`name`.txt; with `STC_RECORD=1` it becomes the content.
#[cfg(all(debug_assertions, not(miri)))]
pub(crate) fn assert_recorded(name: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.txt"));
    if std::env::var_os("STC_RECORD").is_some() {
        std::fs::write(&path, found).expect("writable");
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let differ: Vec<String> = recorded
        .lines()
        .zip(found.lines())
        .filter(|(recorded, found)| recorded != found)
        .map(|(recorded, found)| format!("- {recorded}\n+ {found}\n"))
        .collect();
    assert!(
        recorded == found,
        "{} lines differ from tests/{name}.txt, {} recorded and {} found; record an intended change with \
         STC_RECORD=1\n{}",
        differ.len(),
        recorded.lines().count(),
        found.lines().count(),
        differ[..differ.len().min(20)].concat()
    );
}

/// The recorded outcome: the same input gives the same bytes on any machine, and a change of the encoder shows in the diff
/// of tests/chosen.txt. `STC_RECORD=1 cargo test chosen::` records it again after an intended change.
// Slow-path steps are counted with debug assertions only, and Miri would take a day.
#[cfg(all(debug_assertions, not(miri)))]
mod recorded {
    use std::collections::BTreeMap;
    use std::fmt::Write as _;

    use stc::explain::Form;
    use stc::internal::{Kernel, decoder, encoder, take_slow_steps};
    use stc::laws::minify;
    use stc::{Decoder, Encoder, Error, Format, Limits, Options};

    use super::{assert_recorded, checksum};
    use crate::corpus::files;
    use crate::laws::formats;
    use crate::random::{Random, damaged, damaged_stc, document};
    use crate::verdict::is_json;

    /// The names of the formats, in the order of [`formats`].
    const FORMATS: [&str; 4] = ["stc1", "stc2-labelled", "no-references", "stc2"];

    /// Small files whose whole texts are recorded.
    const WHOLE: [&str; 14] = [
        "scalar-string",
        "empties",
        "booleans",
        "one-row",
        "two-rows",
        "sql-rows-small",
        "users-small",
        "duplicate-keys",
        "odd-keys",
        "table-between",
        "windows",
        "error",
        "odd-object-as-a-default",
        "odd-objects-vote",
    ];

    const PREFACE: &str = "\
# What the encoder writes for the corpus and for random documents. `STC_RECORD=1 cargo test chosen::` records it.
#
# First whole texts of small files. Then one line for each file, and for each ten random documents together:
#   FORMAT BYTES ENCODING/DECODING CHECKSUM    length of the STC, slow-path steps in each direction, checksum of the bytes
#   tables shapes dictionary templates anchors how many of each `explain` reports for `stc2`
#   tokens                                     the estimate for the JSON
# Last the errors for damaged documents, with default and with strict limits: kind, how many, sum of their offsets.
";

    /// Returns the texts of documents in each format, with a summary: length, slow-path steps, checksum.
    fn encoded(documents: &[Vec<u8>]) -> [(Vec<u8>, String); 4] {
        formats(Options::default()).map(|options| {
            let kernel = *Kernel::available().last().expect("the portable kernel");
            let (mut encoder, mut decoder) = (encoder(options, kernel), decoder(options, kernel));
            take_slow_steps();
            let texts: Vec<_> = documents.iter().map(|json| encoder.encode(json).expect("JSON").to_vec()).collect();
            let encoding = take_slow_steps();
            for (stc, json) in texts.iter().zip(documents) {
                assert_eq!(decoder.decode(stc), Ok(&minify(json)[..]));
            }
            let decoding = take_slow_steps();
            let text = texts.concat();
            let summary = format!("{} {encoding}/{decoding} {:08x}", text.len(), checksum(&text));
            (text, summary)
        })
    }

    /// Returns the line of a file, or of several documents together.
    fn line(name: &str, texts: &[(Vec<u8>, String); 4], documents: &[Vec<u8>]) -> String {
        let mut line = format!("{name}:");
        for (format, (_, summary)) in FORMATS.iter().zip(texts) {
            let _ = write!(line, " {format} {summary},");
        }
        let mut explainer = Encoder::with_options(Options::default().format(Format::Stc2));
        let mut counts = [0; 5];
        for json in documents {
            let explanation = explainer.explain(json).expect("JSON");
            let tables = explanation.arrays.iter().filter(|array| array.form != Form::Plain).count();
            let named = [&explanation.shapes, &explanation.dictionary, &explanation.templates, &explanation.anchors];
            counts[0] += tables;
            counts[1..].iter_mut().zip(named).for_each(|(count, named)| *count += named.len());
        }
        let [tables, shapes, dictionary, templates, anchors] = counts;
        let tokens: u64 = documents.iter().map(|json| stc::estimate_tokens(json)).sum();
        let _ = write!(
            line,
            " tables {tables} shapes {shapes} dictionary {dictionary} templates {templates} anchors {anchors}, tokens {tokens}"
        );
        line + "\n"
    }

    /// Errors by direction and kind: how many, and the sum of their offsets.
    type Errors = BTreeMap<(&'static str, String), (u64, u64)>;

    fn count(errors: &mut Errors, direction: &'static str, error: Option<Error>) {
        let kind = error.map_or_else(|| "none".to_owned(), |error| format!("{:?}", error.kind()));
        let (number, offsets) = errors.entry((direction, kind)).or_default();
        *number += 1;
        *offsets += error.map_or(0, |error| error.offset());
    }

    /// Counts the errors for damaged documents, with default limits and with strict ones.
    fn rejections(documents: &[Vec<u8>], random: &mut Random, errors: &mut Errors) {
        let strict =
            Limits::default().depth(6).columns(5).header(60).row(80).anchors(90).ratio_after(200).ratio(4).output(900);
        for options in [Options::default(), Options::default().limits(strict)].into_iter().flat_map(formats) {
            for json in documents {
                let stc = Encoder::with_options(options.limits(Limits::default())).encode(json).expect("JSON").to_vec();
                count(errors, "decode", Decoder::with_options(options).decode(&stc).err());
                count(errors, "encode", Encoder::with_options(options).encode(json).err());
                for _ in 0..5 {
                    let (stc, json) = (damaged_stc(&stc, random), damaged(json, random));
                    count(errors, "decode", Decoder::with_options(options).decode(&stc).err());
                    count(errors, "encode", Encoder::with_options(options).encode(&json).err());
                }
            }
        }
    }

    fn outcome() -> String {
        let (mut whole, mut lines) = (String::new(), String::new());
        for (file, json) in files("made", "json").into_iter().chain(files("bugs", "json")) {
            if !is_json(&json) {
                continue;
            }
            let name = file.file_stem().expect("a name").to_str().expect("UTF-8");
            let documents = [json];
            let texts = encoded(&documents);
            lines += &line(name, &texts, &documents);
            if WHOLE.contains(&name) {
                for (format, (text, _)) in FORMATS.iter().zip(&texts) {
                    let _ = write!(whole, "== {name}, {format}\n{}\n", String::from_utf8_lossy(text));
                }
            }
        }
        let (mut random, mut errors) = (Random::new(2), Errors::new());
        for number in 0..100 {
            let documents = Vec::from_iter((0..10).map(|_| document(&mut random).into_bytes()));
            lines += &line(&format!("random {number}"), &encoded(&documents), &documents);
            rejections(&documents, &mut random, &mut errors);
        }
        let mut table = String::new();
        for ((direction, kind), (number, offsets)) in errors {
            let _ = writeln!(table, "{direction}, {kind}: {number}, offsets {offsets}");
        }
        format!("{PREFACE}\n{whole}== lengths\n{lines}== errors\n{table}")
    }

    #[test]
    fn the_outcome_is_the_recorded_one() {
        let found = outcome();
        assert_eq!(found.matches("\n== ").count(), FORMATS.len() * WHOLE.len() + 2, "a file of WHOLE is missing");
        assert_recorded("chosen", &found);
    }
}
