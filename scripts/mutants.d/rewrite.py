"""Finds the mutants of a Rust file and writes the file with all of them in it, each behind a switch.

A *site* is a place that can be changed: an operator, a match arm, a function's body. Each change is a *mutant*. Mutants
are numbered through all files, and those of one site follow each other: `crate::mutant::at(17, 3)` returns 0 where the
original code is to run, and 1, 2 or 3 where mutant 17, 18 or 19 is switched on. With `>` at a site,

    left > right

becomes (operands once, so that nested sites do not multiply)

    (match (&(left), &(right)) { (m_l, m_r) => match crate::mutant::at(17, 3) {
        1 => *m_l == *m_r, 2 => *m_l < *m_r, 3 => *m_l >= *m_r, _ => *m_l > *m_r } })

all in one line, so that lines keep their numbers. Comments `/*<17.0*/ … /*>*/` mark the site and `/*<17.2*/ … /*>*/` the
code of one mutant: an error of the compiler is traced to the mutant by them.
"""

import re
from dataclasses import dataclass, field

import tree_sitter_rust
from tree_sitter import Language, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))

COMPARISONS = {
    "==": ["!="],
    "!=": ["=="],
    "<": ["==", ">", "<="],
    ">": ["==", "<", ">="],
    "<=": [">", "<"],
    ">=": ["<", ">"],
}
ARITHMETIC = {
    "+": ["-", "*"],
    "-": ["+", "/"],
    "*": ["+", "/"],
    "/": ["%", "*"],
    "%": ["/", "+"],
    "&": ["|", "^"],
    "|": ["&", "^"],
    "^": ["&", "|"],
    "<<": [">>"],
    ">>": ["<<"],
}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNMENTS = {f"{operator}=": [f"{other}=" for other in others] for operator, others in ARITHMETIC.items()}

# Evaluated by the compiler, where no switch can be read.
CONSTANT = {"const_item", "static_item", "const_block", "array_type", "type_arguments", "enum_variant", "const_parameter"}
# No expressions that run.
INERT = {"attribute_item", "inner_attribute_item", "line_comment", "block_comment", "string_literal", "raw_string_literal"}
OTHER_BUILDS = re.compile(r"cfg\((test\)|.*aarch64)|^#\[test\]")
INTEGER = re.compile(r"[iu](8|16|32|64|128|size)$")


@dataclass
class Site:
    """A place with one mutant or more."""

    first: int
    path: str
    line: int
    function: str
    original: str
    replacements: list
    occurrence: int = 0
    by_value: bool = False

    @property
    def mutants(self):
        return range(self.first, self.first + len(self.replacements))

    def name(self, mutant):
        """Returns what the mutant is called in reports and lists: it survives moved lines and renamed variables."""
        change = f"replace {self.original} with {self.replacements[mutant - self.first]}"
        count = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.path}: {self.function}: {change}{count}"


@dataclass
class Changes:
    """What the builds so far have shown: mutants that do not compile, and functions that constants call."""

    dropped: set = field(default_factory=set)
    by_value: set = field(default_factory=set)
    constant_functions: set = field(default_factory=set)


