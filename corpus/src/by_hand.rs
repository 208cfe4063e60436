//! Files written by hand, each small and for one purpose: cases that a generator would produce once in a million.

/// A file: its name without the extension, a description, its text.
pub(crate) type Page = (&'static str, &'static str, &'static str);

/// All files. Every text is valid JSON (RFC 8259).
pub(crate) const PAGES: &[Page] = &[
    ("scalar-string", "one string is a whole document", "\"not an object, and it says [2]{a,b}: 1,2 / 3,4\""),
    ("scalar-number", "one number is a whole document, spaces around it", " \t-12.50E+03\r\n"),
    ("scalar-null", "one literal is a whole document", "null"),
    ("empty-object", "the smallest answer of a server", "{}"),
    ("empty-list", "a page after the last", "{\"items\": [], \"total\": 0, \"next\": null}"),
    ("empties", "empty containers and strings in every position, and rows that have no keys", EMPTIES),
    ("one-row", "arrays of one: too short for a table", ONE_ROW),
    ("two-rows", "the three examples of the format, spaced as in its definition", TWO_ROWS),
    ("number-spellings", "every spelling of a number, one by one", NUMBERS),
    ("escape-spellings", "every spelling of a character, one by one", ESCAPES),
    ("surrogates", "surrogate escapes: pairs, halves, halves the wrong way round, as values and as keys", SURROGATES),
    ("duplicate-keys", "the same key twice: beside itself, in rows, spelled in two ways", DUPLICATES),
    ("odd-keys", "keys that need quotes, and keys that look like the format's own marks", ODD_KEYS),
    ("lookalikes", "strings that look like headers, tuples, references, templates and separators", LOOKALIKES),
    ("depth-200", "arrays and objects nested two hundred deep", DEPTH),
    ("windows", "line ends of carriage return and line feed, tabs, spaces before colons", WINDOWS),
    ("ragged-table", "rows where every kind of difference between two rows occurs once", RAGGED),
    ("table-between", "tables as first, middle and last member, and one after another in an array", BETWEEN),
    ("booleans", "arrays of one type each, and of two", BOOLEANS),
    ("error", "an error answer: a problem with its details and links", ERROR),
];

const EMPTIES: &str = r#"{"a":{},"b":[],"c":"","d":[[]],"e":[{}],"f":[{},{}],"g":[[],[]],"h":{"":{}},"i":[{"x":{}},{"x":{}}],
"j":[{"x":[]},{"x":[]}],"k":[{"x":""},{"x":""}],"l":[[],{}],"m":{"n":{"o":{}}},"p":[null],"q":[null,null],"r":[[],[{}],[[]]],
"":"","s":[{"":""},{"":""}],"t":[{},{"x":1}],"u":[{"x":1},{}],"v":[""],"w":["",""]}"#;

const ONE_ROW: &str = r#"{"data":[{"id":"acct_1","owner":{"name":"Ann Baker","email":"ann@example.com"},"roles":["admin"],
"limits":[{"name":"seats","value":25}]}],"ids":[7],"ok":[true],"none":[null],"nested":[[1]],"deep":[[[{"x":[{"y":1}]}]]]}
"#;

const TWO_ROWS: &str = r#"{"plain": {"name": "foo", "api_version": "v2", "count": 42},
 "compact": {"tags": ["api", "gateway", "mcp"], "scores": [95, 87, 91]},
 "columnar": [{"id": 1, "name": "users", "method": "GET"}, {"id": 2, "name": "orders", "method": "POST"}],
 "nested": {"items": [{"id": 1, "user": {"login": "ann", "id": 7}}, {"id": 2, "user": {"login": "bob", "id": 8}}]}}
"#;

