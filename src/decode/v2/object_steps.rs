//! Objects of an open list, member by member (grammar/STC.md, section 17.10).
//!
//! Such an object is written with its own keys, and the list has what all its objects share: constants, and the lists of columns
//! that apply to the values of some members. A constant comes directly before the first of the object's keys that come after it in
//! the list, or last if there is none.

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{LexemeRole, State, Step, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::frames::{FrameKind, ListedObject};
use crate::decode::v2::open_lists::{Listed, OpenList, key_word};
use crate::error::{Error, ErrorKind};
use crate::json::nesting::Container;
use crate::options::Limits;

impl Machine {
    /// Returns whether the machine is in an object of an open list.
    pub(crate) fn in_listed_object(&self) -> bool {
        matches!(self.frame(), Some(FrameKind::ListedObject(_)))
    }

    /// Opens an object of an open list, at its `{`.
    pub(crate) fn open_listed(
        &mut self,
        row: bool,
        list: u32,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let list = *self.v2.schema.list(list);
        self.check_depth(1 + list.height, here, limits)?;
        self.open(Container::Object, b"{", here, limits, out)?;
        let depth = self.nesting.depth();
        self.v2.opened(depth + list.height);
        let OpenList { first, constants, .. } = *self.v2.schema.open_lists.list(list.open_list);
        let (open_list, next) = (list.open_list, first);
        let object = ListedObject { row, has_key: false, open_list, next, constants, member: NONE };
        self.v2.push(depth, FrameKind::ListedObject(object));
        self.state = State::Key { first: true };
        Ok(())
    }

    /// Begins a key of an object of an open list, at its first byte.
    pub(crate) fn begin_listed_key(&mut self, byte: u8, here: u64) -> Result<Step, Error> {
        let Some(FrameKind::ListedObject(object)) = self.frame() else { return self.syntax_error(here) };
        let longest = self.v2.schema.open_lists.list(object.open_list).longest;
        let bare = byte != b'"';
        // With its quotes.
        self.v2.listed_key.begin(bare, here, longest + 2);
        if bare {
            self.state = State::Bare(LexemeRole::ListedKey);
            return Ok(Step::Reconsume);
        }
        self.begin_lexeme(LexemeRole::ListedKey, byte, here)
    }

    /// Ends a key of an object of an open list: writes the constants before it, and the key. Returns the state after it.
    pub(crate) fn listed_key_done(&mut self, here: u64, out: &mut Output<'_>) -> Result<State, Error> {
        let depth = self.nesting.depth();
        let (schema, key) = (&self.v2.schema, &self.v2.listed_key);
        let Some(FrameKind::ListedObject(object)) = self.v2.frames.at(depth) else { return Ok(State::AfterKey) };
        object.has_key = true;
        object.member = NONE;
        let Some(held) = key.held() else { return Ok(State::AfterKey) };
        let list = schema.open_lists.list(object.open_list);
        let body = &held[1..held.len() - 1];
        match schema.open_lists.find(list, object.next, key_word(body), body, &schema.text) {
            Listed::Absent => {}
            // At the key's first byte (STC.md, 20.1).
            Listed::Taken => return Err(Error::new(ErrorKind::DuplicateColumn, key.offset)),
            Listed::Column { column, constants_end } => {
                if object.constants < constants_end {
                    // The comma before the first of them has been written.
                    out.write(&schema.text[object.constants + 1..constants_end], here)?;
                    out.write(b",", here)?;
                    object.constants = constants_end;
                }
                (object.next, object.member) = (column + 1, column);
            }
        }
        out.write(held, here)?;
        Ok(State::AfterKey)
    }

    /// Ends an object of an open list, before its `}`: writes the constants that are left. Returns the state after the object.
    pub(crate) fn leave_listed(
        &mut self,
        object: ListedObject,
        here: u64,
        out: &mut Output<'_>,
    ) -> Result<State, Error> {
        let ListedObject { row, has_key, open_list, constants, .. } = object;
        let schema = &self.v2.schema;
        let end = schema.open_lists.list(open_list).constants_end;
        if constants < end {
            out.write(&schema.text[constants + usize::from(!has_key)..end], here)?;
        }
        self.v2.pop();
        Ok(if row { State::V2(V2State::RowEnd) } else { State::After })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decoder, Error, ErrorKind, Expected, Limits, Options};

    /// Decodes a text whole and in chunks of several lengths, which must all give the same.
    fn decode(stc: &str) -> Result<String, Error> {
        decode_within(stc, Limits::default())
    }

    fn decode_within(stc: &str, limits: Limits) -> Result<String, Error> {
        let mut decoder = Decoder::with_options(Options::default().limits(limits));
        let text = |json: &[u8]| String::from_utf8(json.to_vec()).expect("it is UTF-8");
        let whole = decoder.decode(stc.as_bytes()).map(text);
        for length in [1, 2, 3, 7, 64] {
            let mut json = Vec::new();
            let mut chunks = stc.as_bytes().chunks(length);
            let pushed = chunks.try_for_each(|chunk| decoder.push(chunk, &mut json));
            let pushed = pushed.and_then(|()| decoder.finish(&mut json)).map(|()| text(&json));
            assert_eq!(pushed, whole, "chunks of {length} bytes of {stc:?}");
        }
        whole
    }

    /// Asserts what texts decode to.
    fn decodes(cases: &[(&str, &str)]) {
        for (stc, json) in cases {
            assert_eq!(decode(stc).as_deref(), Ok(*json), "{stc:?}");
        }
    }

    /// Asserts where texts are wrong: each has a `^` before the byte that is reported.
    fn rejects(kind: Option<ErrorKind>, cases: &[&str]) {
        for marked in cases {
            let offset = marked.find('^').expect("a mark") as u64;
            let error = decode(&marked.replacen('^', "", 1)).expect_err(marked);
            assert_eq!(error.offset(), offset, "{marked:?}: {error}");
            assert!(kind.is_none_or(|kind| error.kind() == kind), "{marked:?}: {error}");
        }
    }

    #[test]
    fn constants_come_before_the_next_key_of_the_list() {
        decodes(&[
            ("[1]{*}:\n{}\n", "[{}]"),
            ("[1]{ * }:\n \t{ } \t\n", "[{}]"),
            ("[2]{*}:\n{a:1}\n{b:{},c:[],d[2]: 1,2}\n", r#"[{"a":1},{"b":{},"c":[],"d":[1,2]}]"#),
            ("[2]{*,k=1}:\n{}\n{a:2}\n", r#"[{"k":1},{"a":2,"k":1}]"#),
            ("[3]{*,a,k=1,b}:\n{a:1,b:2}\n{b:3}\n{a:4}\n", r#"[{"a":1,"k":1,"b":2},{"k":1,"b":3},{"a":4,"k":1}]"#),
            (
                "[5]{*,j=0,a,k=[1],b,c,\"m n\"={x:2},n=3,d}:\n{a:1,d:2}\n{x:0,c:1,y:0}\n{d:1,z:0}\n{}\n{x:9}\n",
                concat!(
                    r#"[{"j":0,"a":1,"k":[1],"m n":{"x":2},"n":3,"d":2},{"x":0,"j":0,"k":[1],"c":1,"y":0,"m n":{"x":2},"n":3},"#,
                    r#"{"j":0,"k":[1],"m n":{"x":2},"n":3,"d":1,"z":0},{"j":0,"k":[1],"m n":{"x":2},"n":3},"#,
                    r#"{"x":9,"j":0,"k":[1],"m n":{"x":2},"n":3}]"#,
                ),
            ),
        ]);
    }

    #[test]
    fn the_example_of_the_grammar() {
        let stc = concat!(
            "[3]{*,state=\"open\",title,user{*,type=\"User\",site_admin=false},labels{id,name}}:\n",
            " {id:1,title:\"a\",user:{login:\"ann\"},labels:[(7,\"bug\"),(8,\"ui\")]}\n",
            " {id:2,title:\"b\",user:{login:\"bob\",name:null},labels:[]}\n",
            " {id:3,user:null,body:\"x\"}\n",
        );
        let json = concat!(
            r#"[{"id":1,"state":"open","title":"a","user":{"login":"ann","type":"User","site_admin":false},"#,
            r#""labels":[{"id":7,"name":"bug"},{"id":8,"name":"ui"}]},"#,
            r#"{"id":2,"state":"open","title":"b","user":{"login":"bob","name":null,"type":"User","site_admin":false},"#,
            r#""labels":[]},{"id":3,"state":"open","user":null,"body":"x"}]"#,
        );
        decodes(&[(stc, json)]);
    }

    #[test]
    fn keys_are_compared_by_their_bodies() {
        decodes(&[
            ("[1]{*,k=1,a}:\n{\"a\":1}\n", r#"[{"k":1,"a":1}]"#),
            ("[1]{*,k=1,\"a\"}:\n{a:1}\n", r#"[{"k":1,"a":1}]"#),
            ("[1]{*,k=1,a}:\n{\"\\u0061\":1}\n", r#"[{"\u0061":1,"k":1}]"#),
            ("[1]{*,k=1,a}:\n{\"\":1,ab:2,b:3}\n", r#"[{"":1,"ab":2,"b":3,"k":1}]"#),
            // Keys that are not in the list may repeat.
            ("[1]{*,k=1}:\n{a:1,a:2}\n", r#"[{"a":1,"a":2,"k":1}]"#),
        ]);
    }

    #[test]
    fn lists_apply_to_cells_and_to_direct_elements_of_arrays() {
        decodes(&[
            ("[1]{*,a{*,k=1}}:\n{a:[{x:2},{},[{}],null,3]}\n", r#"[{"a":[{"x":2,"k":1},{"k":1},[{}],null,3]}]"#),
            ("[1]{*,a{*,k=1}}:\n{a:[ {x:{y:{}}} , {} ],b:{}}\n", r#"[{"a":[{"x":{"y":{}},"k":1},{"k":1}],"b":{}}]"#),
            ("[1]{*,a{*,b{*,c{*,k=1}}}}:\n{a:{b:{c:{}}}}\n", r#"[{"a":{"b":{"c":{"k":1}}}}]"#),
            ("[1]{*,a{b,c?}}:\n{a:(1,),d:2}\n", r#"[{"a":{"b":1},"d":2}]"#),
            ("[1]{*,a{b.{c},d=1}}:\n{a:[(2),{b:3}]}\n", r#"[{"a":[{"b":{"c":2},"d":1},{"b":3}]}]"#),
            // A list of cells around an open list: in a row, in a tuple, spliced, optional.
            ("[2]{a,b{*,k=1}}:\n1,{x:2}\n3,[{},4]\n", r#"[{"a":1,"b":{"x":2,"k":1}},{"a":3,"b":[{"k":1},4]}]"#),
            ("[1]{a{b{*,k=1},c}}:\n({},2)\n", r#"[{"a":{"b":{"k":1},"c":2}}]"#),
            ("[1]{a.{b{*,k=1},c=3}}:\n{}\n", r#"[{"a":{"b":{"k":1},"c":3}}]"#),
            ("[3]{a?{*,k=1},b}:\n,1\n{},2\nnull,{}\n", r#"[{"b":1},{"a":{"k":1},"b":2},{"a":null,"b":{}}]"#),
        ]);
    }

    #[test]
    fn other_values_are_themselves() {
        decodes(&[
            ("[@s{x:1},[1]{*,a{*,k=1}}:\n{a:@s(2)}\n]", r#"[{"x":1},[{"a":{"x":2}}]]"#),
            ("[1]{*,a{*,k=1}}:\n{a:@s{x:{}},b:@s(3)}\n", r#"[{"a":{"x":{}},"b":{"x":3}}]"#),
            ("[1]{*,a{*,k=1}}:\n{a:&s{x:2},b:*s}\n", r#"[{"a":{"x":2,"k":1},"b":{"x":2,"k":1}}]"#),
            (
                "[1]{*,a{*,k=1}}:\n{a:&s[&t{},*t],b:[*s,*t]}\n",
                r#"[{"a":[{"k":1},{"k":1}],"b":[[{"k":1},{"k":1}],{"k":1}]}]"#,
            ),
            ("$a=\"x\"\n[1]{*,a{*,k=$a\"y\"},b{c}}:\n{a:$a,b:$a\"z\"}\n", r#"[{"a":"x","b":"xz"}]"#),
            ("[&s{x:1},[1]{*,a{*,k=*s}}:\n{a:{}}\n]", r#"[{"x":1},[{"a":{"k":{"x":1}}}]]"#),
        ]);
    }

    #[test]
    fn rows_with_templates_are_held() {
        decodes(&[
            (
                "[2]{*,k=1,a{b,c~\"<${b}>\"},m=2}:\n{a:[(1),(\"x\")],d:3}\n{a:(4)}\n",
                concat!(
                    r#"[{"k":1,"a":[{"b":1,"c":"<1>"},{"b":"x","c":"<x>"}],"d":3,"m":2},"#,
                    r#"{"k":1,"a":{"b":4,"c":"<4>"},"m":2}]"#,
                ),
            ),
            (
                "[1]{b,c~\"<${b}>\",a{*,k=1,d{e,f~\"${e}!\"}}}:\n7,{d:(8),g:9}\n",
                r#"[{"b":7,"c":"<7>","a":{"k":1,"d":{"e":8,"f":"8!"},"g":9}}]"#,
            ),
        ]);
    }

    #[test]
    fn keyed_tables_have_open_lists() {
        decodes(&[("{2}{*,k=1,a}:\n x : {a:1} \n\"y z\":{b:2}\n", r#"{"x":{"k":1,"a":1},"y z":{"b":2,"k":1}}"#)]);
        rejects(None, &["{1}{*}:\nx:^1\n", "{1}{*}:\nx:^\n", "{1}{*}:\nx^{}\n", "{1}{*}:\n^{}\n"]);
    }

    #[test]
    fn the_mark_is_the_first_item_of_a_list() {
        rejects(
            None,
            &[
                "[1]{a,^*}:\n",
                "[1]{*,^*}:\n",
                "[1]{*^*}:\n",
                "[1]{*^a}:\n",
                "[1]{*^?}:\n",
                "[1]{*,^}:\n",
                "[1]{a{b,^*}}:\n",
                "[1]{a{*,^*}}:\n",
                "[1]{a.{^*}}:\n",
                "[1]{*}:^ {}\n",
                "[1]{*,a}:^1",
                "[1]{a^*}:\n",
            ],
        );
    }

    #[test]
    fn columns_of_an_open_list_are_plain_or_constants_or_have_a_list() {
        rejects(
            None,
            &[
                "[1]{*,a^?}:\n",
                "[1]{a?{b{*}},c?{d}=1,e?{f{g{*}}}^=1}:\n",
                "[1]{*,a ^~\"${b}\"}:\n",
                "[1]{*,a^.{b}}:\n",
                "[1]{b,a{*,c^?}}:\n",
                "[1]{*,a{b}^=1}:\n",
                "[1]{a?{*}^=1}:\n",
                "[1]{a?{b{*}}^=1}:\n",
                "[1]{a?{b.{c{*}},d}^=1}:\n",
                "[1]{a{*}^=1}:\n",
                "[1]{*,a{b}^?}:\n",
            ],
        );
        rejects(
            Some(ErrorKind::DuplicateColumn),
            &["[1]{*,a,^a}:\n", "[1]{*,a=1,^\"a\"}:\n", "[1]{b{*,a=1,^a{*}}}:\n"],
        );
        rejects(Some(ErrorKind::Placeholder), &["[1]{a{*},b~\"^${a}\"}:\n"]);
    }

    #[test]
    fn a_row_is_one_object() {
        let object = Some(ErrorKind::Syntax(Expected::RowObject));
        rejects(
            object,
            &[
                "[1]{*}:\n^1\n",
                "[1]{*}:\n ^(1)\n",
                "[1]{*}:\n^@a(1)\n",
                "[1]{*}:\n^&a{}\n",
                "[1]{*}:\n^*a\n",
                "[1]{*}:\n^[]\n",
                "[1]{*}:\n^\n",
                "[1]{*}:\n \t^\r\n",
                "[2]{*}:\n{}\n^}",
            ],
        );
        let line_feed = Some(ErrorKind::Syntax(Expected::LineFeed));
        rejects(line_feed, &["[1]{*}:\n{}^,{}\n", "[1]{*}:\n{} ^\r\n", "[1]{*}:\n{}^}\n"]);
        rejects(
            None,
            &[
                "[1]{*}:\n{^\n}\n",
                "[1]{*}:\n{a:1,^\nb:2}\n",
                "[1]{*}:\n{a:1,^}\n",
                "[1]{*}:\n{a:^\n1}\n",
                "[1]{*}:\n{^1}\n",
                "[1]{*}:\n{a[1]^{b}:\n",
                "[1]{*}:\n{a^{1}{b}:\n",
                "[1]{*}:\n{a:[1]^{b}:\n",
            ],
        );
        rejects(None, &["[1]{*}:\n^", "[1]{*}:\n{^", "[1]{*,ab}:\n{ab^", "[1]{*}:\n{}^", "[1]{*^", "[1]{*,^"]);
    }

    #[test]
    fn a_key_of_the_list_comes_once_and_in_order() {
        rejects(
            Some(ErrorKind::DuplicateColumn),
            &[
                "[1]{*,k=1}:\n{^k:2}\n",
                "[1]{*,k=1}:\n{a:1, ^\"k\" :2}\n",
                "[1]{*,a,b}:\n{b:1,^a:2}\n",
                "[1]{*,a,b}:\n{a:1,^a:2}\n",
                "[1]{*,a{*,k=1}}:\n{a:[{},{x:1,^k:2}]}\n",
                "[1]{c,a{*,k=1}}:\n1,{^k:1}\n",
            ],
        );
        // The key is complete at its closing quote, or with the byte after a bare one.
        let error = |stc: &str| decode(stc).expect_err(stc);
        assert_eq!(error("[1]{*,k=1}:\n{\"k\"").kind(), ErrorKind::DuplicateColumn);
        assert!(matches!(error("[1]{*,k=1}:\n{k").kind(), ErrorKind::Truncated(_)));
    }

    #[test]
    fn an_open_list_has_no_tuples() {
        rejects(
            None,
            &[
                "[1]{*,a{*}}:\n{a:^(1)}\n",
                "[1]{*,a{*}}:\n{a:[^(1)]}\n",
                "[1]{*,a{*}}:\n{a:&x^(1)}\n",
                "[1]{a{*}}:\n^(1)\n",
                "[1]{a{*}}:\n[^(1)]\n",
                "[1]{*,a}:\n{a:^(1)}\n",
                "[1]{*,a{b}}:\n{c:^(1)}\n",
                "[1]{*,a{b}}:\n{a:(1),c:^(1)}\n",
            ],
        );
    }

    #[test]
    fn a_long_key_is_not_held() {
        let key = "k".repeat(5000);
        let stc = format!("[1]{{*,ab,k=1}}:\n{{{key}:2,\"{key}\":3,ab:4}}\n");
        assert_eq!(decode(&stc), Ok(format!(r#"[{{"{key}":2,"{key}":3,"ab":4,"k":1}}]"#)));
        // An output limit is found in it at the same byte, however the text is cut.
        for limit in 0..20 {
            let limits = Limits::default().output(limit);
            let error = decode_within("[1]{*,ab,k=1}:\n{abcdef:2,ab:4}\n", limits).expect_err("it is too long");
            assert_eq!(error.kind(), ErrorKind::Output);
        }
    }

    #[test]
    fn levels_are_counted_where_an_object_begins() {
        let depth = |stc: &str, depth| {
            decode_within(stc, Limits::default().depth(depth)).map_err(|error| (error.kind(), error.offset()))
        };
        let stc = "[1]{*,a=[[1]],b{*,c=[[[2]]]}}:\n {b:{}}\n";
        let row = stc.find('\n').map_or(0, |at| at as u64 + 1);
        assert_eq!(depth(stc, 3), Err((ErrorKind::Depth, row)));
        assert_eq!(depth(stc, 5), Err((ErrorKind::Depth, row + 4)));
        assert!(depth(stc, 6).is_ok());
        assert_eq!(depth("[1]{*}:\n{a:{}}\n", 2), Err((ErrorKind::Depth, 11)));
        assert_eq!(depth("[1]{*}:\n{}\n", 1), Err((ErrorKind::Depth, 3)));
        // An anchored object has the levels of its constants.
        assert_eq!(depth("[[1]{*,a{*,k=[1]}}:\n{a:&x{},b:[*x]}\n]", 5), Err((ErrorKind::Depth, 31)));
        assert!(depth("[[1]{*,a{*,k=[1]}}:\n{a:&x{},b:[*x]}\n]", 6).is_ok());
    }
}
