"""Questions with exact answers, made from a document by program.

Each question names its document, its kind, the JSON path that holds the answer and the answer itself, computed from the JSON.
Everything is drawn by a generator seeded with the document's name, so the same seed and document give the same questions
whatever else is in the corpus.

| kind | what is asked |
|---|---|
| key | a field of a row named by a key that tells the rows apart |
| position | a field of the first, third or last row |
| nested | a field inside an object of a row |
| constant | a field with the same value in all rows |
| missing, null, present | a field that the row lacks, that is null, or that other rows lack |
| url | a string that holds another field of the row, or a URL |
| count, filter | how many rows there are, or have a given value |
| list | one field of the first three rows |
| top, deep | a field outside the rows, on the first level or below |
"""
import random
from dataclasses import asdict, dataclass

from . import lexemes
from .documents import at, rows_of
from .lexemes import Object

KINDS = ("key", "position", "nested", "constant", "missing", "null", "present", "url", "count", "filter", "list", "top", "deep")
MOST = 12
ABSENT_RULE = " If the field is null answer null; if the item does not have the field answer missing."
_TELLING = ("id", "name", "number", "login", "sha", "orderId", "title", "full_name", "filename", "path", "key", "metadata.name", "uid")


@dataclass
class Question:
    """A question, its answer, and the path of the value that holds the answer (for a list, of the first)."""

    id: str
    doc: str
    kind: str
    text: str
    answer: str
    path: list

    def record(self):
        """Returns the question as a dict for a JSON file."""
        return asdict(self)


def make(document, seed, most=MOST):
    """Returns at most `most` questions about a document."""
    maker = Maker(document, random.Random(f"{seed}/{document.id}"))
    maker.about_rows() if document.main is not None else maker.about_members()
    return maker.chosen(most)


def shown(value):
    """Returns a scalar as an answer: a string's text, any other lexeme as it stands, `missing` for None."""
    if value is None:
        return "missing"
    return lexemes.body(value) if value.startswith('"') else value


def answerable(value):
    """Returns whether a value is a scalar short and plain enough to be an exact answer."""
    if not isinstance(value, str):
        return False
    text = shown(value)
    return 0 < len(text) <= 120 and text == text.strip() and not any(char in text for char in '\n\r\t"`…') and text not in ("missing", "null")


def leaves(value, path=()):
    """Yields the path and value of every scalar at most four steps deep, of lists the first element, where the keys can be named."""
    if isinstance(value, Object):
        for key, member in value.members:
            name = lexemes.body(key)
            if name and not any(char in name for char in ".`\n\"' "):
                yield from leaves(member, path + (name,))
    elif isinstance(value, list) and value and isinstance(value[0], Object) and path:
        yield from leaves(value[0], path + (0,))
    elif isinstance(value, str) and 0 < len(path) <= 4:
        yield path, value


