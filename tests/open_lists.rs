//! What `stc2-labelled` writes: rows that keep their keys, under a header that holds what they share (STC.md, section 17.10).

use stc::explain::Form;
use stc::{Encoder, Format, Options, laws};

use crate::random::{Choices, Random, rounds};

fn options() -> Options {
    Options::default().format(Format::Stc2Labelled)
}

/// What each text shows, the JSON, and its STC 2.
const CHOSEN: [(&str, &str, &str); 11] = [
    (
        "a constant stands before the key after it",
        r#"{"total":3,"items":[{"id":1,"state":"open","title":"a"},{"id":2,"state":"open","title":"b"},{"id":3,"state":"open","title":"c"}],"next":null}"#,
        "{total:3,items[3]{*,state=open,title}:\n{id:1,title:a}\n{id:2,title:b}\n{id:3,title:c}\nnext:null}",
    ),
    (
        "constants at the end need no key after them",
        r#"[{"id":1,"state":"open","type":"issue"},{"id":2,"state":"open","type":"issue"},{"id":3,"state":"open","type":"issue"}]"#,
        "[3]{*,state=open,type=issue}:\n{id:1}\n{id:2}\n{id:3}\n",
    ),
    (
        "keys that may come directly after a constant are named, up to one that all rows have",
        r#"[{"state":"opened","a":1,"b":1},{"state":"opened","c":1,"b":2},{"state":"opened","b":3,"d":4},{"state":"opened","b":5}]"#,
        "[4]{*,state=opened,c,a,b}:\n{a:1,b:1}\n{c:1,b:2}\n{b:3,d:4}\n{b:5}\n",
    ),
    (
        "rows in another order share a constant that stands before the same key",
        r#"[{"x":1,"y":2,"kind":"abc","z":1},{"y":1,"x":2,"kind":"abc","z":2},{"x":3,"y":3,"kind":"abc","z":3}]"#,
        "[3]{*,kind=abc,z}:\n{x:1,y:2,z:1}\n{y:1,x:2,z:2}\n{x:3,y:3,z:3}\n",
    ),
    (
        "a constant before a key that is out of order in another row stays in its rows",
        r#"[{"kind":"the same","x":1,"y":2,"also":"the same long text, in each of the rows"},{"kind":"the same","y":1,"x":2,"also":"the same long text, in each of the rows"}]"#,
        "[2]{*,also=\"the same long text, in each of the rows\"}:\n{kind:\"the same\",x:1,y:2}\n{kind:\"the same\",y:1,x:2}\n",
    ),
    (
        "objects that all have the same keys keep them too, in arrays too",
        r#"[{"id":1,"state":"open","owner":{"login":"ann","type":"User","site_admin":false},"labels":[{"name":"bug"},{"name":"ui"}]},{"id":2,"state":"open","owner":{"login":"bob","type":"User","site_admin":false},"labels":[]},{"id":3,"state":"open","owner":{"login":"eve","type":"User","site_admin":false},"labels":[{"name":"doc"}]}]"#,
        "[3]{*,state=open,owner{*,type=User,site_admin=false}}:\n{id:1,owner:{login:ann},labels:[{name:bug},{name:ui}]}\n{id:2,owner:{login:bob},labels:[]}\n{id:3,owner:{login:eve},labels:[{name:doc}]}\n",
    ),
    (
        "objects that do not are written with their keys, and their list is open",
        r#"[{"id":1,"owner":{"login":"ann","type":"User","site_admin":false}},{"id":2,"owner":{"login":"bob","type":"User","site_admin":false,"name":null}},{"id":3,"owner":null},{"id":4,"owner":{"login":"eve","type":"User","site_admin":false}}]"#,
        "[4]{*,owner{*,type=User,site_admin=false,name}}:\n{id:1,owner:{login:ann}}\n{id:2,owner:{login:bob,name:null}}\n{id:3,owner:null}\n{id:4,owner:{login:eve}}\n",
    ),
    (
        "an object of objects is a keyed table",
        r#"{"services":{"web":{"image":"nginx","restart":"always"},"db":{"image":"postgres","restart":"always"},"job":{"image":"worker","restart":"always"}}}"#,
        "{services{3}{*,restart=always}:\nweb:{image:nginx}\ndb:{image:postgres}\njob:{image:worker}\n}",
    ),
    (
        "rows that share nothing are no table",
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"},{"id":3,"name":"eve"}]"#,
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"},{"id":3,"name":"eve"}]"#,
    ),
    (
        "objects in every row share what is constant in them",
        r#"[{"k":{"a":1,"b":1,"always":"the same text"}},{"k":{"a":2,"b":2,"always":"the same text"}},{"k":{"a":3,"b":3,"always":"the same text"}}]"#,
        "[3]{*,k{*,always=\"the same text\"}}:\n{k:{a:1,b:1}}\n{k:{a:2,b:2}}\n{k:{a:3,b:3}}\n",
    ),
    (
        "an empty object keeps its column without a list",
        r#"[{"id":1,"state":"open","k":{"a":"the same text"}},{"id":2,"state":"open","k":{}},{"id":3,"state":"open","k":{"a":"the same text"}}]"#,
        "[3]{*,state=open,k}:\n{id:1,k:{a:\"the same text\"}}\n{id:2,k:{}}\n{id:3,k:{a:\"the same text\"}}\n",
    ),
];