const NUMBERS: &str = r#"{"zero":[0,-0,0.0,-0.0,0e0,0E0,0e+0,0E-0,0.00e00,-0.0E-00],
"one":[1,1.0,1.00,1e0,1E0,1e+0,1e-0,10e-1,0.1e1,0.01e+2,100E-2,1.0e00],
"hundred":[100,1e2,1E2,1e+2,1E+02,1.0e2,0.1e3,1000e-1],
"small":[0.1e-7,1e-8,0.00000001,5e-324,2.2250738585072014e-308,1e-400,-1E-400],
"large":[1E+400,-1e400,1.7976931348623157e308,9007199254740991,9007199254740992,9007199254740993],
"edges":[127,128,-128,-129,255,256,32767,32768,-32768,65535,65536,2147483647,2147483648,-2147483648,-2147483649,4294967295,
4294967296,9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,18446744073709551615,
18446744073709551616],
"digits":[1234567890123456789012345678901234567890,-1234567890123456789012345678901234567890,
0.1234567890123456789012345678901234567890,3.141592653589793238462643383279502884197,1234567890.0987654321e-10],
"rows":[{"v":1,"w":1.0},{"v":1.0,"w":1},{"v":1e0,"w":-0},{"v":10,"w":0.10},{"v":1E1,"w":0.1}],"alone":-0.0e-0}
"#;

const ESCAPES: &str = r#"{"short":"\" \\ \/ \b \f \n \r \t","solidus":["/","\/","\u002f","\u002F"],
"quote":["\"","\u0022"],"backslash":["\\","\u005c","\u005C","\\\\","\\\\\\\\"],"letter":["A","\u0041","a","\u0061"],
"hex":["\u00e9","\u00E9","\uabcd","\uABCD","\uAbCd","\uaBcD"],"control":"\u0000\u0001\u0008\u000b\u000c\u000e\u001f\u007f",
"line ends":["\n","\r","\r\n","\u000a","\u000A","\u000d","\u000D","\u2028","\u2029"],"looks like one":["\\n","\\u0041","\\\"","\\\\n"],
"space":" \u0020\u00a0\u3000","both":"é = \u00e9 = e\u0301","last":"\\","last quote":"\"","run":"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"",
"\u006bey":1,"k\u0065y":2,"key":3,"a\/b":4,"a/b":5,"tab\tkey":6,"\"":7,"\\":8,"\u0000":9,
"rows":[{"path":"C:\\temp\\new","s":"\/"},{"path":"\\\\host\\share\\","s":"/"},{"path":"\u005c","s":"\u002f"}]}
"#;

const SURROGATES: &str = r#"{"pair":["\ud83d\ude00","\uD83D\uDE00","\uD83d\udE00","😀"],"high":"\ud800","low":"\udc00",
"high last":"end\ud83d","low first":"\ude00start","swapped":"\ude00\ud83d","two highs":"\ud83d\ud83d\ude00",
"high then letter":"\ud83dA","high then escape":"\ud83d\u0041","high then quote":"\ud83d\"","high then backslash":"\ud83d\\ude00",
"edges":["\ud7ff","\ud800","\udbff","\udc00","\udfff","\ue000","\udbff\udfff","\ud800\udc00"],
"\ud83d":1,"\ude00":2,"\ud83d\ude00":3,"😀":4,"rows":[{"\udfff":"\ud800"},{"\udfff":"\udfff"}]}
"#;

const DUPLICATES: &str = r#"{"id":1,"id":2,"id":{"id":3,"id":[]},"headers":{"Set-Cookie":"a=1","Set-Cookie":"b=2","Date":"now"},
"rows":[{"k":1,"k":2},{"k":3,"k":4},{"k":5,"k":6}],"one of three":[{"a":1,"b":2},{"a":3,"a":4},{"a":5,"b":6}],
"spelled":{"a":1,"\u0061":2,"a":3},"far":{"x":1,"y":{"x":2},"z":[{"x":3}],"x":4},
"optional":[{"a":1},{"a":2,"b":3},{"a":4,"b":5,"b":6}],"same value":{"v":"x","v":"x"},"":0,"":1}
"#;