def dotted(path):
    """Returns a path as a question names it: `labels[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


class Maker:
    """Draws questions about one document, by kind."""

    def __init__(self, document, rng):
        self.document, self.rng = document, rng
        self.made = {}

    def add(self, kind, text, answer, path):
        questions = self.made.setdefault(kind, [])
        if answer and all(question[0] != text for question in questions):
            questions.append((text, answer, list(path)))

    def chosen(self, most, kinds=KINDS):
        """Takes one question of each kind in turn until there are enough, so that no kind is left out."""
        taken, round_number = [], 0
        while len(taken) < most and any(len(found) > round_number for found in self.made.values()):
            for kind in kinds:
                found = self.made.get(kind, ())
                if len(found) > round_number and len(taken) < most:
                    taken.append((kind, *found[round_number]))
            round_number += 1
        taken.sort(key=lambda question: kinds.index(question[0]))
        name = self.document.id
        return [Question(f"{name}/{index}", name, *question) for index, question in enumerate(taken)]

    def some(self, values, count):
        values = list(values)
        return self.rng.sample(values, min(count, len(values)))

    # a document without a main list

    def about_members(self):
        value, prefix = self.document.value, ()
        if isinstance(value, list):
            prefix = (0,)
            value = value[0] if value else None
        found = list(leaves(value))
        where = " of the first element" if prefix else ""
        for kind, deep in (("top", False), ("deep", True)):
            fit = [(path, leaf) for path, leaf in found if answerable(leaf) and (len(path) > 1) == deep and not is_url(leaf)]
            for path, leaf in self.some(fit, 4):
                self.add(kind, f"What is the value of `{dotted(path)}`{where}?", shown(leaf), prefix + path)
        for path, leaf in self.some([(path, leaf) for path, leaf in found if is_url(leaf) and answerable(leaf)], 2):
            self.add("url", f"What is the value of `{dotted(path)}`{where}?", shown(leaf), prefix + path)
        rule = " If the field is null answer null; if it does not exist answer missing."
        for path, _ in self.some([(path, leaf) for path, leaf in found if leaf == "null"], 2):
            self.add("null", f"What is the value of `{dotted(path)}`{where}?" + rule, "null", prefix + path)
        self.about_lists(value, prefix)

    def about_lists(self, value, prefix):
        if not isinstance(value, Object):
            return
        for key, member in value.members:
            name = lexemes.body(key)
            if isinstance(member, list) and 2 <= len(member) <= 30 and "." not in name and "`" not in name:
                self.add("count", f"How many elements does the array `{name}` have?", str(len(member)), prefix + (name,))
                if all(isinstance(element, str) and answerable(element) for element in member):
                    number = self.rng.randrange(min(3, len(member)))
                    which = ("first", "second", "third")[number]
                    self.add("position", f"What is the {which} element of the array `{name}`?", shown(member[number]), prefix + (name, number))

    # a document with a main list

    def about_rows(self):
        main = self.document.main
        self.find_rows()
        if self.is_list and self.key is None:
            self.about_position(list(self.columns))
        else:
            self.about_fields()
        self.about_counts()
        self.about_shell(main)

    def find_rows(self):
        """Fills what questions need of the rows: `names`, `rows`, `columns`, and `key`, the column that tells them apart."""
        main = self.document.main
        body = at(self.document.value, main)
        self.names, self.rows = zip(*rows_of(body))
        self.is_list = isinstance(body, list)
        self.where = f"the {'array' if self.is_list else 'object'} `{dotted(main)}`" if main else f"the top-level {'array' if self.is_list else 'object'}"
        self.collect_columns()
        self.key = self.telling_column() if self.is_list else None

    def collect_columns(self):
        """Fills `columns`: for each path of a scalar in any row, its value in every row, or None."""
        paths = []
        for row in self.rows:
            paths += [path for path, _ in leaves(row) if path not in paths]
        self.columns = {}
        for path in paths:
            values = [at(row, path) for row in self.rows]
            if all(value is None or isinstance(value, str) for value in values):
                self.columns[path] = values

    def telling_column(self):
        """Returns the column that names rows best: all values present, different and short; None if there is none."""
        best = None
        for index, (path, values) in enumerate(self.columns.items()):
            texts = [shown(value) for value in values]
            if len(set(texts)) < len(texts) or not all(answerable(value) and len(shown(value)) <= 60 and not is_url(value) for value in values):
                continue
            if any(value in ("true", "false") or "." in value and not value.startswith('"') for value in values):
                continue
            name, last = dotted(path), path[-1].lower()
            rank = _TELLING.index(name) if name in _TELLING else 20 + 5 * len(path)
            if name not in _TELLING:
                rank += 0 if last.endswith(("name", "id", "arn", "key")) else 10
                rank += 40 if "date" in last or "time" in last or last.endswith("_at") else 0
            if best is None or (rank, index) < best[0]:
                best = ((rank, index), path)
        return best and best[1]

    def item(self, index):
        if not self.is_list:
            return f"the entry `{self.names[index]}` of {self.where}"
        value = self.columns[self.key][index]
        return f"the item of {self.where} whose `{dotted(self.key)}` is {value}"

    def field(self, kind, path, index, rule=""):
        value = self.columns[path][index]
        text = f"What is `{dotted(path)}` of {self.item(index)}?{rule}"
        self.add(kind, text, shown(value), self.document.main + (self.names[index],) + path)

    def about_fields(self):
        columns = self.columns
        varied = [path for path, values in columns.items() if path != self.key and len(set(values)) > 1]
        urls = [path for path in varied if any(value is not None and is_url(value) for value in columns[path]) or self.repeats_key(path)]
        flat = [path for path in varied if len(path) == 1 and path not in urls]
        inner = [path for path in varied if len(path) > 1 and path not in urls]
        same = [path for path, values in columns.items() if len(set(values)) == 1 and answerable(values[0])]
        for kind, paths, count in (("key", flat, 3), ("nested", inner, 3), ("constant", same, 2), ("url", urls, 2)):
            paths = [path for path in paths if any(map(answerable, columns[path]))]
            for path in self.some(paths, count):
                index = self.rng.choice([index for index, value in enumerate(columns[path]) if answerable(value)])
                self.field(kind, path, index)
        if self.is_list:
            self.about_position(flat + inner + [self.key])
        self.about_absence()

    def repeats_key(self, path):
        """Returns whether each value of a column holds the row's naming value: what a template would be filled with."""
        if self.key is None:
            return False
        pairs = zip(self.columns[path], self.columns[self.key])
        return all(value is not None and value.startswith('"') and shown(name) in shown(value) and value != name for value, name in pairs)

    def about_position(self, paths):
        full = [path for path in paths if all(map(answerable, self.columns[path])) and len(set(self.columns[path])) > 1]
        places = self.some((("first", 0), ("third", 2), ("last", len(self.rows) - 1)), 2)
        for label, index in places:
            if full:
                path = self.rng.choice(full)
                text = f"What is `{dotted(path)}` of the {label} item of {self.where}?"
                self.add("position", text, shown(self.columns[path][index]), self.document.main + (index,) + path)

    def about_absence(self):
        def lacks(path, index):
            """Returns whether the row has the object around the field, but not the field."""
            return self.columns[path][index] is None and isinstance(at(self.rows[index], path[:-1]), Object)

        absent = {path for path in self.columns if any(lacks(path, index) for index in range(len(self.rows)))}
        null = {path for path, values in self.columns.items() if "null" in values}
        rules = (
            ("missing", absent, lacks),
            ("null", null, lambda path, index: self.columns[path][index] == "null"),
            ("present", absent | null, lambda path, index: answerable(self.columns[path][index])),
        )
        for kind, paths, fits in rules:
            for path in self.some([path for path in self.columns if path in paths and path != self.key], 2):
                indices = [index for index in range(len(self.rows)) if fits(path, index)]
                if indices:
                    self.field(kind, path, self.rng.choice(indices), ABSENT_RULE)

    def about_counts(self):
        main, rows = self.document.main, "items" if self.is_list else "entries"
        self.add("count", f"How many {rows} does {self.where} have?", str(len(self.rows)), main)
        few = [path for path, values in self.columns.items() if 2 <= len(set(values)) <= 5 and all(answerable(value) and len(value) < 40 for value in values)]
        if few and len(self.rows) >= 4:
            path = self.rng.choice(few)
            value = self.rng.choice(self.columns[path])
            text = f"How many {rows} of {self.where} have `{dotted(path)}` equal to {value}?"
            self.add("filter", text, str(self.columns[path].count(value)), main + (self.names[0],) + path)
        if self.key is not None:
            values = self.columns[self.key][:3]
            counted = all(value.isdigit() for value in values) and int(values[2]) - int(values[0]) == 2
            if not counted and all("," not in shown(value) and len(shown(value)) <= 40 for value in values):
                text = f"List `{dotted(self.key)}` of the first three items of {self.where}, in order, separated by commas."
                self.add("list", text, ", ".join(map(shown, values)), main + (0,) + self.key)

    def about_shell(self, main):
        if not main or not isinstance(self.document.value, Object):
            return
        rest = Object([(key, value) for key, value in self.document.value.members if lexemes.body(key) != main[0]])
        found = [(path, value) for path, value in leaves(rest) if answerable(value)]
        for path, value in self.some(found, 2):
            self.add("top" if len(path) == 1 else "deep", f"What is the value of `{dotted(path)}`?", shown(value), path)


def is_url(lexeme):
    """Returns whether a lexeme is a string that holds an address of the web."""
    return lexeme.startswith(('"http://', '"https://'))
