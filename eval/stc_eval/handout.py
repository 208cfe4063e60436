"""Writes folders of documents and questions for assistants that read files, where no endpoint can be asked.

    eval/hand-out OUT [--settings json,toon,stc2-labelled,stc2+legend,stc2] [--readers N] [--simple 300] [--hard 150] …

Each folder is for one reader that begins fresh. A reader sees a document in one setting only; the settings are rotated over the
readers, and every question is answered once in each. Who is given a legend reads nothing without one. OUT/key.json.gz holds what was
asked and the answers: it is in no reader's folder. `eval/hand-in OUT` scores what the readers wrote.
"""
import argparse
import gzip
import json
import random
import sys
from pathlib import Path

from . import bodies, dataset, documents, formats, hard, prompts, questions
from .lexemes import minify

SETTINGS = "json,toon,stc2-labelled,stc2+legend,stc2"
LONGEST_PART = 25_000  # characters of data in a file
LONGEST_FILE = 29_000  # a print shows 30,000 characters
LARGEST_FOLDER = 250  # KB; 1 KB is 1,000 bytes
MOST_READERS = 64
KEY = "key.json.gz"
RULES = formats.HERE / "rules.md"


def main(arguments=None):
    """Writes the folders; returns 0, or 2 with a message where it cannot."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parsed(arguments)
    try:
        settings = [prompts.setting(text) for text in options.settings.split(",")]
        if len(set(settings)) < len(settings):
            raise ValueError("--settings names one twice")
        if options.out.exists() and any(options.out.iterdir()):
            raise ValueError(f"{options.out} is not empty")
        made = build(options, settings)
        readers = assigned(made, settings, options.readers, options.documents)
        command = "eval/hand-out OUT " + " ".join(part for part in arguments if part != str(options.out))
        write(options.out, made, readers, command.strip())
    except (ValueError, OSError, RuntimeError) as error:
        print(f"eval/hand-out: {error}", file=sys.stderr)
        return 2
    print(described(made, settings, readers, options.out))
    return 0


def parsed(arguments):
    """Returns the options."""
    parser = argparse.ArgumentParser(prog="eval/hand-out", description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=Path, help="a folder that is empty or not there")
    parser.add_argument("--settings", "--formats", default=SETTINGS, help=f"formats, each with +legend or without, separated by commas [default: {SETTINGS}]")
    parser.add_argument("--readers", type=int, help=f"folders, at least as many as settings [default: as few as keep each under {LARGEST_FOLDER} KB]")
    parser.add_argument("--documents", type=int, help="documents a folder holds at most; with it, too, there are as few readers as it takes")
    parser.add_argument("--simple", type=int, default=300, help="about so many questions of the thirteen kinds [default: 300]")
    parser.add_argument("--hard", type=int, default=150, help="about so many questions for strong readers [default: 150]")
    parser.add_argument("--dir", action="append", type=Path, help="a folder of .json files; may be given twice [default: corpus/made, and generated bodies and tables]")
    parser.add_argument("--half", choices=("choose", "report", "all"), default="report", help="which half of the documents [default: report]")
    parser.add_argument("--most", type=int, default=questions.MOST, help="questions of the thirteen kinds a document at most [default: 12]")
    parser.add_argument("--sizes", default=f"{bodies.SMALLEST}-{bodies.LARGEST}", help=f"bytes of the documents of hard questions [default: {bodies.SMALLEST}-{bodies.LARGEST}]")
    parser.add_argument("--constructs", help="instead: questions whose answers stand in these constructs of stc2, such as 'filled cell,template'")
    parser.add_argument("--each", type=int, default=100, help="with --constructs: about so many questions of each [default: 100]")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def build(options, settings):
    """Returns the dataset: short documents with questions of the thirteen kinds, and whole ones with hard questions."""
    halves = ("choose", "report") if options.half == "all" else (options.half,)
    folders = options.dir or [formats.HERE.parent / "corpus" / "made"]
    names = list(dict.fromkeys(setting.format for setting in settings))
    if options.constructs:
        made = dataset.build_for_constructs(folders, halves, names, options.seed, options.most, options.constructs.split(","), "stc2", options.each)
        if not made.questions:
            raise ValueError(f"there is nothing to ask: no answer stands in {options.constructs}")
        return made
    short, asked = [], {}
    if options.simple:
        short = documents.load(folders, halves)
        asked = {document.id: questions.make(document, options.seed, options.most) for document in short}
        short = dataset.drawn([one for one in short if len(asked[one.id]) >= dataset.FEWEST_QUESTIONS], asked, options.seed, options.simple)
    whole = []
    if options.hard:
        smallest, largest = map(int, options.sizes.split("-"))
        whole = bodies.load(options.dir or (), halves, smallest, largest)
        asked |= {document.id: hard.make(document, options.seed) for document in whole}
        whole = dataset.drawn([one for one in whole if asked[one.id]], asked, options.seed, options.hard)
    found = short + whole
    if not found:
        raise ValueError("there is nothing to ask: no document of these sizes has a question")
    about = {"folders": [str(folder).rstrip("/").rsplit("/", 1)[-1] for folder in folders], "halves": list(halves), "seed": options.seed, "most": options.most}
    texts = formats.write_all(found, names)
    for name, of_name in texts.items():
        if absent := [document.id for document in found if document.id not in of_name]:
            raise ValueError(f"{name} cannot carry {len(absent)} of the documents ({absent[0]}): leave it out of --settings")
    return dataset.Dataset(about, {one.id: one for one in found}, [question for one in found for question in asked[one.id]], texts)


def assigned(made, settings, count=None, most=None):
    """Returns for each reader its list of (document id, setting), in the order of its folder."""
    if count is not None and not len(settings) <= count <= MOST_READERS:
        raise ValueError(f"--readers is to be {len(settings)}, as many as settings, to {MOST_READERS}")
    for readers in [count] if count else range(len(settings), MOST_READERS + 1):
        given = dealt(made, settings, readers)
        if most and any(len(of_reader) > most for of_reader in given):
            continue
        if count or all(sum(len(text.encode()) for text in files(made, of_reader)[0].values()) <= 1000 * LARGEST_FOLDER for of_reader in given):
            return given
    limit = f"{LARGEST_FOLDER} KB" + (f" and {most} documents" if most else "")
    raise ValueError(f"{count or MOST_READERS} readers are not enough to keep each folder under {limit}; say another --readers or --documents, or ask less")


def dealt(made, settings, readers):
    """Returns so many readers' lists of (document id, setting): each document in each setting once, and no document twice to a reader.

    The largest document comes first. Each of its settings goes to a reader who has had it least often and, among those, has the
    least to read: so the settings are rotated, as in a Latin square. A reader who gets a legend has no text of that format without
    one, which would not be read without it.
    """
    given, load = [[] for _ in range(readers)], [0] * readers
    held = [dict.fromkeys(settings, 0) for _ in range(readers)]
    allowed = places(settings, readers)
    for name in sorted(made.documents, key=lambda name: (-len(minify(made.documents[name].value)), name)):
        free = set(range(readers))
        for setting in sorted(settings, key=lambda setting: len(allowed[setting])):
            place = min(free & allowed[setting], key=lambda place: (held[place][setting], load[place], place))
            free.remove(place)
            given[place].append((name, setting))
            held[place][setting] += 1
            load[place] += len(made.texts[setting.format][name].text.encode())
    for number, of_reader in enumerate(given):
        random.Random(f"{made.about['seed']}/reader/{number}").shuffle(of_reader)
    return given


def places(settings, readers):
    """Returns for each setting the readers that it may go to: those with a legend to some, those of the same format without to the others."""
    legends = {flag: {formats.title(setting.format) for setting in settings if (setting.legend == "legend") == flag} for flag in (True, False)}
    both = legends[True] & legends[False]
    told, untold = ([setting for setting in settings if formats.title(setting.format) in both and (setting.legend == "legend") == flag] for flag in (True, False))
    if not told:
        return {setting: set(range(readers)) for setting in settings}
    share = round(readers * len(told) / (len(told) + len(untold)))
    share = min(max(share, len(told)), readers - len(untold))
    ranges = {**dict.fromkeys(told, range(share)), **dict.fromkeys(untold, range(share, readers))}
    return {setting: set(ranges.get(setting, range(readers))) for setting in settings}


def files(made, of_reader):
    """Returns the files of a reader's folder as {name: text}, and {document number: [setting, {number of question: id}]}."""
    found, key, count = {}, {}, 0
    for number, (name, setting) in enumerate(of_reader, 1):
        asked = [question for question in made.questions if question.doc == name]
        ids = {f"{number:02}.{index}": question for index, question in enumerate(asked, 1)}
        count += len(ids)
        key[f"{number:02}"] = [str(setting), {short: question.id for short, question in ids.items()}]
        found |= document_files(f"{number:02}", setting, made.texts[setting.format][name].text, ids)
    rules = RULES.read_text(encoding="utf-8").replace("{documents}", str(len(of_reader))).replace("{questions}", str(count))
    return {"RULES.md": rules} | found, key


