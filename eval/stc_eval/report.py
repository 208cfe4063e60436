"""Makes the tables and the plot from recorded answers; the same recordings give the same bytes.

    eval/report ANSWERS.jsonl.gz … [--questions questions.json] [--out FOLDER]
    eval/report --publish | --check

Without --out the report goes to the standard output and no plot is written.
"""
import argparse
import json
import sys
from pathlib import Path

from . import plot, prompts, publish, recording, scoring
from .hard import HARD
from .questions import KINDS
from .statistics import mean, paired

FEWEST = 8  # answers of a construct that get a row of their own


def main(arguments=None):
    """Writes the report; returns 0, or 2 with a message where the files cannot be used."""
    parser = argparse.ArgumentParser(prog="eval/report", description=__doc__.split("\n\n")[0])
    parser.add_argument("answers", nargs="*", type=Path)
    parser.add_argument("--publish", action="store_true", help="write the tables of README.md and eval/README.md, and the plots")
    parser.add_argument("--check", action="store_true", help="fail if one of them is not what the recordings say")
    parser.add_argument("--questions", type=Path, help="what was asked, if the answers do not say")
    parser.add_argument("--half", choices=("choose", "report", "all"), default="all", help="only questions of one half")
    parser.add_argument("--out", type=Path, help="a folder for report.md and one plot an order")
    options = parser.parse_args(arguments)
    if options.publish or options.check:
        return publish.run(options.check, lambda path: Report(*recording.read([path])))
    if not options.answers:
        parser.error("give a recording, or --publish, or --check")
    try:
        prepared = json.loads(options.questions.read_text(encoding="utf-8")) if options.questions else None
        asked, answers = recording.read(options.answers, prepared)
    except (OSError, ValueError) as error:
        print(f"eval/report: {error}", file=sys.stderr)
        return 2
    report = Report(asked, answers, options.half)
    text = report.text()
    if options.out is None:
        sys.stdout.write(text)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.md").write_text(text, encoding="utf-8")
    for order in report.orders():
        drawn = report.plot(order)
        if drawn:
            (options.out / f"frontier-{order}.svg").write_text(drawn, encoding="utf-8")
    return 0


def rank(name):
    """Returns the place of a format in tables: as `FORMATS` has it, then by name."""
    known = prompts.formats.FORMATS
    return (known.index(name), "") if name in known else (len(known), name)


