"""Questions for strong readers: about many rows at once, by number, and answers written out as JSON.

As in `questions.py` every answer is computed from the JSON, and the same seed and document give the same questions. A question is
left out where it would have two answers: rows with equal keys, ties for the largest, values that differ in their spelling alone.

| kind | what is asked |
|---|---|
| largest, earliest | the row with the largest or smallest number, the first or last time |
| having | all rows with a value, in order |
| cell | a field of a row named by its number |
| gap | a field that may be missing or null |
| end | the last field of the last row |
| row, object | a whole row, or an object or list inside, as JSON |
| sum | of a field over some rows that follow one another |
"""
import random
import re
from decimal import Decimal

from . import lexemes
from .documents import at
from .lexemes import Object, minify
from .questions import ABSENT_RULE, Maker, answerable, dotted, is_url, shown

HARD = ("largest", "earliest", "having", "cell", "gap", "end", "row", "object", "sum")
JSON_KINDS = ("row", "object")
MOST = 15
FURTHEST = 36  # a row is named by its number up to here: nobody counts to 700
LONGEST_ROW, LONGEST_OBJECT = 1500, 700
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d{0,5}[1-9])?")
_WHOLE = re.compile(r"\d{1,6}")
_TIME = re.compile(r'"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"')


def make(document, seed, most=MOST):
    """Returns at most `most` hard questions about a document."""
    maker = _HardMaker(document, random.Random(f"{seed}/hard/{document.id}"))
    maker.about_rows() if document.main is not None else maker.about_objects(document.value, (), "")
    return maker.chosen(most, HARD)


def plain_numbers(value):
    """Returns whether every number of a tree is spelled as any JSON library prints it.

    A format whose encoder goes through parsed values changes other spellings; that would be asked of the encoder, not of the reader.
    """
    if isinstance(value, Object):
        return all(plain_numbers(member) for _, member in value.members)
    if isinstance(value, list):
        return all(map(plain_numbers, value))
    return value[0] not in "-0123456789" or len(value) <= 15 and bool(_PLAIN.fullmatch(value)) and value != "-0"