class Rewriter:
    """Rewrites files one after the other and collects their sites."""

    def __init__(self, changes):
        self.changes = changes
        self.sites = []
        self.next = 1
        self.in_constants = 0
        self.in_macros = 0

    def file(self, path, source):
        """Returns the source with a switch at every site."""
        self.path = path
        self.scopes = []
        self.function = ""
        self.constant = False
        self.counts = {}
        self.shift = 0
        self.source = source
        root = PARSER.parse(source).root_node
        if root.has_error:
            raise SystemExit(f"{path}: tree-sitter cannot parse it")
        return self.emit(root)

    def text(self, node):
        return self.source[node.start_byte : node.end_byte].decode()

    def emit(self, node):
        """Returns the text of a node with the sites in it switched."""
        kind = node.type
        if kind in INERT or node.child_count == 0:
            return self.text(node)
        if kind in CONSTANT:
            return self.as_constant(node)
        special = getattr(self, f"emit_{kind}", None)
        return special(node) if special else self.children(node)

    def children(self, node, replaced=None):
        """Joins the node's children and what stands between them; `replaced` gives the text of some."""
        out, at, skip = [], node.start_byte, False
        for child in node.children:
            out.append(self.source[at : child.start_byte].decode())
            at = child.end_byte
            if replaced and child.id in replaced:
                out.append(replaced[child.id])
            elif skip and child.type not in ("attribute_item", "line_comment", "block_comment"):
                out.append(self.text(child))
                skip = False
            else:
                out.append(self.emit(child))
            skip = skip or (child.type == "attribute_item" and bool(OTHER_BUILDS.search(self.text(child))))
        out.append(self.source[at : node.end_byte].decode())
        return "".join(out)

    def as_constant(self, node):
        before, self.constant = self.constant, True
        text = self.children(node)
        self.constant = before
        return text

    def site(self, node, original, replacements):
        """Numbers a site; returns nothing where it cannot have a switch."""
        if self.constant or not self.function:
            self.in_constants += len(replacements)
            # Numbers stay what they are when a later build finds that a function must be constant.
            self.next += len(replacements)
            return None
        key = (self.function, original)
        self.counts[key] = self.counts.get(key, 0) + 1
        site = Site(self.next, self.path, node.start_point[0] + 1 + self.shift, self.function, original, replacements)
        site.occurrence = self.counts[key]
        site.by_value = site.first in self.changes.by_value
        self.next += len(replacements)
        self.sites.append(site)
        return site

    def arms(self, site, code):
        """Returns the arms of those mutants that compile; `code` makes one of a replacement."""
        return "".join(
            f"{at + 1} => /*<{site.first + at}.1*/{{ {code(replacement)} }}/*>*/, "
            for at, replacement in enumerate(site.replacements)
            if site.first + at not in self.changes.dropped
        )

    def switched(self, site, arms, original):
        return f"match crate::mutant::at({site.first}, {len(site.replacements)}) {{ {arms}_ => {{ {original} }} }}"

    def marked(self, site, text):
        return f"/*<{site.first}.0*/{text}/*>*/"

    def emit_binary_expression(self, node):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.text(node.child_by_field_name("operator"))
        if operator in LOGIC:
            site = self.site(node, operator, [LOGIC[operator]])
            l, r = self.emit(left), self.emit(right)
            if site is None or site.first in self.changes.dropped:
                return f"{l} {operator} {r}"
            # De Morgan: both operands and the result negated make the other operator.
            on = f"let m_on = crate::mutant::at({site.first}, 1) == 1;"
            return self.marked(site, f"({{ {on} (({l}) != m_on {operator} ({r}) != m_on) != m_on }})")
        compared = operator in COMPARISONS
        site = self.site(node, operator, (COMPARISONS if compared else ARITHMETIC)[operator])
        if site is None:
            return self.children(node)
        l, r = self.emit(left), self.emit(right)
        borrowed = compared and not site.by_value
        star, borrow = ("*", "&") if borrowed else ("", "")
        arms = self.arms(site, lambda other: f"{star}m_l {other} {star}m_r")
        if not arms:
            return f"{l} {operator} {r}"
        inner = self.switched(site, arms, f"{star}m_l {operator} {star}m_r")
        return self.marked(site, f"(match ({borrow}({l}), {borrow}({r})) {{ (m_l, m_r) => {inner} }})")

    def emit_compound_assignment_expr(self, node):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.text(node.child_by_field_name("operator"))
        site = self.site(node, operator, ASSIGNMENTS[operator])
        if site is None:
            return self.children(node)
        l, r = self.emit(left), self.emit(right)
        arms = self.arms(site, lambda other: f"{l} {other} m_r")
        if not arms:
            return f"{l} {operator} {r}"
        return self.marked(site, f"(match ({r}) {{ m_r => {self.switched(site, arms, f'{l} {operator} m_r')} }})")

    def emit_unary_expression(self, node):
        operator = self.text(node.children[0])
        if operator not in "!-":
            return self.children(node)
        site = self.site(node, operator, ["nothing"])
        operand = self.emit(node.children[-1])
        if site is None or site.first in self.changes.dropped:
            return f"{operator}{operand}"
        inner = self.switched(site, self.arms(site, lambda _: "m_v"), f"{operator}m_v")
        return self.marked(site, f"(match ({operand}) {{ m_v => {inner} }})")

    def emit_match_expression(self, node):
        block = node.child_by_field_name("body")
        arms = [child for child in block.children if child.type == "match_arm"]
        patterns = [arm.child_by_field_name("pattern") for arm in arms]
        wild = any(self.text(pattern) == "_" for pattern in patterns)
        replaced = {}
        for arm, pattern in zip(arms, patterns):
            if any(c.type == "attribute_item" and OTHER_BUILDS.search(self.text(c)) for c in arm.children):
                replaced[arm.id] = self.text(arm)
            else:
                replaced[arm.id] = self.arm(arm, pattern, wild)
        return self.children(node, {block.id: self.children(block, replaced)})

    def arm(self, arm, pattern, wild):
        guard = pattern.child_by_field_name("condition")
        if guard is not None and guard.type not in ("let_condition", "let_chain"):
            site = self.site(guard, "match guard", ["true", "false"])
            text = self.emit(guard)
            if site is not None and (switched := self.arms(site, lambda value: value)):
                text = self.marked(site, f"({self.switched(site, switched, text)})")
            return self.children(arm, {pattern.id: self.children(pattern, {guard.id: text})})
        if guard is None and wild and self.text(pattern) != "_":
            short = " ".join(self.text(pattern).split())
            site = self.site(arm, f"match arm {short}", ["the wildcard's"])
            if site is not None and site.first not in self.changes.dropped:
                switch = self.marked(site, f" if crate::mutant::at({site.first}, 1) != 1")
                return self.children(arm, {pattern.id: self.text(pattern) + switch})
        return self.children(arm, {pattern.id: self.text(pattern)} if guard is None else None)

    def emit_array_expression(self, node):
        length = node.child_by_field_name("length")
        return self.children(node, {length.id: self.as_constant(length)} if length is not None else None)

    def emit_macro_definition(self, node):
        self.in_macros += 1
        return self.text(node)

    def emit_macro_invocation(self, node):
        """Rewrites the expressions in `with_kernel!` and `matches!`; of other macros nothing."""
        name = self.text(node.child_by_field_name("macro"))
        text = self.text(node)
        if name == "with_kernel":
            start = text.index("=>") + 2
            end = len(text) - 1
        elif name == "matches":
            start = text.index("(") + 1
            end = start + comma(text[start:])
        else:
            return text
        prefix = b"fn f() { _ = "
        outer, shift = self.source, self.shift
        source = prefix + text[start:end].strip().encode() + b"; }"
        root = PARSER.parse(source).root_node
        if root.has_error:
            self.in_macros += 1
            return text
        lead = text[start:end][: len(text[start:end]) - len(text[start:end].lstrip())]
        expression = root.children[0].child_by_field_name("body").children[1].children[0].child_by_field_name("right")
        self.source = source
        self.shift += node.start_point[0] + text[:start].count("\n") + lead.count("\n")
        inner = self.emit(expression)
        self.source, self.shift = outer, shift
        return text[:start] + lead + inner + text[end:]

    def emit_impl_item(self, node):
        owner = re.sub(r"<.*", "", self.text(node.child_by_field_name("type")).replace("&", ""), flags=re.S)
        return self.scoped(node, owner)

    def emit_trait_item(self, node):
        return self.scoped(node, self.text(node.child_by_field_name("name")))

    def emit_mod_item(self, node):
        return self.scoped(node, None)

    def scoped(self, node, name):
        self.scopes.append(name)
        text = self.children(node)
        self.scopes.pop()
        return text

    def emit_function_item(self, node):
        before = (self.function, self.constant)
        name = self.text(node.child_by_field_name("name"))
        owner = self.scopes[-1] if self.scopes else None
        self.function = f"{owner}::{name}" if owner else name
        self.scopes.append(None)
        modifiers = next((child for child in node.children if child.type == "function_modifiers"), None)
        replaced = {}
        if modifiers is not None and "const" in self.text(modifiers):
            if name in self.changes.constant_functions:
                self.constant = True
            else:
                replaced[modifiers.id] = self.text(modifiers).replace("const", "")
                self.constant = False
        body = node.child_by_field_name("body")
        replaced[body.id] = self.body(node, name, body)
        text = self.children(node, replaced)
        self.scopes.pop()
        self.function, self.constant = before
        return text

    def body(self, function, name, body):
        returned = function.child_by_field_name("return_type")
        values = defaults(self.text(returned) if returned is not None else "()")
        inside = " ".join(self.text(body)[1:-1].split())
        values = [value for value in values if value != inside]
        if not inside or name == "default" or inside in ("Self::default()", "Default::default()"):
            values = []
        site = self.site(function, "body", values) if values else None
        text = self.children(body)
        arms = self.arms(site, lambda value: f"return {value}") if site is not None else ""
        if not arms:
            return text
        return "{" + self.marked(site, self.switched(site, arms, "")) + text[1:]


