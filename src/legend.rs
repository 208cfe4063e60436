//! The legend: a few lines that explain the format to a model, sent once with the tools and not in every response.
//!
//! Each rule has an example that is itself valid STC, so that a test can decode what the legend shows.

use crate::options::Format;

/// Returns the lines that explain a format to a model: fewer than 150 tokens of o200k_base, with a line feed after the last.
/// JSON needs none.
///
/// ```
/// use stc::Format;
///
/// assert!(stc::legend(Format::Stc2).starts_with("STC 2"));
/// assert_eq!(stc::legend(Format::Json), "");
/// ```
pub const fn legend(format: Format) -> &'static str {
    match format {
        Format::Json => "",
        Format::Stc1 => STC1_LEGEND,
        Format::Stc2 => STC2_LEGEND,
        Format::Stc2Labelled => LABELLED_LEGEND,
    }
}

const STC1_LEGEND: &str = "\
STC is JSON with less punctuation; strings, numbers and the order of keys are unchanged. Keys are bare where possible.
{tags[2]: \"a\",\"b\"} is {\"tags\":[\"a\",\"b\"]}.
[2]{id,name}: 1,\"a\" / 2,\"b\" is an array of 2 objects with keys id and name, rows parted by \" / \".
";

const LABELLED_LEGEND: &str = "\
STC 2 is lossless JSON; keys and words have no quotes. A list of 2 objects, one a line:
items[2]{*,ok=true,at{*,unit=m}}:
{id:1,at:{n:3}}
{id:2,at:{n:6},by:ann}
key=value in the header holds for each of them.
First: {id:1,ok:true,at:{n:3,unit:\"m\"}}
{2}{*,…}: is an object; lines begin with its keys.
";

const STC2_LEGEND: &str = "\
STC 2 is lossless JSON. 2 objects:
[2]{id,tag?,ok=true,n?=0,at.{x},by{z},k~\"x${id}\"}:
1,,,3,(5)
2,\"t\",7,6,[(8)]
First: {id:1,ok:true,n:0,at:{x:3},by:{z:5},k:\"x1\"}
{2}{x}: keys first, a:1
@a{x:1} then @a(2) is {x:2}
$a=\"text\" then $a\"/1\" is \"text/1\"
&a[1] then *a is [1]
";

#[cfg(test)]
mod tests {
    use super::*;

    /// A legend, the parts of an example that it shows, the whole example, and its JSON.
    type Shown = (&'static str, &'static [&'static str], &'static str, &'static str);

    const SHOWN: [Shown; 10] = [
        (STC1_LEGEND, &["{tags[2]: \"a\",\"b\"}"], "{tags[2]: \"a\",\"b\"}", r#"{"tags":["a","b"]}"#),
        (
            STC1_LEGEND,
            &["[2]{id,name}: 1,\"a\" / 2,\"b\""],
            "[2]{id,name}: 1,\"a\" / 2,\"b\"",
            r#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#,
        ),
        (
            LABELLED_LEGEND,
            &["items[2]{*,ok=true,at{*,unit=m}}:\n{id:1,at:{n:3}}\n{id:2,at:{n:6},by:ann}\n"],
            "{items[2]{*,ok=true,at{*,unit=m}}:\n{id:1,at:{n:3}}\n{id:2,at:{n:6},by:ann}\n}",
            r#"{"items":[{"id":1,"ok":true,"at":{"n":3,"unit":"m"}},{"id":2,"ok":true,"at":{"n":6,"unit":"m"},"by":"ann"}]}"#,
        ),
        (
            LABELLED_LEGEND,
            &["{id:1,ok:true,at:{n:3,unit:\"m\"}}"],
            "{id:1,ok:true,at:{n:3,unit:\"m\"}}",
            r#"{"id":1,"ok":true,"at":{"n":3,"unit":"m"}}"#,
        ),
        (
            STC2_LEGEND,
            &["[2]{id,tag?,ok=true,n?=0,at.{x},by{z},k~\"x${id}\"}:\n1,,,3,(5)\n2,\"t\",7,6,[(8)]\n"],
            "[2]{id,tag?,ok=true,n?=0,at.{x},by{z},k~\"x${id}\"}:\n1,,,3,(5)\n2,\"t\",7,6,[(8)]\n",
            r#"[{"id":1,"ok":true,"n":0,"at":{"x":3},"by":{"z":5},"k":"x1"},{"id":2,"tag":"t","ok":true,"n":7,"at":{"x":6},"by":[{"z":8}],"k":"x2"}]"#,
        ),
        (
            STC2_LEGEND,
            &["{id:1,ok:true,n:0,at:{x:3},by:{z:5},k:\"x1\"}"],
            "{id:1,ok:true,n:0,at:{x:3},by:{z:5},k:\"x1\"}",
            r#"{"id":1,"ok":true,"n":0,"at":{"x":3},"by":{"z":5},"k":"x1"}"#,
        ),
        (STC2_LEGEND, &["{2}{x}:", "a:1"], "{2}{x}:\na:1\nb:2\n", r#"{"a":{"x":1},"b":{"x":2}}"#),
        (STC2_LEGEND, &["@a{x:1}", "@a(2) is {x:2}"], "[@a{x:1},@a(2)]", r#"[{"x":1},{"x":2}]"#),
        (STC2_LEGEND, &["$a=\"text\"", "$a\"/1\" is \"text/1\""], "$a=\"text\"\n[$a,$a\"/1\"]", r#"["text","text/1"]"#),
        (STC2_LEGEND, &["&a[1]", "*a is [1]"], "[&a[1],*a]", "[[1],[1]]"),
    ];

    #[test]
    fn the_examples_decode_to_the_json_they_show() {
        for (legend, parts, stc, json) in SHOWN {
            for part in parts {
                assert!(legend.contains(part), "{part}");
            }
            assert_eq!(crate::decode(stc.as_bytes()).as_deref(), Ok(json.as_bytes()), "{stc}");
        }
    }

    #[test]
    fn references_are_explained_only_where_they_occur() {
        assert_eq!(Format::ALL.map(legend), ["", STC1_LEGEND, STC2_LEGEND, LABELLED_LEGEND]);
        assert!(!LABELLED_LEGEND.contains(['$', '~', '@', '(']));
    }
}