class _HardMaker(Maker):
    def about_rows(self):
        self.find_rows()
        key = self.key
        self.telling = key if key is not None and all("," not in shown(value) and len(shown(value)) <= 40 for value in self.columns[key]) else None
        self.near = range(min(FURTHEST, len(self.rows)))
        self.about_extremes()
        self.about_having()
        self.about_cells()
        self.about_gaps()
        self.about_whole_rows()
        self.about_sums()

    def named(self, index):
        """Returns a row's name in a question: by its key where it has one, else by its number."""
        if self.key is not None or not self.is_list:
            return self.item(index)
        return self.numbered(index)

    def numbered(self, index):
        return f"item number {index + 1} of {self.where} (the first is number 1)"

    def path_of(self, index, path=()):
        return self.document.main + (self.names[index],) + path

    def others(self):
        """Yields the columns besides the one that names the rows."""
        for path, values in self.columns.items():
            if path != self.key:
                yield path, values

    def about_extremes(self):
        numbers, times = [], []
        for path, values in self.others():
            given = [value for value in values if value not in (None, "null")]
            if len(given) < 5 or 2 * len(given) < len(values) or len(set(given)) < 4:
                continue
            if all(_NUMBER.fullmatch(value) for value in given):
                numbers.append((path, {index: Decimal(value) for index, value in enumerate(values) if value in given}))
            elif all(_TIME.fullmatch(value) for value in given) and len({(len(value), value[20:]) for value in given}) == 1:
                times.append((path, {index: value for index, value in enumerate(values) if value in given}))
        for kind, found, words in (("largest", numbers, ("largest", "smallest")), ("earliest", times, ("latest", "earliest"))):
            for path, of_row in self.some(found, 3):
                word, best = self.rng.choice(((words[0], max(of_row.values())), (words[1], min(of_row.values()))))
                holding = [index for index, value in of_row.items() if value == best]
                if len(holding) != 1:
                    continue
                [index] = holding
                if self.telling is not None and self.rng.random() < 0.7:
                    asked, text = self.telling, f"What is `{dotted(self.telling)}` of the item of {self.where} with the {word} `{dotted(path)}`?"
                else:
                    asked, text = path, f"What is the {word} `{dotted(path)}` among the {'items' if self.is_list else 'entries'} of {self.where}?"
                self.add(kind, text, shown(self.columns[asked][index]), self.path_of(index, path))

    def about_having(self):
        if self.telling is None:
            return
        fit = []
        for path, values in self.others():
            different = {value for value in values if value is not None}
            if len({shown(value) for value in different}) < len(different):
                continue
            fit += [(path, value) for value in sorted(different) if 2 <= values.count(value) <= 8 and answerable(value) and len(value) <= 60]
        for path, value in self.some(fit, 3):
            holding = [index for index, other in enumerate(self.columns[path]) if other == value]
            text = f"List `{dotted(self.telling)}` of all items of {self.where} whose `{dotted(path)}` is {value}, in the order of the data, separated by commas."
            self.add("having", text, ", ".join(shown(self.columns[self.telling][index]) for index in holding), self.path_of(holding[0], path))

    def about_cells(self):
        paths = [path for path, values in self.columns.items() if len(set(values)) > 1]
        for path in self.some(paths, 4):
            fit = [index for index in self.near if index > 2 and answerable(self.columns[path][index])]
            if fit and self.is_list:
                index = self.rng.choice(fit)
                self.add("cell", f"What is `{dotted(path)}` of {self.numbered(index)}?", shown(self.columns[path][index]), self.path_of(index, path))
        last = len(self.rows) - 1
        held = [path for path in self.columns if answerable(self.columns[path][last])]
        if held and self.is_list:
            self.add("end", f"What is `{dotted(held[-1])}` of the last item of {self.where}?", shown(self.columns[held[-1]][last]), self.path_of(last, held[-1]))

    def about_gaps(self):
        fits = (
            lambda path, index: self.columns[path][index] is None and isinstance(at(self.rows[index], path[:-1]), Object),
            lambda path, index: self.columns[path][index] == "null",
            lambda path, index: answerable(self.columns[path][index]),
        )
        paths = [path for path, values in self.others() if None in values or "null" in values]
        rows = range(len(self.rows)) if self.key is not None or not self.is_list else self.near
        for number, path in enumerate(self.some(paths, 6)):
            for turn in range(len(fits)):
                found = [index for index in rows if fits[(number + turn) % len(fits)](path, index)]
                if found:
                    index = self.rng.choice(found)
                    self.add("gap", f"What is `{dotted(path)}` of {self.named(index)}?{ABSENT_RULE}", shown(self.columns[path][index]), self.path_of(index, path))
                    break

    def about_whole_rows(self):
        rows = range(len(self.rows)) if self.key is not None or not self.is_list else self.near
        short = [index for index in rows if 30 <= len(minify(self.rows[index])) <= LONGEST_ROW and writable(self.rows[index])]
        for index in self.some(short, 3):
            self.add("row", f"Write {self.named(index)} as JSON: all of it, its members in their order.", minify(self.rows[index]), self.path_of(index))
        for index in self.some(rows, 8):
            inner = [(path, value) for path, value in containers(self.rows[index]) if path]
            if inner and len(self.made.get("object", ())) < 3:
                path, value = self.rng.choice(inner)
                self.add("object", f"Write `{dotted(path)}` of {self.named(index)} as JSON: all of it, in its order.", minify(value), self.path_of(index, path))

    def about_objects(self, value, prefix, where):
        """Asks for objects and lists of a document without a main list, and for single members of them."""
        for path, found in self.some([(path, found) for path, found in containers(value) if path], 6):
            self.add("object", f"Write `{dotted(path)}`{where} as JSON: all of it, in its order.", minify(found), prefix + path)

    def about_sums(self):
        fit = []
        for path, values in self.others():
            runs = [start for start in self.near if all(value is not None and _WHOLE.fullmatch(value) for value in values[start : start + 4]) and start + 4 <= len(values)]
            runs = [start for start in runs if len(set(values[start : start + 4])) > 2]
            fit += [(path, start) for start in self.some(runs, 1)]
        for path, start in self.some(fit if self.is_list else [], 2):
            text = f"What is the sum of `{dotted(path)}` over the items number {start + 1} to {start + 4} of {self.where} (the first is number 1)?"
            self.add("sum", text, str(sum(int(value) for value in self.columns[path][start : start + 4])), self.path_of(start, path))


def writable(value):
    """Returns whether a value can be asked for as JSON: numbers in their usual spelling, strings short and without line ends."""
    if isinstance(value, Object):
        return plain_numbers(value) and all(writable(member) for _, member in value.members)
    if isinstance(value, list):
        return plain_numbers(value) and all(map(writable, value))
    return plain_numbers(value) and len(value) <= 250 and "\\" not in value and "…" not in value


def containers(value, path=()):
    """Yields the path and value of every object or list inside that can be named and asked for, at most four steps deep."""
    if isinstance(value, Object):
        if path and len(value.members) >= 2 and 30 <= len(minify(value)) <= LONGEST_OBJECT and writable(value):
            yield path, value
        for key, member in value.members:
            name = lexemes.body(key)
            if name and len(path) < 4 and not any(char in name for char in ".`\n\"' []"):
                yield from containers(member, path + (name,))
    elif isinstance(value, list) and path and 2 <= len(value) and 30 <= len(minify(value)) <= LONGEST_OBJECT and writable(value):
        yield path, value
