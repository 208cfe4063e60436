//! Tests grammar/stc.abnf with the vectors: the published grammar must accept and reject what the decoders do.
//!
//! The file itself is interpreted: it is parsed as ABNF, turned into plain productions and run by Earley's algorithm, which
//! keeps, for every position, the set of partly matched productions. That needs no recursion, handles the ambiguity that
//! missing counts leave (STC.md, 13.2), and takes polynomial time in the worst case.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::vectors::{bytes, cases};

const ABNF: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/stc.abnf"));
const SPEC: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/STC.md"));

/// RFC 5234, appendix B.1, as far as the grammar uses it.
const CORE: &str = r#"
ALPHA  = %x41-5A / %x61-7A
CR     = %x0D
DIGIT  = %x30-39
DQUOTE = %x22
HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"
HTAB   = %x09
LF     = %x0A
SP     = %x20
"#;

#[test]
fn the_grammar_agrees_with_every_vector() {
    let grammar = Grammar::parse(&format!("{ABNF}{CORE}"));
    let stc = |text: &str| grammar.matches("stc-text", text);
    let (mut accepted, mut syntax, mut semantic) = (0, 0, 0);
    let mut wrong = Vec::new();
    for case in ["encode", "decode", "v2-encode", "v2-decode"].into_iter().flat_map(cases) {
        for field in ["stc", "json"] {
            // JSON is valid STC.
            if !stc(text(&case, field)) {
                wrong.push(format!("{}: the grammar rejects its {field}", case["name"]));
            }
        }
        accepted += 1;
    }
    for case in ["reject", "v2-reject"].into_iter().flat_map(cases) {
        // The grammar is defined over code points: it matches no text that is not UTF-8.
        let matched = std::str::from_utf8(&bytes(&case, "stc")).is_ok_and(stc);
        let expected = match text(&case, "tag") {
            "syntax" => {
                syntax += 1;
                false
            }
            "semantic" => {
                semantic += 1;
                true
            }
            other => panic!("{}: unknown tag {other}", case["name"]),
        };
        if matched != expected {
            let verb = if matched { "accepts" } else { "rejects" };
            wrong.push(format!("{}: the grammar {verb} what is tagged {}", case["name"], case["tag"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("stc.abnf: {accepted} cases accepted; {syntax} rejected; {semantic} left to rules beyond the grammar");
    assert!(accepted >= 700 && syntax >= 880 && semantic >= 220, "cases are missing from grammar/vectors");
}

#[test]
fn every_case_has_its_own_name_and_cites_a_section() {
    let sections: HashSet<&str> =
        SPEC.lines().filter_map(|line| line.strip_prefix("### ")?.split(' ').next()).collect();
    let mut names = HashSet::new();
    for file in ["encode", "decode", "reject", "reject-json", "v2-encode", "v2-decode", "v2-reject"] {
        for case in cases(file) {
            let (name, section) = (text(&case, "name").to_owned(), text(&case, "section"));
            assert!(sections.contains(section), "{name}: STC.md has no section {section}");
            assert!(names.insert(name.clone()), "{name}: duplicate name");
        }
    }
    println!("vectors: {} cases", names.len());
    assert!(names.len() >= 1860, "cases are missing from grammar/vectors");
}

/// Sections that no file of src/ has to cite, and why.
const UNCITED: [(&str, &str); 2] = [("10.6", "says what STC does not do"), ("14.1", "an overview of version 2")];

/// Returns whether a comment names a section: after a word or bracket, not as part of a longer number.
fn cites(comment: &str, section: &str) -> bool {
    comment.match_indices(section).any(|(at, _)| {
        let (before, after) = (&comment[..at], &comment[at + section.len()..]);
        let begins = ["(", "section ", "sections ", "STC.md, ", ", ", " and ", " to "].iter();
        begins.clone().any(|word| before.ends_with(word))
            && ([")", ",", ";", ":"].iter().chain(&[" and ", " to ", ". "]).any(|sign| after.starts_with(sign))
                || after.trim_end() == ".")
    })
}

#[test]
#[cfg(not(miri))]
fn the_code_cites_the_sections_that_bind_it() {
    let mut files = Vec::new();
    crate::unsafety::sources(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    let mut comments = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file of src/");
        let mut comment = String::new();
        // The lines of one comment are joined, so that a citation may be broken.
        for line in text.lines() {
            match line.trim_start().strip_prefix("//") {
                Some(more) => comment += &format!("{} ", more.trim_start_matches(['/', '!']).trim()),
                None => comments.push(std::mem::take(&mut comment)),
            }
        }
    }
    let is_chapter = |section: &&str| {
        let chapter = section.split('.').next().and_then(|chapter| chapter.parse().ok()).unwrap_or(0);
        section.contains('.') && ((2..=11).contains(&chapter) || (14..=21).contains(&chapter))
    };
    let sections = SPEC.lines().filter_map(|line| line.strip_prefix("### ")?.split(' ').next()).filter(is_chapter);
    let (mut cited, mut missing) = (0, Vec::new());
    for section in sections {
        match comments.iter().any(|comment| cites(comment, section)) {
            true => cited += 1,
            false => missing.push(section),
        }
    }
    assert_eq!(missing, UNCITED.map(|(section, _)| section), "sections of STC.md that no comment in src/ cites");
    assert!(cited >= 50, "{cited} sections");
}

#[test]
fn the_contents_link_to_every_heading() {
    let headings = SPEC.lines().filter_map(|line| line.strip_prefix("### ").or_else(|| line.strip_prefix("## ")));
    let headings: Vec<&str> = headings.filter(|heading| *heading != "Contents").collect();
    for heading in &headings {
        // The anchors of code hosts: lower case, no punctuation, hyphens for spaces.
        let kept = |char: &char| char.is_alphanumeric() || matches!(*char, ' ' | '-');
        let anchor = heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        assert!(SPEC.contains(&format!("[{heading}](#{anchor})")), "the contents have no link to {heading}");
    }
    assert_eq!(SPEC.matches("](#").count(), headings.len(), "a link to a heading that does not exist");
}

#[test]
fn the_pairs_of_the_appendix_are_vectors() {
    let cases = cases("v2-encode");
    let (_, appendix) = SPEC.split_once("\n### A.9 ").expect("section A.9");
    let mut blocks = 0;
    for block in appendix.split("\n\n").filter(|block| block.starts_with("    ")) {
        let lines: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("    ")).collect();
        let (stc, json) = (lines.join("\n"), lines.concat());
        let vector = |case: &Value| text(case, "stc").trim_end() == stc || text(case, "json") == json;
        assert!(cases.iter().any(vector), "not in v2-encode.json:\n{block}");
        blocks += 1;
    }
    assert!(blocks >= 20, "{blocks} blocks in A.9");
}

#[test]
fn the_interpreter_reads_abnf() {
    let grammar = Grammar::parse(
        r#"
s = 1*2x [ "b" ]   ; a comment with "quotes", = and /
  / %s"Q" y        ; the rule goes on
x = (%x61-62 "!")
s =/ 3("k" / X)*"k"
y = %x0D.0A / %x7E
"#,
    );
    for text in ["a!", "b!a!", "a!B", "Q\r\n", "Q~", "kKk", "ka!kkk"] {
        assert!(grammar.matches("s", text), "{text:?}");
    }
    for text in ["", "a", "c!", "a!a!a!a!", "a!bb", "q~", "Q\r", "Q\n", "kk", "b"] {
        assert!(!grammar.matches("s", text), "{text:?}");
    }
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("{}: no {field}", case["name"]))
}

/// The next symbol of a production.
#[derive(Clone, Copy)]
enum Symbol {
    Range(u32, u32),
    Rule(usize),
}

/// A production: its symbols in order.
type Sequence = Vec<Symbol>;

/// Productions by rule; groups, options and repetitions are unnamed rules.
struct Grammar {
    names: HashMap<String, usize>,
    rules: Vec<Vec<Sequence>>,
    nullable: Vec<bool>,
}

/// A production matched up to `dot`, started at position `origin` of the input.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Item {
    rule: usize,
    production: usize,
    dot: usize,
    origin: usize,
}

impl Item {
    fn advanced(self) -> Self {
        Self { dot: self.dot + 1, ..self }
    }
}

impl Grammar {
    fn parse(abnf: &str) -> Self {
        let mut grammar = Self { names: HashMap::new(), rules: Vec::new(), nullable: Vec::new() };
        let mut defined = HashSet::new();
        for line in unfolded(abnf) {
            let (name, body) = line.split_once('=').unwrap_or_else(|| panic!("not a rule: {line}"));
            let name = name.trim();
            let (body, more) = body.strip_prefix('/').map_or((body, false), |body| (body, true));
            let rule = grammar.named(name);
            assert_eq!(!defined.insert(rule), more, "{name}: '=' defines once, '=/' adds to what is defined");
            let mut reader = Reader { grammar: &mut grammar, rest: body };
            let productions = reader.alternation();
            assert!(reader.rest.is_empty(), "{name}: cannot read {:?}", reader.rest);
            grammar.rules[rule].extend(productions);
        }
        for (name, rule) in &grammar.names {
            assert!(defined.contains(rule), "{name} is used and not defined");
        }
        grammar.nullable = vec![false; grammar.rules.len()];
        while let Some(rule) = (0..grammar.rules.len()).find(|&rule| {
            let empty = |symbol: &Symbol| matches!(*symbol, Symbol::Rule(rule) if grammar.nullable[rule]);
            !grammar.nullable[rule] && grammar.rules[rule].iter().any(|sequence| sequence.iter().all(empty))
        }) {
            grammar.nullable[rule] = true;
        }
        grammar
    }

    /// Returns the rule of that name; rule names ignore case.
    fn named(&mut self, name: &str) -> usize {
        let name = name.to_ascii_lowercase();
        let valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '-');
        assert!(valid, "{name:?} is not a rule name");
        if let Some(&rule) = self.names.get(&name) {
            return rule;
        }
        let rule = self.rule(Vec::new());
        self.names.insert(name, rule);
        rule
    }

    fn rule(&mut self, productions: Vec<Sequence>) -> usize {
        self.rules.push(productions);
        self.rules.len() - 1
    }

    /// Runs Earley's algorithm. For every position, until there is nothing new:
    ///
    /// ```text
    /// an item before a range:  if the code point is in the range, the item advances at the next position
    /// an item before a rule:   the rule's productions start here; if the rule can be empty, the item also advances
    /// an item at its end:      every item that waited for its rule at its origin advances here
    /// ```
    fn matches(&self, start: &str, text: &str) -> bool {
        let start = self.names[start];
        let input: Vec<u32> = text.chars().map(u32::from).collect();
        let begin = |rule: usize, origin: usize| {
            (0..self.rules[rule].len()).map(move |production| Item { rule, production, dot: 0, origin })
        };
        let mut waiting: Vec<HashMap<usize, Vec<Item>>> = Vec::with_capacity(input.len() + 1);
        let mut next: Vec<Item> = begin(start, 0).collect();
        let mut complete = false;
        for at in 0..=input.len() {
            let mut todo = std::mem::take(&mut next);
            let mut seen = HashSet::new();
            waiting.push(HashMap::new());
            complete = false;
            while let Some(item) = todo.pop() {
                if !seen.insert(item) {
                    continue;
                }
                match self.rules[item.rule][item.production].get(item.dot) {
                    Some(&Symbol::Range(low, high)) => {
                        if input.get(at).is_some_and(|point| (low..=high).contains(point)) {
                            next.push(item.advanced());
                        }
                    }
                    Some(&Symbol::Rule(rule)) => {
                        waiting[at].entry(rule).or_default().push(item);
                        todo.extend(begin(rule, at));
                        if self.nullable[rule] {
                            todo.push(item.advanced());
                        }
                    }
                    None => {
                        complete |= item.rule == start && item.origin == 0;
                        let waited = waiting[item.origin].get(&item.rule).into_iter().flatten();
                        todo.extend(waited.map(|item| item.advanced()));
                    }
                }
            }
        }
        complete
    }
}

/// Returns the rules of a grammar, one string each, without comments and with continuation lines joined.
fn unfolded(abnf: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for line in abnf.lines() {
        let mut quoted = false;
        let comment = line.find(|char| {
            quoted ^= char == '"';
            char == ';' && !quoted
        });
        let line = &line[..comment.unwrap_or(line.len())];
        match rules.last_mut() {
            _ if line.trim().is_empty() => {}
            Some(rule) if line.starts_with([' ', '\t']) => rule.push_str(line),
            _ => rules.push(line.to_owned()),
        }
    }
    rules
}

/// A parser of one rule's elements; it adds unnamed rules to the grammar.
struct Reader<'a> {
    grammar: &'a mut Grammar,
    rest: &'a str,
}