#[test]
fn small_documents() {
    let mut encoder = Encoder::with_options(options());
    for (why, json, expected) in CHOSEN {
        let stc = encoder.encode(json.as_bytes()).expect("JSON");
        assert_eq!(String::from_utf8_lossy(stc), expected, "{why}");
        assert_eq!(stc::decode(stc).as_deref(), Ok(json.as_bytes()), "{why}");
    }
}

/// What rows share is found wherever in the table it begins, also after many rows that share nothing.
#[test]
fn a_table_does_not_depend_on_its_first_rows() {
    let flat = |id: usize| format!(r#"{{"id":{id},"title":"t {id}"}}"#);
    let nested = |id: usize| {
        let error = format!(r#"{{"code":{id},"kind":"Timeout","service":"billing","region":"eu-west-1"}}"#);
        format!(r#"{{"id":{id},"title":"t {id}","error":{error}}}"#)
    };
    let mut encoder = Encoder::with_options(options());
    let mut length = |rows: &[String]| {
        let json = format!("[{}]", rows.join(","));
        laws::round_trip(json.as_bytes(), options()).expect("JSON");
        let explained = encoder.explain(json.as_bytes()).expect("JSON");
        assert_eq!(explained.arrays.first().map(|array| array.form), Some(Form::Table));
        encoder.encode(json.as_bytes()).expect("JSON").len()
    };
    let flat_first: Vec<String> = (0..100).map(flat).chain((100..400).map(nested)).collect();
    let nested_first: Vec<String> = (100..400).map(nested).chain((0..100).map(flat)).collect();
    assert_eq!(length(&flat_first), length(&nested_first));
}

/// Rows with keys left out and in any order, objects inside them likewise, and few different values: whatever the order, the
/// document comes back, and what all rows share is mostly found.
#[test]
fn rows_in_any_order_come_back() {
    const KEYS: [&str; 7] = ["id", "state", "kind", "user", "a b", "note", "at"];
    const VALUES: [&str; 4] = [r#""the same text here""#, "1", "null", "[1,2]"];
    fn object(random: &mut Random, depth: usize, constants: usize, shuffled: bool) -> String {
        let mut keys: Vec<usize> = (0..KEYS.len()).filter(|&key| key < constants || !random.one_in(4)).collect();
        if shuffled {
            for _ in 0..2 {
                let (one, other) = (random.below(keys.len()), random.below(keys.len()));
                keys.swap(one, other);
            }
        }
        let member = |key: usize, random: &mut Random| {
            let value = match key {
                _ if key < constants => VALUES[key % 2].to_owned(),
                3 if depth > 0 && random.one_in(2) => object(random, depth - 1, 1, shuffled),
                3 if depth > 0 => format!("[{},3,{}]", object(random, 0, 2, shuffled), object(random, 0, 2, shuffled)),
                _ if random.one_in(2) => random.below(1000).to_string(),
                _ => random.pick(&VALUES).to_owned(),
            };
            format!("\"{}\":{value}", KEYS[key])
        };
        let members: Vec<String> = keys.into_iter().map(|key| member(key, random)).collect();
        format!("{{{}}}", members.join(","))
    }
    let mut encoder = Encoder::with_options(options());
    let (mut tables, mut with_constants) = (0, 0);
    for seed in 0..rounds(3000) {
        let random = &mut Random::new(seed as u64);
        let (constants, shuffled) = (random.below(3), random.one_in(2));
        let rows: Vec<String> = (0..2 + random.below(6)).map(|_| object(random, 2, constants, shuffled)).collect();
        let json = format!("{{\"rows\":[{}]}}", rows.join(","));
        laws::round_trip(json.as_bytes(), options()).expect("JSON");
        let explained = encoder.explain(json.as_bytes()).expect("JSON");
        let table = explained.arrays.iter().find(|array| array.form == Form::Table);
        tables += usize::from(table.is_some());
        with_constants += usize::from(table.is_some_and(|table| table.header.contains("state=1")));
    }
    assert!(tables > rounds(3000) / 3, "{tables}");
    assert!(with_constants > rounds(3000) / 20, "{with_constants}");
}