def comma(text):
    """Returns where the first comma outside brackets stands."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            return at
    raise ValueError(text)


def defaults(returned):
    """Returns the values that take the place of a function's result."""
    returned = " ".join(returned.split())
    if returned == "()":
        return ["()"]
    if returned == "fmt::Result":
        return ["Ok(())"]
    if returned == "bool":
        return ["true", "false"]
    if INTEGER.match(returned):
        return ["0", "1"]
    if match := re.fullmatch(r"Option<(.*)>", returned):
        return ["None"] + [f"Some({value})" for value in defaults(match[1]) if value not in ("None", "Default::default()")]
    if match := re.fullmatch(r"(?:io::)?Result<((?:[^<>,()]|\([^()]*\)|<[^<>]*>)*)(, .*)?>", returned):
        return [f"Ok({value})" for value in defaults(match[1])]
    if re.match(r"&('\w+ )?str$", returned):
        return ['""', '"xyzzy"']
    if re.match(r"&('\w+ )?\[", returned):
        return ["&[]"]
    if returned in ("!", "Self") or returned[0] == "&" or returned.startswith("impl "):
        return []
    return ["Default::default()"]


def spans(text):
    """Returns (start, end, site or mutant, whether it is a mutant's code) for each marked part, in bytes."""
    found, open_marks = [], []
    for match in re.finditer(rb"/\*(?:<(\d+)\.([01])|>)\*/", text):
        if match[1]:
            open_marks.append((match.start(), int(match[1]), match[2] == b"1"))
        else:
            start, number, is_mutant = open_marks.pop()
            found.append((start, match.end(), number, is_mutant))
    return found