const ODD_KEYS: &str = r##"{"first name":"Ann","content-type":"application/json","a.b.c":1,"a/b":2,"@type":"Person","$schema":"x","#":3,
"123":4,"1st":5,"_":6,"__proto__":{},"constructor":7,"true":true,"false":false,"null":null,"NaN":8,"Infinity":9,"key[2]":"a,b",
"{":10,"}":11,"[":12,"]":13,":":14,",":15,"a:b":16,"a,b":17,"a b":18," a":19,"a ":20,"":21,"?":22,"opt?":23,"k=v":24,"k~v":25,"@a":26,"$a":27,
"(":28,")":29,"//":30," / ":31,"é":32,"ключ":33,"キー":34,"🔑":35,"a\nb":36,"'":37,"`":38,"-":39,"A":40,"a1":41,"a_1":42,"a-1":43,
"rows":[{"first name":"Ben","2xx":1,"k=v":1,"opt?":1},{"first name":"Carla","2xx":2,"k=v":1,"opt?":1}],
"tags list":["x","y"],"my-tags":[1,2],"under_score":[true,false]}
"##;

const LOOKALIKES: &str = r#"{"log":["[2]{id,name}: 1,\"a\" / 2,\"b\"","[2]{id}:\n1\n2\n","{2}{a}:\nx:1\ny:2\n","[2][2]:\n1,2\n3,4\n","tags[3]: 1,2,3"],
"labels":["@a","@a{x:1}","@a(1)","$a","$a\"/x\"","$a=\"https://example.com\"","${id}","${","a ${id} b","(1,2)","()","~","=","?"],
"rows":[{"id":1,"text":" / ","url":"https://example.com/${id}"},{"id":2,"text":"1,2 / 3,4","url":"https://example.com/2"},
{"id":3,"text":"\n3,\"x\"\n","url":"https://example.com/3"},{"id":4,"text":"null","url":"https://example.com/4"}],
"typed":["1","1.0","true","null","","{}","[]","\"quoted\"","-0"],"mixed":["1",1,"true",true,"null",null],
"separators":[",",":","/"," / ",", ",": ","\\","\"","\n"],"json":"{\"a\":[1,2,{\"b\":\"c\\\"d\"}]}"}
"#;

const WINDOWS: &str = "{\r\n\t\"report\" : \"Orders\",\r\n\t\"rows\" : [\r\n\t\t{ \"id\" : 1 , \"path\" : \"C:\\\\exports\\\\1.csv\" } ,\r\n\
\t\t{ \"id\" : 2 , \"path\" : \"C:\\\\exports\\\\2.csv\" } ,\r\n\t\t{ \"id\" : 3 , \"path\" : \"\\\\\\\\files\\\\share\\\\3.csv\" }\r\n\t] ,\r\n\
\t\"lines\" : [ \"a\\r\\nb\" , \"\\tc\" ] ,\r\n\r\n\t\"empty\" : { } ,\r\n\t\"none\" : [ ] ,\r\n\t\"odd\" : [\t1\t,\n2\r,\r\n3 ]\r\n}\r\n";

