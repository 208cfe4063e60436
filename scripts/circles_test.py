"""Tests of scripts/circles on small trees: planted faults are found, and what is allowed is let pass."""

import importlib.machinery
import importlib.util
import re
import tempfile
import unittest
from pathlib import Path

PATH = str(Path(__file__).with_name("circles"))
LOADER = importlib.machinery.SourceFileLoader("circles", PATH)
SPEC = importlib.util.spec_from_loader("circles", LOADER)
circles = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(circles)


class Circles(unittest.TestCase):
    def faults(self, files, codec=False):
        """What the check prints about a crate of these files."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "src"
            for name, text in files.items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(text)
            if codec:
                (Path(folder) / "grammar").mkdir()
            printed = []
            count = circles.check(source, out=printed.append)
            self.assertEqual(count == 0, not printed)
            return "\n".join(printed)

    def directions(self, files):
        """The imports of a codec of these files that are against its directions."""
        return re.findall(r"direction: (\S+ imports \S+)", self.faults(files, codec=True))

    def test_two_siblings_that_import_each_other(self):
        printed = self.faults({"lib.rs": "mod a;\nmod b;\n", "a.rs": "use crate::b::B;\n", "b.rs": "fn f() { super::a::g() }\n"})
        self.assertIn("circle of 2 files", printed)
        self.assertIn("a.rs -> b.rs: crate::b::B", printed)

    def test_a_circle_of_three_through_braces_and_aliases(self):
        files = {
            "lib.rs": "mod a; mod b; mod c;",
            "a.rs": "use crate::{b::{self as other, X}, c};",
            "b.rs": "use crate::c::Y;",
            "c.rs": "use super::a::Z as W;",
        }
        self.assertIn("circle of 3 files", self.faults(files))

    def test_a_parent_that_only_declares_its_children(self):
        self.assertEqual(self.faults({"lib.rs": "mod a;\npub struct X;", "a.rs": "use crate::X;"}), "")

    def test_a_parent_that_imports_from_a_child_that_imports_from_it(self):
        files = {"main.rs": "mod a;\nstruct X;\nfn main() { a::run() }", "a.rs": "use super::X;"}
        self.assertIn("circle of 2 files", self.faults(files))

    def test_a_reexported_name_counts_as_the_file_that_defines_it(self):
        files = {"lib.rs": "mod a; mod b;\npub use a::A;", "a.rs": "pub struct A;", "b.rs": "use crate::A;\nuse crate::b::B;"}
        self.assertEqual(self.faults(files), "")
        files["a.rs"] = "pub struct A;\nuse crate::b::B;"
        self.assertIn("a.rs -> b.rs", self.faults(files))

    def test_tests_comments_and_strings_do_not_count(self):
        test = "\n#[cfg(test)]\nmod tests { use crate::b::B; }\n// use crate::b::B;\n/* crate::b::c() */ const S: &str = \"crate::b::d\";"
        self.assertEqual(self.faults({"lib.rs": "mod a; mod b;", "a.rs": test, "b.rs": "use crate::a::S;"}), "")

    def test_nested_modules_and_globs(self):
        files = {"lib.rs": "mod a;", "a/mod.rs": "mod deep;\npub fn f() {}", "a/deep.rs": "use super::*;"}
        self.assertEqual(self.faults(files), "")
        files["a/mod.rs"] = "mod deep;\npub fn f() { deep::g() }"
        self.assertIn("a/mod.rs -> a/deep.rs: deep::g", self.faults(files))

    def test_directions_inside_the_codec(self):
        files = {
            "lib.rs": "mod json; mod v1; mod v2; mod error; mod decode;",
            "json/mod.rs": "mod scan; mod buffer;",
            "json/scan.rs": "",
            "json/buffer.rs": "use super::scan::BLOCK;",
            "v1.rs": "use crate::json::scan::BLOCK;\nuse crate::v2::Plan;",
            "v2.rs": "use crate::error::Error;",
            "error.rs": "use crate::json::scan::BLOCK;",
            "decode.rs": "mod machine; use crate::v1::X;",
            "decode/machine.rs": "use crate::v1::Y;",
        }
        expected = [
            "v1.rs imports v2.rs",
            "json/buffer.rs imports json/scan.rs",
            "error.rs imports json/scan.rs",
            "decode/machine.rs imports v1.rs",
        ]
        self.assertCountEqual(self.directions(files), expected)
        self.assertNotIn("direction", self.faults(files))

    def test_the_public_face_is_on_top(self):
        files = {
            "lib.rs": "mod buffer; mod encode; mod estimate; mod explain; mod laws; mod v2;",
            "buffer.rs": "use crate::encode::X;",
            "encode.rs": "use crate::v2::Y;",
            "estimate.rs": "use crate::buffer::Z;",
            "explain.rs": "use crate::encode::X;",
            "laws/mod.rs": "pub mod codec;",
            "laws/codec.rs": "",
            "v2/mod.rs": "mod plan;",
            "v2/plan.rs": "use crate::estimate::TOKEN_COST;\nuse crate::explain::E;\nuse crate::laws::codec::L;",
        }
        expected = ["buffer.rs imports encode.rs", "v2/plan.rs imports explain.rs", "v2/plan.rs imports laws/codec.rs"]
        self.assertCountEqual(self.directions(files), expected)

    def test_long_functions_and_files(self):
        long = "pub fn long() {\n" + "    f();\n" * 80 + "}\n"
        short = "pub fn short() {\n" + "    f();\n" * 78 + "}\n"
        self.assertIn("long has 82 lines, over 80", self.faults({"lib.rs": long + short}))
        self.assertEqual(self.faults({"lib.rs": short}), "")
        tested = "#[cfg(test)]\nmod tests {\n" + long + "}\n"
        self.assertEqual(self.faults({"lib.rs": short + tested}), "")
        self.assertIn("has 451 lines", self.faults({"lib.rs": "//! A line.\n" * 451 + tested}, codec=True))
        self.assertEqual(self.faults({"lib.rs": "//! A line.\n" * 450 + tested}, codec=True), "")

    def test_tests_have_short_functions_but_for_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            tests, printed = Path(folder) / "tests", []
            tests.mkdir()
            long = "    f();\n" * 120
            (tests / "hostile.rs").write_text(f"fn json_bombs() {{\n{long}}}\n#[test]\nfn long() {{\n{long}}}\n")
            (tests / "other.rs").write_text(f"fn json_bombs() {{\n{long}}}\n")
            self.assertEqual(circles.check_tests(tests, out=printed.append), 2)
        self.assertIn("hostile.rs:124: long has 122 lines, over 80", printed[0])
        self.assertIn("other.rs:1: json_bombs has 122 lines, over 80", printed[1])

    def test_an_encoder_writes_spellings_by_their_names(self):
        for written in (
            'fn f() { out.push(b\'"\'); }',
            'fn f() { self.visitor.put(if keyed { b"{" } else { NAME }); }',
            "fn f() { out.extend(&[NAME, b':']); }",
            'fn f() -> &[u8] { if row { NAME } else { b"}" } }',
            'const END: &[u8] = b"}\\n";',
            "fn f() { room[0] = b','; }",
        ):
            files = {"lib.rs": "mod v2; mod decode;", "v2.rs": "mod a;", "v2/a.rs": written, "decode.rs": written}
            printed = self.faults(files, codec=True)
            self.assertEqual((printed.count("spelling:"), printed.count("v2/a.rs:1")), (1, 1), written)
            self.assertEqual(self.faults(files), "")
        for compared in (
            "fn f() { if text[0] == b'{' { out.push(NAME) } }",
            "fn f() { match byte { b'{' | b'[' => out.push(NAME), _ => {} } }",
            'fn f() { if text != *b"{}" { out.push(NAME) } }',
            'fn f() { if matches!(byte, b\'"\' | b\'{\') { end(NAME) } }',
            "fn f() { memchr::memchr(b'/', text) }",
            "fn f() { out.push(b'a' + letter); }",
            "// out.push(b'{')",
            "#[cfg(test)] mod tests { fn f() { out.push(b'{') } }",
        ):
            self.assertEqual(self.faults({"lib.rs": "mod v1;", "v1.rs": compared}, codec=True), "", compared)

    def test_every_exception_has_a_reason(self):
        for place, reason in (circles.EXCEPTIONS | circles.TABLES | circles.COMPARED).items():
            self.assertTrue(len(place) == 2 and len(reason) > 20, place)


if __name__ == "__main__":
    unittest.main()