impl Reader<'_> {
    fn alternation(&mut self) -> Vec<Sequence> {
        let mut productions = vec![self.concatenation()];
        while self.take("/") {
            productions.push(self.concatenation());
        }
        productions
    }

    fn concatenation(&mut self) -> Sequence {
        let mut sequence = Vec::new();
        loop {
            sequence.extend(self.repetition());
            self.skip();
            if self.rest.is_empty() || self.rest.starts_with(['/', ')', ']']) {
                return sequence;
            }
        }
    }

    /// Parses `3x`, `*x`, `1*x`, `*18x`, `2*4x` or `x`.
    fn repetition(&mut self) -> Sequence {
        self.skip();
        let exactly = self.digits(10);
        let (least, most) = if self.rest.starts_with('*') {
            self.rest = &self.rest[1..];
            (exactly.unwrap_or(0), self.digits(10))
        } else {
            (exactly.unwrap_or(1), Some(exactly.unwrap_or(1)))
        };
        let element = self.element();
        let mut sequence = element.repeat(least as usize);
        match most {
            // many = "" / many element: left recursion keeps the sets of a long text small
            None => {
                let many = self.grammar.rule(vec![Vec::new()]);
                self.grammar.rules[many].push([vec![Symbol::Rule(many)], element].concat());
                sequence.push(Symbol::Rule(many));
            }
            // up-to-n = "" / element up-to-(n - 1)
            Some(most) => {
                assert!(least <= most, "a repetition from {least} to {most}");
                let mut tail = Vec::new();
                for _ in least..most {
                    let upto = self.grammar.rule(vec![Vec::new(), [element.clone(), tail].concat()]);
                    tail = vec![Symbol::Rule(upto)];
                }
                sequence.extend(tail);
            }
        }
        sequence
    }

    fn element(&mut self) -> Sequence {
        if self.take("(") {
            let productions = self.alternation();
            assert!(self.take(")"), "no ')' before {:?}", self.rest);
            vec![Symbol::Rule(self.grammar.rule(productions))]
        } else if self.take("[") {
            let mut productions = self.alternation();
            assert!(self.take("]"), "no ']' before {:?}", self.rest);
            productions.push(Vec::new());
            vec![Symbol::Rule(self.grammar.rule(productions))]
        } else if let Some(rest) = self.rest.strip_prefix("%x") {
            self.rest = rest;
            self.points()
        } else if let Some(rest) = self.rest.strip_prefix("%s\"") {
            let (body, rest) = rest.split_once('"').expect("a closing quote");
            self.rest = rest;
            body.chars().map(|char| Symbol::Range(char.into(), char.into())).collect()
        } else if let Some(rest) = self.rest.strip_prefix('"') {
            let either = |char: char| {
                let cases = [char.to_ascii_lowercase(), char.to_ascii_uppercase()].map(u32::from);
                Symbol::Rule(self.grammar.rule(cases.map(|point| vec![Symbol::Range(point, point)]).to_vec()))
            };
            let (body, rest) = rest.split_once('"').expect("a closing quote");
            self.rest = rest;
            body.chars().map(either).collect()
        } else {
            let word = |char: char| char.is_ascii_alphanumeric() || char == '-';
            let end = self.rest.find(|char| !word(char)).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            vec![Symbol::Rule(self.grammar.named(name))]
        }
    }

    /// Parses `22`, `30-39` or `0D.0A`, after `%x`.
    fn points(&mut self) -> Sequence {
        let first = self.digits(16).expect("hexadecimal digits after %x");
        let mut sequence = vec![Symbol::Range(first, first)];
        while let Some(rest) = self.rest.strip_prefix(['-', '.']) {
            let range = self.rest.starts_with('-');
            self.rest = rest;
            let point = self.digits(16).expect("hexadecimal digits after '-' or '.'");
            if range {
                return vec![Symbol::Range(first, point)];
            }
            sequence.push(Symbol::Range(point, point));
        }
        sequence
    }

    fn digits(&mut self, radix: u32) -> Option<u32> {
        let end = self.rest.find(|char: char| !char.is_digit(radix)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        (end > 0).then(|| u32::from_str_radix(digits, radix).expect("a number that fits"))
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        self.skip();
        rest.is_some()
    }
}
