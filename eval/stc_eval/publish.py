"""Writes the published tables from the recordings in eval/answers, or checks that they are as written.

    eval/report --publish     writes them
    eval/report --check       fails, and names the file, if one differs

A table stands in a page between `<!-- NAME: made by eval/report --publish -->` and `<!-- end of NAME -->`. A large reader's rows
and tables come from `report-large.jsonl.gz` and `constructs-large.jsonl.gz`, which eval/hand-in makes; without those files they are not there.
"""
import sys

from . import formats, prompts
from .hard import HARD
from .questions import KINDS
from .statistics import exact, mean

ROOT = formats.HERE.parent
ANSWERS = formats.HERE / "answers"
SMALL, LARGE, CONSTRUCTS = "report-qwen", "report-large", "constructs-large"
TITLES = {
    "json": "minified JSON",
    "json-pretty": "JSON, 2 spaces",
    "yaml": "YAML",
    "toon": "TOON",
    "csv": "CSV, flat documents",
    "markdown": "Markdown, flat documents",
    "stc1": "`stc1`",
    "stc2": "`stc2`",
    "stc2-labelled": "`stc2-labelled`",
}
# Formats whose texts the encoder has changed since they were asked about; the pages say of which day they are.
CHANGED = {SMALL: ("stc2",), LARGE: (), CONSTRUCTS: ()}
COMPARED = ("toon", "stc2-labelled", "stc2")
LOOKUPS = "lookups"
ORDERS = {"after": "question after the data", "both": "question before and after"}


def files(make_report):
    """Returns {path: text} of everything that is published; `make_report` makes a report of a recording."""
    found = {name: ANSWERS / f"{name}.jsonl.gz" for name in (SMALL, LARGE, CONSTRUCTS)}
    small, large, special = (make_report(path) if path.exists() else None for path in found.values())
    tables = {
        ROOT / "README.md": {"reading": readers(small, large)},
        formats.HERE / "README.md": {
            "large reader": by_setting(large) if large else ["Nothing is recorded yet."],
            "large reader by kind": by_kind(large) if large else [],
            "large reader by construct": by_construct(large) if large else [],
            "large reader, more of some constructs": more(special) if special else [],
            "small reader": summary(small, [name for name in small.formats() if name in TITLES]),
            "small reader by construct": constructs(small, ("stc2-labelled", "stc2")),
        },
    }
    made = {}
    for path, named in tables.items():
        text = path.read_text(encoding="utf-8")
        for name, lines in named.items():
            text = replaced(text, name, lines, path)
        made[path] = text
    return made


def replaced(text, name, lines, path):
    """Returns the text of a page with new lines between the two marks of a table."""
    first, last = f"<!-- {name}: made by eval/report --publish -->\n", f"<!-- end of {name} -->\n"
    if text.count(first) != 1 or text.count(last) != 1 or text.index(first) > text.index(last):
        raise ValueError(f"{path.name} has no place for the table {name!r}")
    before, _, rest = text.partition(first)
    return before + first + "".join(f"{line}\n" for line in ["", *lines, ""] if lines) + last + rest.partition(last)[2]


def readers(small, large):
    """Returns the table of both readers: right answers in JSON, the difference of other formats, and their tokens."""
    lines = []
    if large:
        lines += [f"The large reader is {large.asked['model']}, {large.asked['when']}. It was told {large.asked['told']}; nobody watched. With and without a legend count together.", ""]
    lines += ["| reader | questions | minified JSON | " + " | ".join(map(title, COMPARED)) + " |", "|---|---|---|" + "---|" * len(COMPARED)]
    if large:
        for what, kinds in ((LOOKUPS, KINDS), ("hard questions", HARD)):
            asked = of_kinds(large, kinds)
            cells = [f"large, {what}", str(len(asked)), f"{100 * mean(large.right['json/after'][key] for key in sorted(asked)):.1f} %"]
            lines.append("| " + " | ".join(cells + [points(*exact(*pooled(large, name, asked))) for name in COMPARED]) + " |")
        lines.append(tokens("large, tokens / JSON", large))
    for order, words in ORDERS.items():
        base = f"json/{order}"
        cells = [f"small, {words}", str(len(small.right[base])), f"{100 * mean(small.right[base].values()):.1f} %"]
        lines.append("| " + " | ".join(cells + [small.difference(f"{name}/{order}", base) for name in COMPARED]) + " |")
    lines.append(tokens("small, tokens / JSON", small))
    return lines


