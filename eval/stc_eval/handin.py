"""Scores what the readers of `eval/hand-out OUT` wrote, and makes a recording like that of any other run.

    eval/hand-in OUT --model NAME [--when DATE] [--out FILE] [--unanswered wrong] [--leave-out reader-03]

Every answer that is missing, malformed, too many, or to an unknown question is named, and nothing is recorded before all are there.
"""
import argparse
import datetime
import gzip
import json
import re
import sys
from pathlib import Path

from . import handout, recording, report
from .formats import HERE
from .hard import JSON_KINDS

_ANSWER = re.compile(r"(\d+\.\d+):(?: (.*))?")
_FILE = re.compile(r"\d{2,}\.txt")
TOLD = "to use no tool but one that prints a file of its folder"


def main(arguments=None):
    """Makes the recording and prints the report; returns 0, 1 if answers are not as they have to be, or 2 if something cannot be read."""
    options = parsed(arguments)
    try:
        with gzip.open(options.folder / handout.KEY, "rt", encoding="utf-8") as file:
            key = json.load(file)
        readers = chosen(key, options.leave_out)
    except (OSError, ValueError) as error:
        print(f"eval/hand-in: {error}", file=sys.stderr)
        return 2
    kinds = {question["id"]: question["kind"] for question in key["prepared"]["questions"]}
    answers, problems = [], []
    for name in readers:
        found, wrong = of_reader(options.folder / name, key["readers"][name]["documents"], kinds, options.unanswered)
        answers += [{**answer, "reader": name} for answer in found]
        problems += [f"{name}: {problem}" for problem in wrong]
    if problems:
        print(f"eval/hand-in: {len(problems)} to put right, nothing is recorded:\n" + "\n".join(problems), file=sys.stderr)
        return 1
    out = options.out or HERE / ".cache" / f"answers-{re.sub(r'[^A-Za-z0-9.-]+', '-', options.model)}-hand-out.jsonl.gz"
    about = {
        "model": options.model,
        "digest": "none: folders were handed out",
        "when": options.when,
        "told": options.told,
        "command": key["command"],
        "rules": key["rules"],
        "readers": {name: key["readers"][name] for name in readers},
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    recording.write(out, about, key["prepared"], answers)
    print(f"{len(answers)} answers of {len(readers)} readers in {out}\n")
    sys.stdout.write(report.Report(*recording.read([out])).text())
    return 0


def parsed(arguments):
    """Returns the options."""
    parser = argparse.ArgumentParser(prog="eval/hand-in", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, metavar="OUT", help="the folder that eval/hand-out wrote")
    parser.add_argument("--model", required=True, help="who read: the model's name or class")
    parser.add_argument("--when", default=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), help="the day of the readings [default: today]")
    parser.add_argument("--told", default=TOLD, help=f"what the readers were told about tools [default: {TOLD}]")
    parser.add_argument("--out", type=Path, help="where the recording goes [default: eval/.cache]")
    parser.add_argument("--unanswered", choices=("refuse", "wrong"), default="refuse", help="what a question without an answer is [default: refuse]")
    parser.add_argument("--leave-out", action="append", default=[], metavar="READER", help="a reader's folder that is not scored at all, such as reader-03")
    return parser.parse_args(arguments)


def chosen(key, left_out):
    """Returns the names of the readers that are scored."""
    if unknown := [name for name in left_out if name not in key["readers"]]:
        raise ValueError(f"there is no reader {unknown[0]}; there are {', '.join(key['readers'])}")
    return [name for name in key["readers"] if name not in left_out]


def of_reader(folder, documents, kinds, unanswered):
    """Returns a reader's answers, and a sentence about each thing that is wrong with them."""
    answers, problems = [], []
    files = {path.name: path for path in sorted((folder / "answers").glob("*")) if path.is_file()}
    for name in files:
        if not _FILE.fullmatch(name) or name.removesuffix(".txt") not in documents:
            problems.append(f"answers/{name} belongs to no document")
    for number, (setting, asked) in documents.items():
        name, given = f"{number}.txt", {}
        if name in files:
            try:
                text = files[name].read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                problems.append(f"answers/{name} is not UTF-8")
                continue
            given, wrong = read(text, {short: kinds[question] in JSON_KINDS for short, question in asked.items()})
            problems += [f"answers/{name} {problem}" for problem in wrong]
        elif unanswered == "refuse":
            problems.append(f"answers/{name} is missing: {len(asked)} questions")
            continue
        for short, question in asked.items():
            if short not in given and unanswered == "refuse":
                problems.append(f"answers/{name} has no answer to {short}")
            answers.append({"setting": setting, "q": question, "answer": given.get(short, "")})
    return answers, problems


def read(text, asked):
    """Returns {number: answer} of an answer file, and what is wrong with it; `asked` says of each number whether its answer is JSON."""
    given, problems, current = {}, [], None
    for at, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        found = _ANSWER.fullmatch(line)
        if found:
            current = found.group(1)
            if current not in asked:
                problems.append(f"line {at}: there is no question {current} in this document")
                current = ""
            elif current in given:
                problems.append(f"line {at}: a second answer to {current}")
                current = ""
            else:
                given[current] = (found.group(2) or "").strip()
        elif current is None and line.strip():
            problems.append(f"line {at}: {line.strip()[:40]!r} begins with no number such as {next(iter(asked))}: ")
        elif current and asked[current]:
            given[current] += "\n" + line
        elif current and line.strip():
            problems.append(f"line {at}: {line.strip()[:40]!r} after the answer to {current}, which is one line")
    problems += [f"has nothing after {short}:" for short, answer in given.items() if not answer.strip()]
    return {short: answer.strip() for short, answer in given.items()}, problems


if __name__ == "__main__":
    sys.exit(main())