class Report:
    """Scored answers, grouped as the tables need them."""

    def __init__(self, asked, answers, half="all"):
        self.asked = asked
        self.questions = {question["id"]: question for question in asked["questions"] if half in ("all", question["half"])}
        self.document_of = {key: question["doc"] for key, question in self.questions.items()}
        self.seed = asked["about"]["seed"]
        self.answers = {name: {key: answer for key, answer in found.items() if key in self.questions} for name, found in answers.items()}
        self.right = {
            name: {key: float(scoring.is_right(self.questions[key], answer["answer"])) for key, answer in found.items()}
            for name, found in self.answers.items()
            if found
        }

    def orders(self):
        """Returns the orders that were asked in."""
        found = {prompts.recorded(name).order for name in self.right}
        return [order for order in prompts.ORDERS if order in found]

    def of_order(self, order):
        """Returns the settings of an order: minified JSON first, then by name of format and legend as recorded."""
        names = [name for name in self.right if prompts.recorded(name).order == order]
        return sorted(names, key=lambda name: (rank(prompts.recorded(name).format), name))

    def formats(self):
        """Returns the formats that were asked without a legend, minified JSON first."""
        found = {prompts.recorded(name) for name in self.right}
        return sorted({setting.format for setting in found if setting.legend == "none"}, key=rank)

    def groups(self, name):
        """Returns the constructs of a format with at least FEWEST questions, each with its questions, the largest first."""
        found = {}
        for key, question in self.questions.items():
            found.setdefault(question["constructs"].get(name, "member"), set()).add(key)
        return sorted(((construct, keys) for construct, keys in found.items() if len(keys) >= FEWEST), key=lambda group: (-len(group[1]), group[0]))

    def text(self):
        """Returns the report as Markdown."""
        halves = sorted({question["half"] for question in self.questions.values()})
        documents = len(set(self.document_of.values()))
        lines = ["# How well a model reads each format", ""]
        lines.append(f"Model: {self.asked.get('model', 'not recorded')}, digest {self.asked.get('digest', 'not recorded')}.")
        lines.append(f"Half of the corpus: {' and '.join(halves)}. {len(self.questions)} questions about {documents} documents, seed {self.seed}.")
        if self.asked.get("command"):
            lines.append(f"Command: `{self.asked['command']}`.")
        lines += ["", "Intervals are 95 %, documents resampled. Differences are paired, to minified JSON in the same order of question and data.", ""]
        for order in self.orders():
            lines += self.summary(order) + self.by_kind(order) + self.by_construct(order)
        return "\n".join(lines).rstrip() + "\n"

    def size(self, name, unit):
        """Returns the mean over documents of a format's size relative to minified JSON; unit 0 is bytes, 1 o200k tokens."""
        sizes, base = self.asked["sizes"].get(name, {}), self.asked["sizes"].get("json", {})
        shared = sorted(set(sizes) & set(base) & set(self.document_of.values()))
        return mean(sizes[key][unit] / base[key][unit] for key in shared)

    def prompt_tokens(self, name):
        return mean(answer["tokens"] for answer in self.answers[name].values() if answer.get("tokens"))

    def summary(self, order):
        base = f"json/{order}"
        lines = [f"## Question {order} the data" if order != "both" else "## Question before and after the data", ""]
        lines.append("| text | asked | o200k / JSON | prompt tokens | right % | difference to JSON | right a 1,000 tokens | log-probability |")
        lines.append("|---|---|---|---|---|---|---|---|")
        for name in self.of_order(order):
            right, tokens = self.right[name], self.prompt_tokens(name)
            accuracy = 100 * mean(right.values())
            cells = [self.label(name), str(len(right)), f"{self.size(prompts.recorded(name).format, 1):.2f}", f"{tokens:.0f}" if tokens else "", f"{accuracy:.1f}"]
            cells.append(self.difference(name, base))
            cells.append(f"{10 * accuracy / tokens:.3f}" if tokens else "")
            cells.append(self.likelihood(name, base))
            lines.append("| " + " | ".join(cells) + " |")
        return lines + [""]

    @staticmethod
    def label(name):
        setting = prompts.recorded(name)
        return setting.format + {"none": "", "legend": ", with legend"}.get(setting.legend, f", {setting.legend} legend")

    def difference(self, name, base, keys=None):
        if name == base or base not in self.right:
            return ""
        first, second = self.right[name], self.right[base]
        if keys is not None:
            first = {key: value for key, value in first.items() if key in keys}
        centre, low, high = paired(first, second, self.document_of, self.seed)
        return f"{100 * centre:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"

    def likelihood(self, name, base):
        """Returns the mean log-probability of the right answers, or its difference to JSON, where the answers have it."""
        chances = {key: {q: answer["logp"] for q, answer in self.answers.get(key, {}).items() if "logp" in answer} for key in (name, base)}
        if not chances[name]:
            return ""
        if name == base:
            return f"{mean(chances[name].values()):.3f}"
        centre, low, high = paired(chances[name], chances[base], self.document_of, self.seed)
        return f"{centre:+.3f} [{low:+.3f}, {high:+.3f}]"

    def by_kind(self, order):
        kinds = [kind for kind in KINDS + HARD if any(question["kind"] == kind for question in self.questions.values())]
        counts = {kind: sum(question["kind"] == kind for question in self.questions.values()) for kind in kinds}
        lines = [f"### Right % by kind of question, {order}", "", "| text | " + " | ".join(f"{kind} ({counts[kind]})" for kind in kinds) + " |"]
        lines.append("|---" * (len(kinds) + 1) + "|")
        for name in self.of_order(order):
            cells = []
            for kind in kinds:
                found = [value for key, value in self.right[name].items() if self.questions[key]["kind"] == kind]
                cells.append(f"{100 * mean(found):.0f}" if found else "")
            lines.append(f"| {self.label(name)} | " + " | ".join(cells) + " |")
        return lines + [""]

    def by_construct(self, order):
        base = f"json/{order}"
        lines = [f"### By the construct that holds the answer, {order}", "", "| text | construct | asked | right % | JSON % | difference to JSON |", "|---|---|---|---|---|---|"]
        for name in self.of_order(order):
            setting = prompts.recorded(name)
            if setting.format in ("json", "json-pretty", "yaml", "toon", "csv", "markdown") or setting.legend != "none" or base not in self.right:
                continue
            groups = {}
            for key in self.right[name]:
                groups.setdefault(self.questions[key]["constructs"].get(setting.format, "member"), set()).add(key)
            for construct, keys in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
                if len(keys) >= FEWEST:
                    mine = 100 * mean(self.right[name][key] for key in sorted(keys))
                    theirs = 100 * mean(self.right[base][key] for key in sorted(keys) if key in self.right[base])
                    lines.append(f"| {self.label(name)} | {construct} | {len(keys)} | {mine:.1f} | {theirs:.1f} | {self.difference(name, base, keys)} |")
        return lines + [""]

    def plot(self, order):
        """Returns the plot of an order, or "" where fewer than two settings without legend were asked."""
        base = f"json/{order}"
        points, intervals = [], {}
        whole = len(self.right.get(base, ()))
        for name in self.of_order(order):
            setting = prompts.recorded(name)
            if setting.legend != "none" or len(self.right[name]) < whole:
                continue
            accuracy = 100 * mean(self.right[name].values())
            points.append((setting.format, self.size(setting.format, 1), accuracy))
            if name != base and base in self.right:
                centre, low, high = paired(self.right[name], self.right[base], self.document_of, self.seed)
                intervals[setting.format] = (accuracy + 100 * (low - centre), accuracy + 100 * (high - centre))
        return plot.svg(f"Right answers over tokens, question {order} the data", points, intervals) if len(points) > 1 else ""


if __name__ == "__main__":
    sys.exit(main())
