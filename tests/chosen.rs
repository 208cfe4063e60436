//! What the encoder of version 2 chooses, on documents so small that one sees why. Changed on purpose only: what is chosen
//! is what readers get.

use stc::{Encoder, Options, Version};

/// Why, the JSON, the text and, if that is another, the text with references.
type Chosen = (&'static str, &'static str, &'static str, Option<&'static str>);

const CHOSEN: [Chosen; 40] = [
    ("two rows save too little", r#"[{"a":1},{"a":2}]"#, r#"[{"a":1},{"a":2}]"#, None),
    ("one row is no table", r#"[{"a":1}]"#, r#"[{"a":1}]"#, None),
    (
        "short keys, short rows",
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"}]"#,
        r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"}]"#,
        None,
    ),
    (
        "the same, keyed",
        r#"{"x":{"id":1,"name":"ann"},"y":{"id":2,"name":"bob"}}"#,
        r#"{"x":{"id":1,"name":"ann"},"y":{"id":2,"name":"bob"}}"#,
        None,
    ),
    (
        "a constant",
        r#"[{"id":1,"state":"open"},{"id":2,"state":"open"},{"id":3,"state":"open"}]"#,
        "[3]{id,state=\"open\"}:\n1\n2\n3\n",
        None,
    ),
    (
        "a key that is not everywhere",
        r#"[{"id":1,"state":"open"},{"id":2},{"id":3,"state":"shut"}]"#,
        "[3]{id,state?}:\n1,\"open\"\n2,\n3,\"shut\"\n",
        None,
    ),
    (
        "a default",
        r#"[{"id":1,"kind":"issue"},{"id":2,"kind":"issue"},{"id":3,"kind":"pull request"},{"id":4,"kind":"issue"}]"#,
        "[4]{id,kind?=\"issue\"}:\n1,\n2,\n3,\"pull request\"\n4,\n",
        None,
    ),
    (
        "a splice",
        r#"[{"id":1,"at":{"x":1,"y":2}},{"id":2,"at":{"x":3,"y":4}}]"#,
        "[2]{id,at.{x,y}}:\n1,1,2\n2,3,4\n",
        None,
    ),
    (
        "tuples, since one row has none",
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
    ("two orders are none", r#"[{"b":1,"a":2},{"a":3,"b":4}]"#, r#"[{"b":1,"a":2},{"a":3,"b":4}]"#, None),
    (
        "an order of its own, in a tuple's place",
        r#"[{"id":1,"by":{"name":"ann","age":7}},{"id":2,"by":{"age":8,"name":"bob"}},{"id":3,"by":{"name":"cy","age":9}}]"#,
        "[3]{id,by{name,age}}:\n1,(\"ann\",7)\n2,{age:8,name:\"bob\"}\n3,(\"cy\",9)\n",
        None,
    ),
    ("keys that repeat", r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, r#"[{"a":1,"a":2},{"a":3,"a":4}]"#, None),
    ("an empty object as a constant", r#"[{"id":1,"none":{}},{"id":2,"none":{}}]"#, "[2]{id,none={}}:\n1\n2\n", None),
    (
        "empty objects are no tuples",
        r#"[{"id":1,"some":{}},{"id":2,"some":{"key":1}},{"id":3,"some":{"key":2}}]"#,
        "[3]{id,some}:\n1,{}\n2,{key:1}\n3,{key:2}\n",
        None,
    ),
    (
        "nor are they where every key may be absent, and one object has an order of its own",
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
        r#"[[@a{name:"ann",email:"ann@example.org",active:true},1],[@a("bob","bob@example.org",false),2]]"#,
        None,
    ),
    (
        "addresses",
        r#"["https://example.org/some/way/to/go/1","https://example.org/some/way/to/go/2","https://example.org/some/way/to/go/3","https://example.org/some/way/to/go/4"]"#,
        r#"["https://example.org/some/way/to/go/1","https://example.org/some/way/to/go/2","https://example.org/some/way/to/go/3","https://example.org/some/way/to/go/4"]"#,
        Some("$a=\"https://example.org/some/way/to/go\"\n[$a\"/1\",$a\"/2\",$a\"/3\",$a\"/4\"]"),
    ),
    (
        "a copy, which saves more than a shape",
        r#"{"a":{"login":"somebody","id":12345,"site":"https://example.org"},"b":1,"c":[{"login":"somebody","id":12345,"site":"https://example.org"}]}"#,
        r#"{a:@a{login:"somebody",id:12345,site:"https://example.org"},b:1,c:[@a("somebody",12345,"https://example.org")]}"#,
        Some(r#"{a:&a{login:"somebody",id:12345,site:"https://example.org"},b:1,c:[*a]}"#),
    ),
    (
        "a template",
        r#"[{"id":1,"url":"https://example.org/items/1"},{"id":2,"url":"https://example.org/items/2"},{"id":3,"url":"https://example.org/items/3"}]"#,
        "[3]{id,url}:\n1,\"https://example.org/items/1\"\n2,\"https://example.org/items/2\"\n3,\"https://example.org/items/3\"\n",
        Some("[3]{id,url~\"https://example.org/items/${id}\"}:\n1\n2\n3\n"),
    ),
    (
        "a default in a splice; with names, a template and a copy",
        r#"[{"id":1,"by":{"login":"ann","home":"https://example.org/ann"}},{"id":2,"by":{"login":"bob","home":"https://example.org/bob"}},{"id":3,"by":{"login":"ann","home":"https://example.org/ann"}}]"#,
        "[3]{id,by.{login?=\"ann\",home?=\"https://example.org/ann\"}}:\n1,,\n2,\"bob\",\"https://example.org/bob\"\n3,,\n",
        Some("[3]{id,by{login,home~\"https://example.org/${login}\"}}:\n1,&a(\"ann\")\n2,(\"bob\")\n3,*a\n"),
    ),
    (
        "arrays in cells",
        r#"[{"id":1,"tags":["a","b"],"box":[[1,2],[3,4]]},{"id":2,"tags":[],"box":[[5,6],[7,8]]}]"#,
        "[2]{id,tags,box}:\n1,[\"a\",\"b\"],[[1,2],[3,4]]\n2,[],[[5,6],[7,8]]\n",
        None,
    ),
    ("nothing to do", r#"[1,2,3]"#, r#"[1,2,3]"#, None),
    ("nothing to do", r#""text""#, r#""text""#, None),
    ("nothing to do", r#"{}"#, r#"{}"#, None),
    ("nothing to do", r#"[]"#, r#"[]"#, None),
    ("nothing to do", r#"{"only":1}"#, r#"{"only":1}"#, None),
    (
        "a key that is not bare",
        r#"[{"key with spaces":1,"ok":null},{"key with spaces":2,"ok":null}]"#,
        "[2]{\"key with spaces\",ok=null}:\n1\n2\n",
        None,
    ),
    (
        "tables that do not pay",
        r#"{"rows":[{"n":1},{"n":2},{"n":3}],"more":[{"n":4},{"n":5},{"n":6}],"end":0}"#,
        r#"{"rows":[{"n":1},{"n":2},{"n":3}],"more":[{"n":4},{"n":5},{"n":6}],"end":0}"#,
        None,
    ),
    (
        "a part of 14 bytes is long enough",
        r#"["https://ab.cde/1/and/so/on/0","https://ab.cde/7920/and/so/on/1","https://ab.cde/15839/and/so/on/2","https://ab.cde/23758/and/so/on/3","https://ab.cde/31677/and/so/on/4","https://ab.cde/39596/and/so/on/5"]"#,
        r#"["https://ab.cde/1/and/so/on/0","https://ab.cde/7920/and/so/on/1","https://ab.cde/15839/and/so/on/2","https://ab.cde/23758/and/so/on/3","https://ab.cde/31677/and/so/on/4","https://ab.cde/39596/and/so/on/5"]"#,
        Some(
            "$a=\"https://ab.cde\"\n[$a\"/1/and/so/on/0\",$a\"/7920/and/so/on/1\",$a\"/15839/and/so/on/2\",$a\"/23758/and/so/on/3\",$a\"/31677/and/so/on/4\",$a\"/39596/and/so/on/5\"]",
        ),
    ),
    (
        "one of 13 is not",
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
        "one of 40 is not",
        r#"["the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy."]"#,
        r#"["the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy.","the quick brown fox jumps over the lazy."]"#,
        Some("$a=\"the quick brown fox jumps over the lazy.\"\n[$a,$a,$a]"),
    ),
    (
        "objects of an array in an array are no tuples, and have a shape",
        r#"[{"id":0,"m":[[{"alphabet":0,"betatron":1,"gammaray":2},{"alphabet":3,"betatron":4,"gammaray":5}]]},{"id":1,"m":[[{"alphabet":10,"betatron":11,"gammaray":12},{"alphabet":13,"betatron":14,"gammaray":15}]]},{"id":2,"m":[[{"alphabet":20,"betatron":21,"gammaray":22},{"alphabet":23,"betatron":24,"gammaray":25}]]}]"#,
        "[3]{id,m}:\n0,[[@a{alphabet:0,betatron:1,gammaray:2},@a(3,4,5)]]\n1,[[@a(10,11,12),@a(13,14,15)]]\n2,[[@a(20,21,22),@a(23,24,25)]]\n",
        None,
    ),
    (
        "the same beside one that is a tuple",
        r#"[{"id":0,"m":[{"k":0},[{"alphabet":0,"betatron":1,"gammaray":2},{"alphabet":3,"betatron":4,"gammaray":5}]]},{"id":1,"m":[{"k":1},[{"alphabet":10,"betatron":11,"gammaray":12},{"alphabet":13,"betatron":14,"gammaray":15}]]},{"id":2,"m":[{"k":2},[{"alphabet":20,"betatron":21,"gammaray":22},{"alphabet":23,"betatron":24,"gammaray":25}]]}]"#,
        "[3]{id,m{k}}:\n0,[(0),[@a{alphabet:0,betatron:1,gammaray:2},@a(3,4,5)]]\n1,[(1),[@a(10,11,12),@a(13,14,15)]]\n2,[(2),[@a(20,21,22),@a(23,24,25)]]\n",
        None,
    ),
    (
        "objects further down than tables look have one too",
        r#"[{"id":0,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":0,"betatron":1,"gammaray":2},"y":{"alphabet":5,"betatron":6,"gammaray":7}}}}}}}}}}}}}}}}}}}},{"id":1,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":10,"betatron":11,"gammaray":12},"y":{"alphabet":15,"betatron":16,"gammaray":17}}}}}}}}}}}}}}}}}}}},{"id":2,"m":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"n":{"z":{"alphabet":20,"betatron":21,"gammaray":22},"y":{"alphabet":25,"betatron":26,"gammaray":27}}}}}}}}}}}}}}}}}}}}]"#,
        "[3]{id,m.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n.{n}}}}}}}}}}}}}}}}}:\n0,{n:@a{z:@b{alphabet:0,betatron:1,gammaray:2},y:@b(5,6,7)}}\n1,{n:@a(@b(10,11,12),@b(15,16,17))}\n2,{n:@a(@b(20,21,22),@b(25,26,27))}\n",
        None,
    ),
    (
        "one object that comes again is not worth the splice of all",
        r#"[{"id":0,"at":{"x":300,"y":"k0z"}},{"id":1,"at":{"x":301,"y":"k7z"}},{"id":2,"at":{"x":304,"y":"k14z"}},{"id":3,"at":{"x":309,"y":"k21z"}},{"id":4,"at":{"x":316,"y":"k28z"}},{"id":5,"at":{"x":325,"y":"k35z"}},{"id":6,"at":{"x":304,"y":"k14z"}},{"id":7,"at":{"x":349,"y":"k49z"}},{"id":8,"at":{"x":364,"y":"k56z"}}]"#,
        "[9]{id,at.{x,y}}:\n0,300,\"k0z\"\n1,301,\"k7z\"\n2,304,\"k14z\"\n3,309,\"k21z\"\n4,316,\"k28z\"\n5,325,\"k35z\"\n6,304,\"k14z\"\n7,349,\"k49z\"\n8,364,\"k56z\"\n",
        None,
    ),
    (
        "a long one is worth what little the others cost",
        r#"{"before":{"w0":"29c093ccd369cf","w1":"37ab6fbbc48d14","w2":"45964baab5b059","w3":"53812799a6d39e","w4":"616c038897f6e3"},"after":{"w0":"29c093ccd369cf","w1":"37ab6fbbc48d14","w2":"45964baab5b059","w3":"53812799a6d39e","w4":"616c038897f6e3"},"l0":[{"f0":0}],"l1":[{"f1":0}],"l2":[{"f2":0}]}"#,
        "{before:@a{w0:\"29c093ccd369cf\",w1:\"37ab6fbbc48d14\",w2:\"45964baab5b059\",w3:\"53812799a6d39e\",w4:\"616c038897f6e3\"},after:@a(\"29c093ccd369cf\",\"37ab6fbbc48d14\",\"45964baab5b059\",\"53812799a6d39e\",\"616c038897f6e3\"),l0:[{f0:0}],l1:[{f1:0}],l2:[{f2:0}]}",
        Some(
            "{before:&a{w0:\"29c093ccd369cf\",w1:\"37ab6fbbc48d14\",w2:\"45964baab5b059\",w3:\"53812799a6d39e\",w4:\"616c038897f6e3\"},after:*a,l0:[{f0:0}],l1:[{f1:0}],l2:[{f2:0}]}",
        ),
    ),
];

#[test]
fn what_is_chosen() {
    for (why, json, plain, named) in CHOSEN {
        for (references, expected) in [(false, plain), (true, named.unwrap_or(plain))] {
            let options = Options::default().version(Version::V2).references(references);
            let mut encoder = Encoder::with_options(options);
            let stc = encoder.encode(json.as_bytes()).expect("JSON");
            assert_eq!(String::from_utf8_lossy(stc), expected, "{why}, references: {references}");
            assert_eq!(stc::decode(stc).as_deref(), Ok(json.as_bytes()), "{why}");
        }
    }
}

/// Same input, same bytes: on any machine, and from one change of the code to the next unless it says so. And what is
/// common is sprinted through. What comes of the corpus and of random documents, sound and damaged, is in tests/chosen.txt;
/// `STC_RECORD=1 cargo test chosen::` records anew what was changed on purpose, and the numbers show what it did.
// Steps are counted with debug assertions only, and Miri would take a day.
#[cfg(all(debug_assertions, not(miri)))]
mod recorded {
    use std::path::Path;

    use stc::internal::{Kernel, decoder, encoder, walked};
    use stc::laws::minify;
    use stc::{Decoder, Encoder, Limits, Options};

    use crate::corpus::files;
    use crate::laws::versions;
    use crate::random::{Random, damaged, damaged_stc, document};
    use crate::verdict::is_json;

    /// FNV-1a: small, and the same everywhere.
    fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    }

    /// Of documents in every version: how long they are together, a hash of the texts, and how many steps no sprint took
    /// while they were encoded and decoded. Then a hash of how all that is explained, and the tokens that the
    /// JSON is estimated at.
    fn come_out(documents: &[Vec<u8>]) -> String {
        let outcome = versions(Options::default()).map(|options| {
            let kernel = *Kernel::available().last().expect("the portable one");
            let (mut encoder, mut decoder) = (encoder(options, kernel), decoder(options, kernel));
            walked();
            let stc: Vec<_> = documents.iter().map(|json| encoder.encode(json).expect("JSON").to_vec()).collect();
            let encoding = walked();
            for (stc, json) in stc.iter().zip(documents) {
                assert_eq!(decoder.decode(stc), Ok(&minify(json)[..]));
            }
            let stc = stc.concat();
            format!(" {} {:016x} {encoding} {}", stc.len(), hash(&stc), walked())
        });
        let mut explainer = Encoder::with_options(Options::default().references(true));
        let explained: Vec<_> =
            documents.iter().map(|json| format!("{:?}", explainer.explain(json).expect("JSON"))).collect();
        let tokens: u64 = documents.iter().map(|json| stc::estimate_tokens(json)).sum();
        format!("{} {:016x} {tokens}", outcome.concat(), hash(explained.concat().as_bytes()))
    }

    /// A hash of what is said about damaged documents, with limits that are soon met and without.
    fn refusals(documents: &[Vec<u8>], random: &mut Random) -> String {
        let strict =
            Limits::default().depth(6).columns(5).header(60).row(80).anchors(90).free(200).ratio(4).output(900);
        let mut said = String::new();
        for options in [Options::default(), Options::default().limits(strict)].into_iter().flat_map(versions) {
            for json in documents {
                let stc = Encoder::with_options(options.limits(Limits::default())).encode(json).expect("JSON").to_vec();
                said += &format!("{:?}\n", Decoder::with_options(options).decode(&stc).err());
                said += &format!("{:?}\n", Encoder::with_options(options).encode(json).err());
                for _ in 0..5 {
                    let (stc, json) = (damaged_stc(&stc, random), damaged(json, random));
                    said += &format!("{:?}\n", Decoder::with_options(options).decode(&stc).err());
                    said += &format!("{:?}\n", Encoder::with_options(options).encode(&json).err());
                }
            }
        }
        format!("{:016x}", hash(said.as_bytes()))
    }

    #[test]
    fn what_comes_out_is_what_is_recorded() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chosen.txt");
        let mut found = String::new();
        for (file, json) in files("made", "json").into_iter().chain(files("bugs", "json")) {
            let name = file.file_name().expect("a name").to_str().expect("UTF-8");
            if is_json(&json) {
                found += &format!("{name}{}\n", come_out(&[json]));
            }
        }
        let mut random = Random::new(2);
        for number in 0..100 {
            let documents = Vec::from_iter((0..10).map(|_| document(&mut random).into_bytes()));
            found += &format!("random {number}{} {}\n", come_out(&documents), refusals(&documents, &mut random));
        }
        if std::env::var_os("STC_RECORD").is_some() {
            std::fs::write(&path, &found).expect("writable");
        }
        let recorded = std::fs::read_to_string(&path).expect("tests/chosen.txt");
        let differ: Vec<_> =
            recorded.lines().zip(found.lines()).filter(|(recorded, found)| recorded != found).collect();
        assert!(differ.is_empty() && recorded.lines().count() == found.lines().count(), "recorded, found: {differ:#?}");
    }
}
