//! What to tell a model about the format: a few lines, said once, beside the tools and not in every response.
//!
//! Each rule stands beside an example that is itself the format, so that a test can decode what the legend shows.

use crate::options::Version;

/// The lines that explain a version to a model, the last one ended by a line feed: fewer than 150 tokens of o200k_base.
/// `references` is that of [`Options::references`](crate::Options::references), and means nothing to version 1.
pub const fn legend(version: Version, references: bool) -> &'static str {
    match (version, references) {
        (Version::V1, _) => V1,
        (Version::V2, false) => V2,
        (Version::V2, true) => REFERENCES,
    }
}

const V1: &str = "\
STC is JSON with less punctuation; strings, numbers and the order of keys are unchanged. Keys are bare where possible.
{tags[2]: \"a\",\"b\"} is {\"tags\":[\"a\",\"b\"]}.
[2]{id,name}: 1,\"a\" / 2,\"b\" is an array of 2 objects with keys id and name, rows parted by \" / \".
";

const V2: &str = "\
STC 2 is lossless JSON. A table of 2 objects, a line each:
[2]{id,tag?,ok=true,n?=0,by{name,age}}:
1,\"x\",,(\"Ann\",5)
2,,7,[(\"Bo\",6)]
Empty cell: tag absent, n is 0. All rows have ok=true, without a cell. (..) is an object with by's keys.
{2}{x,y}: is an object, each line begins with the key: a:1,2
@a{x:1,y:2} then @a(3,4) is {x:3,y:4}
";

/// Tighter where it says the same, so that there is room for the rest.
const REFERENCES: &str = "\
STC 2 is lossless JSON. Table of 2 objects:
[2]{id,tag?,ok=true,n?=0,by{name}}:
1,\"x\",,(\"Ann\")
2,,7,[(\"Bo\")]
Empty cell: tag absent, n is 0. All rows have ok=true. (..) is an object with by's keys.
{2}{x,y}: keys first, a:1,2
@a{x:1} then @a(2) is {x:2}
$a=\"text\" then $a\"/1\" is \"text/1\"
k~\"x${id}\" has the row's id
&a[1] then *a is [1]
";

#[cfg(test)]
mod tests {
    use super::*;

    /// A legend, what it shows of an example, the example, and its JSON.
    type Shown = (&'static str, &'static [&'static str], &'static str, &'static str);

    const SHOWN: [Shown; 11] = [
        (V1, &["{tags[2]: \"a\",\"b\"}"], "{tags[2]: \"a\",\"b\"}", r#"{"tags":["a","b"]}"#),
        (
            V1,
            &["[2]{id,name}: 1,\"a\" / 2,\"b\""],
            "[2]{id,name}: 1,\"a\" / 2,\"b\"",
            r#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#,
        ),
        (
            V2,
            &["[2]{id,tag?,ok=true,n?=0,by{name,age}}:\n1,\"x\",,(\"Ann\",5)\n2,,7,[(\"Bo\",6)]\n"],
            "[2]{id,tag?,ok=true,n?=0,by{name,age}}:\n1,\"x\",,(\"Ann\",5)\n2,,7,[(\"Bo\",6)]\n",
            r#"[{"id":1,"tag":"x","ok":true,"n":0,"by":{"name":"Ann","age":5}},{"id":2,"ok":true,"n":7,"by":[{"name":"Bo","age":6}]}]"#,
        ),
        (V2, &["{2}{x,y}:", "a:1,2"], "{2}{x,y}:\na:1,2\nb:3,4\n", r#"{"a":{"x":1,"y":2},"b":{"x":3,"y":4}}"#),
        (V2, &["@a{x:1,y:2}", "@a(3,4) is {x:3,y:4}"], "[@a{x:1,y:2},@a(3,4)]", r#"[{"x":1,"y":2},{"x":3,"y":4}]"#),
        (
            REFERENCES,
            &["[2]{id,tag?,ok=true,n?=0,by{name}}:\n1,\"x\",,(\"Ann\")\n2,,7,[(\"Bo\")]\n"],
            "[2]{id,tag?,ok=true,n?=0,by{name}}:\n1,\"x\",,(\"Ann\")\n2,,7,[(\"Bo\")]\n",
            r#"[{"id":1,"tag":"x","ok":true,"n":0,"by":{"name":"Ann"}},{"id":2,"ok":true,"n":7,"by":[{"name":"Bo"}]}]"#,
        ),
        (REFERENCES, &["{2}{x,y}:", "a:1,2"], "{2}{x,y}:\na:1,2\nb:3,4\n", r#"{"a":{"x":1,"y":2},"b":{"x":3,"y":4}}"#),
        (REFERENCES, &["@a{x:1}", "@a(2) is {x:2}"], "[@a{x:1},@a(2)]", r#"[{"x":1},{"x":2}]"#),
        (REFERENCES, &["$a=\"text\"", "$a\"/1\" is \"text/1\""], "$a=\"text\"\n[$a,$a\"/1\"]", r#"["text","text/1"]"#),
        (REFERENCES, &["k~\"x${id}\""], "[1]{id,k~\"x${id}\"}:\n7\n", r#"[{"id":7,"k":"x7"}]"#),
        (REFERENCES, &["&a[1]", "*a is [1]"], "[&a[1],*a]", "[[1],[1]]"),
    ];

    /// What the legend shows is what the decoder reads.
    #[test]
    fn the_examples_are_the_format() {
        for (legend, pieces, stc, json) in SHOWN {
            for piece in pieces {
                assert!(legend.contains(piece), "{piece}");
            }
            assert_eq!(crate::decode(stc.as_bytes()).as_deref(), Ok(json.as_bytes()), "{stc}");
        }
    }

    #[test]
    fn references_are_explained_only_where_they_occur() {
        assert_eq!([legend(Version::V2, false), legend(Version::V2, true)], [V2, REFERENCES]);
        assert!(!V2.contains(['$', '~', '&', '*']));
        assert_eq!([legend(Version::V1, true), legend(Version::V1, false)], [V1, V1]);
    }
}