def tokens(name, report):
    """Returns the row of sizes of the texts that a reader was given, mean over documents."""
    return "| " + " | ".join([name, "", *(f"{report.size(one, 1):.2f}" for one in ("json", *COMPARED))]) + " |"


def points(centre, low, high):
    """Returns a difference in points with its interval."""
    return f"{100 * centre:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def of_kinds(report, kinds):
    """Returns the questions of these kinds that were asked in JSON."""
    return {key for key in report.right["json/after"] if report.questions[key]["kind"] in kinds}


def pooled(report, name, keys):
    """Returns what is right in a format, with a legend and without, and in JSON; each answer is counted on its own."""
    settings = [setting for setting in report.right if prompts.recorded(setting).format == name]
    first = {(setting, key): value for setting in settings for key, value in report.right[setting].items() if key in keys}
    base = {(setting, key): report.right["json/after"][key] for setting, key in first if key in report.right["json/after"]}
    return first, base


def by_setting(report):
    """Returns the table of a large reader: each setting on its own, by lookups and hard questions."""
    asked = report.asked
    lines = [f"Read by {asked['model']}, {asked['when']}. Told: {asked['told']}. {len(asked['readers'])} readings, `{asked['command']}`.", ""]
    lines += ["| format | tokens / JSON | lookups right | difference to JSON | hard questions right | difference to JSON |", "|---|---|---|---|---|---|"]
    for setting in report.of_order("after"):
        made = prompts.recorded(setting)
        cells = [title(made.format) + ("" if made.legend == "none" else " with legend"), f"{report.size(made.format, 1):.2f}"]
        for kinds in (KINDS, HARD):
            asked = of_kinds(report, kinds)
            found = {key: value for key, value in report.right[setting].items() if key in asked}
            cells.append(f"{sum(found.values()):.0f} of {len(found)}")
            cells.append("" if setting == "json/after" else points(*exact(found, {key: report.right["json/after"][key] for key in found})))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def by_kind(report):
    """Returns the table of a large reader's right answers by kind of question."""
    found = {}
    for key in report.right["json/after"]:
        found.setdefault(report.questions[key]["kind"], set()).add(key)
    return counts(report, "kind", sorted(found.items(), key=lambda group: (KINDS + HARD).index(group[0])))


def by_construct(report):
    """Returns the table of a large reader's right answers by the construct of `stc2` that holds the answer."""
    return counts(report, "in `stc2` the answer is in", report.groups("stc2"))


def more(report):
    """Returns the table of a recording of `eval/hand-out --constructs`, and where it comes from."""
    said = "More questions whose answers stand in some constructs of `stc2`"
    return [f"{said}: `answers/{CONSTRUCTS}.jsonl.gz`, {report.asked['model']}, {report.asked['when']}.", "", *by_construct(report)]


def counts(report, name, groups):
    """Returns a table of how many answers of each group are right in each setting."""
    settings = report.of_order("after")
    titles = [title(prompts.recorded(one).format) + ("" if prompts.recorded(one).legend == "none" else " with legend") for one in settings]
    lines = [f"| {name} | questions | " + " | ".join(titles) + " |", "|---|---|" + "---|" * len(settings)]
    for group, keys in groups:
        cells = [group, str(len(keys))]
        for setting in settings:
            right = [value for key, value in report.right[setting].items() if key in keys]
            cells.append("all" if sum(right) == len(keys) else f"{sum(right):.0f}" + ("" if len(right) == len(keys) else f" of {len(right)}"))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


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


def by_groups(report, groups):
    """Returns a table of groups (format, what they have in common, questions): how many, and the difference to JSON in both orders."""
    lines = ["| format | the answer is in | questions | question after | before and after |", "|---|---|---|---|---|"]
    for name, construct, keys in groups:
        differences = [report.difference(f"{name}/{order}", f"json/{order}", keys) for order in ("after", "both")]
        lines.append(f"| {title(name)} | {construct} | {len(keys)} | " + " | ".join(differences) + " |")
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
    print(f"eval/report: {len(wrong)} files written" if not check else "eval/report: every published table is what the recordings say")
    return 0