const RAGGED: &str = r#"{"same":[{"a":1,"b":2},{"a":3,"b":4}],"missing last":[{"a":1,"b":2},{"a":3}],"missing first":[{"a":1,"b":2},{"b":3}],
"extra":[{"a":1},{"a":2,"b":3}],"swapped":[{"a":1,"b":2},{"b":3,"a":4}],"cycle":[{"a":1,"b":2},{"b":3,"c":4},{"c":5,"a":6}],
"scalar among":[{"a":1},7,{"a":2}],"null among":[{"a":1},null,{"a":2}],"array among":[{"a":1},[1],{"a":2}],
"nested sometimes":[{"a":{"x":1}},{"a":{"x":2}},{"a":null}],"nested or not":[{"a":{"x":1}},{"a":5},{"a":"x"}],
"list sometimes":[{"a":[{"x":1}]},{"a":[]},{"a":[{"x":2},{"x":3}]}],"list of two":[{"a":[{"x":1},{"y":2}]},{"a":[{"x":1,"y":2}]}],
"constant":[{"t":"user","v":1},{"t":"user","v":2},{"t":"user","v":3}],"all constant":[{"t":"user"},{"t":"user"},{"t":"user"}],
"nested constant":[{"a":{"t":1}},{"a":{"t":1}}],"nearly constant":[{"t":"x"},{"t":"x"},{"t":"y"}],
"optional null":[{"a":1,"b":null},{"a":2},{"a":3,"b":null}],"only optional":[{"a":1},{"b":2},{"c":3}],"empty among":[{"a":1},{},{"a":2}],
"types":[{"v":1},{"v":"1"},{"v":true},{"v":null},{"v":1.0},{"v":[]},{"v":{}}],"single key":[{"k":"a"},{"k":"b"}],
"deep":[{"a":{"b":{"c":{"d":1}}}},{"a":{"b":{"c":{"d":2}}}},{"a":{"b":{"c":{}}}}]}
"#;

const BETWEEN: &str = r#"{"first":[{"id":1,"v":"a"},{"id":2,"v":"b"},{"id":3,"v":"c"}],"n":5,"middle":[{"x":1.5,"y":-2},{"x":2.5,"y":-3},{"x":3.5,"y":-4}],
"s":"between","lists":[[{"id":1,"v":"a"},{"id":2,"v":"b"}],[{"id":3,"v":"c"},{"id":4,"v":"d"}],[],[{"id":5,"v":"e"},{"id":6,"v":"f"}]],
"wrapped":{"page":{"rows":[{"id":1,"ok":true},{"id":2,"ok":false}],"next":2}},"pair":[[[{"q":1},{"q":2}]],{"rows":[{"q":3},{"q":4}]}],
"last":[{"id":1,"v":"a"},{"id":2,"v":"b"},{"id":3,"v":"c"}]}
"#;

const BOOLEANS: &str = r#"{"flags":[true,false,true,true],"ints":[3,1,4,1,5],"floats":[0.5,1.25,-2.0],"both numbers":[1,2.5,3],"words":["a","b"],
"with null":[true,null,false],"number and text":[1,"1"],"number and flag":[1,true],"nulls":[null,null,null],"one":[true],"none":[],
"nested":[[true,false],[false,true]],"ragged":[[1],[1,2],[1,2,3],[]],"long":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]}
"#;

const ERROR: &str = r#"{
    "type": "https://errors.example.com/validation",
    "title": "Your request is not valid",
    "status": 422,
    "detail": "2 of 3 fields were refused: \"email\" and 'seats' (see <https://docs.example.com/errors#422>)",
    "instance": "/v1/accounts/acct_7/invite",
    "errors": [
        {"pointer": "/email", "code": "format", "message": "must be an address", "given": "ann(at)example.com"},
        {"pointer": "/seats", "code": "range", "message": "must be between 1 and 500", "given": 5e3}
    ],
    "trace_id": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "retry_after": null
}
"#;

/// 200 nested containers: fifty times two arrays and two objects, with a number in the middle.
const DEPTH: &str = concat_depth();

const fn concat_depth() -> &'static str {
    const UNIT: &[u8] = b"[{\"a\":[{\"b\":";
    const END: &[u8] = b"}]}]";
    const LENGTH: usize = 50 * (UNIT.len() + END.len()) + 1;
    const BYTES: [u8; LENGTH] = {
        let mut bytes = [b'7'; LENGTH];
        let mut i = 0;
        while i < 50 * UNIT.len() {
            bytes[i] = UNIT[i % UNIT.len()];
            i += 1;
        }
        let mut i = 0;
        while i < 50 * END.len() {
            bytes[50 * UNIT.len() + 1 + i] = END[i % END.len()];
            i += 1;
        }
        bytes
    };
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("ASCII is UTF-8"),
    }
}
