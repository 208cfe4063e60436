"""Writes the published tables and plots from the recordings in eval/answers, or checks that they are as written.

    eval/report --publish     writes them
    eval/report --check       fails, and names the file, if one differs

A table stands in a page between `<!-- NAME: made by eval/report --publish -->` and `<!-- end of NAME -->`.
"""
import sys
from pathlib import Path

from . import formats
from .statistics import mean

ROOT = formats.HERE.parent
ANSWERS = formats.HERE / "answers"
TITLES = {
    "json": "minified JSON",
    "json-pretty": "JSON, 2 spaces",
    "yaml": "YAML",
    "toon": "TOON",
    "csv": "CSV, flat documents",
    "markdown": "Markdown, flat documents",
    "stc1": "`stc1`",
    "stc2": "**`stc2`**",
    "stc2-labelled": "`stc2-labelled`",
}
RECORDINGS = ("report-qwen", "constructs-qwen", "choose-qwen", "copies-qwen", "narrow-qwen", "report-gemma3")
SHORT = ("json", "yaml", "toon", "stc1", "stc2", "stc2-labelled")


def files(make_report):
    """Returns {path: text} of everything that is published; `make_report` makes a report of a recording."""
    made = {}
    reports = {name: make_report(ANSWERS / f"{name}.jsonl.gz") for name in RECORDINGS}
    measured = reports["report-qwen"]
    tables = {
        ROOT / "README.md": {"reading": summary(measured, SHORT), "reading by construct": constructs(measured, ("stc2-labelled", "stc2"))},
        formats.HERE / "README.md": {
            "report half": summary(measured, measured.formats()),
            "report half by construct": constructs(measured, ("stc2-labelled", "stc2")),
            "constants and copies": of_constructs(reports["constructs-qwen"]),
            "choose half": summary(reports["choose-qwen"], reports["choose-qwen"].formats()),
            "copies": summary(reports["copies-qwen"], reports["copies-qwen"].formats()),
            "narrow tables": summary(reports["narrow-qwen"], reports["narrow-qwen"].formats()),
            "Gemma 3": summary(reports["report-gemma3"], reports["report-gemma3"].formats()),
            "Gemma 3 by likelihood": likelihoods(reports["report-gemma3"]),
        },
    }
    for path, named in tables.items():
        text = path.read_text(encoding="utf-8")
        for name, lines in named.items():
            text = replaced(text, name, lines, path)
        made[path] = text
    for order in measured.orders():
        made[ANSWERS / f"frontier-{order}.svg"] = measured.plot(order)
    return made


def replaced(text, name, lines, path):
    """Returns the text of a page with new lines between the two marks of a table."""
    first, last = f"<!-- {name}: made by eval/report --publish -->\n", f"<!-- end of {name} -->\n"
    if text.count(first) != 1 or text.count(last) != 1 or text.index(first) > text.index(last):
        raise ValueError(f"{path.name} has no place for the table {name!r}")
    before, _, rest = text.partition(first)
    return before + first + "\n" + "\n".join(lines) + "\n\n" + last + rest.partition(last)[2]


def summary(report, names):
    """Returns the table of formats: tokens, and what is right in both orders."""
    lines = ["| format | tokens / JSON | right %, question after | difference to JSON | right %, before and after | difference to JSON |", "|---|---|---|---|---|---|"]
    for name in names:
        cells = [title(name), f"{report.size(name, 1):.2f}"]
        for order in ("after", "both"):
            right = report.right.get(f"{name}/{order}")
            cells.append("" if right is None else f"{100 * mean(right.values()):.1f}")
            cells.append("" if right is None else report.difference(f"{name}/{order}", f"json/{order}"))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def title(name):
    """Returns what a table calls a format."""
    return TITLES.get(name, f"`{name}`")


def constructs(report, names):
    """Returns the table of what holds the answer in these formats."""
    return by_groups(report, [(name, construct, keys) for name in names for construct, keys in report.groups(name)])


def of_constructs(report):
    """Returns the table of many questions about two constructs. Values that `stc2-copies` has as copies, `stc2-labelled` writes out."""
    copies = dict(report.groups("stc2-copies"))["copy"]
    constants = dict(report.groups("stc2-labelled"))["constant"] - copies
    return by_groups(report, [("stc2-labelled", "constant", constants), ("stc2-labelled", "written out", copies), ("stc2-copies", "copy", copies)])


def by_groups(report, groups):
    """Returns a table of groups (format, what they have in common, questions): how many, and the difference to JSON in both orders."""
    lines = ["| format | the answer is in | questions | question after | before and after |", "|---|---|---|---|---|"]
    for name, construct, keys in groups:
        differences = [report.difference(f"{name}/{order}", f"json/{order}", keys) for order in ("after", "both")]
        lines.append(f"| {title(name)} | {construct} | {len(keys)} | " + " | ".join(differences) + " |")
    return lines


def likelihoods(report):
    """Returns the table of a model too weak to answer: the mean log-probability of the right answers."""
    lines = ["| format | log-probability, question after | before and after |", "|---|---|---|"]
    for name in report.formats():
        cells = [title(name), *(report.likelihood(f"{name}/{order}", f"json/{order}") for order in ("after", "both"))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def run(check, make_report):
    """Writes or checks all files; returns the exit status."""
    wrong = []
    for path, text in files(make_report).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        wrong.append(str(path.relative_to(ROOT)))
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and wrong:
        print(f"eval/report: not what the recordings say: {', '.join(wrong)}; eval/report --publish writes it", file=sys.stderr)
        return 1
    print(f"eval/report: {len(wrong)} files written" if not check else "eval/report: every published table and plot is what the recordings say")
    return 0