def document_files(number, setting, text, asked):
    """Returns the files of one document: what a prompt says before the data, the data, and the questions after it."""
    parts = split(text.rstrip("\n"))
    legend = formats.legend(setting.format, setting.legend)
    head = f"The data below is in {formats.title(setting.format)}.\n" + (f"\n{legend}\n" if legend else "")
    lines = [f"{short}: {question.text}" for short, question in asked.items()]
    tail = f"\n\nQuestions, to be answered in answers/{number}.txt:\n\n" + "\n".join(lines) + "\n"
    if len(parts) == 1 and len(head) + len(parts[0]) + len(tail) <= LONGEST_FILE:
        return {f"{number}.txt": f"Document {number}. {head}\nData:\n{parts[0]}{tail}"}
    if len(parts[-1]) + len(tail) > LONGEST_FILE - 100:
        parts.append("")
    texts = [f"Document {number}, part {index} of {len(parts)}, data:\n{part}" for index, part in enumerate(parts, 1)]
    texts[0] = f"Document {number}, part 1 of {len(parts)}. {head}\nData:\n{parts[0]}"
    texts[-1] += tail
    width = len(str(len(texts)))
    return {f"{number}-part-{index:0{width}}.txt": part + ("" if part.endswith("\n") else "\n") for index, part in enumerate(texts, 1)}


def split(text):
    """Cuts a text into parts of at most LONGEST_PART characters, after a line feed or a comma where there is one near the end."""
    parts = []
    while len(text) > LONGEST_PART:
        at = max(text.rfind("\n", LONGEST_PART * 4 // 5, LONGEST_PART), 0) or max(text.rfind(",", LONGEST_PART * 4 // 5, LONGEST_PART), 0)
        at = at + 1 if at else LONGEST_PART
        parts.append(text[:at])
        text = text[at:]
    return parts + [text]


def write(out, made, readers, command):
    """Writes the readers' folders and the key."""
    count, key = dataset.o200k(), {}
    for number, of_reader in enumerate(readers, 1):
        folder = out / f"reader-{number:02}"
        (folder / "answers").mkdir(parents=True)
        texts, key[folder.name] = files(made, of_reader)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        key[folder.name] = {"documents": key[folder.name], "bytes": sum(len(text.encode()) for text in texts.values()), "tokens": sum(map(count, texts.values()))}
    whole = {"command": command, "rules": RULES.read_text(encoding="utf-8"), "readers": key, "prepared": dataset.describe(made)}
    with open(out / KEY, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write(json.dumps(whole, ensure_ascii=False).encode())


def described(made, settings, readers, out):
    """Returns what was written, for the person who hands it out."""
    with gzip.open(out / KEY, "rt", encoding="utf-8") as file:
        key = json.load(file)["readers"]
    simple = sum(question.kind in questions.KINDS for question in made.questions)
    lines = [f"{len(made.documents)} documents, {simple} questions of the thirteen kinds and {len(made.questions) - simple} hard ones, each in {len(settings)} settings."]
    for name, of_reader in key.items():
        asked = sum(len(found) for _, found in of_reader["documents"].values())
        lines.append(f"{out / name}: {len(of_reader['documents'])} documents, {asked} questions, {of_reader['bytes'] / 1000:.0f} KB, {of_reader['tokens']:,} o200k tokens")
    lines.append(f"Give each folder to a reader that begins fresh: \"Follow RULES.md in this folder.\" Keep {out / KEY} from them. Then: eval/hand-in {out} --model NAME")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
