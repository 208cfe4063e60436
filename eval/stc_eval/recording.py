"""Recorded answers: compressed JSON lines that hold all a report needs.

The first line says what was asked: the model and its digest, the seed, the command, the questions with their answers, paths and
constructs, and the size of every text. Each further line is one answer. The same answers give the same bytes.

Formats are named by their reader since November 2026: `stc2` is the whole format and `stc2-labelled` has a key beside each value. A
recording made before that has no `names` in its first line; its `stc2-refs` is read as `stc2`, its `stc2` as `stc2-labelled`. All other
names, `stc2-dense` and forms that nothing writes any more among them, are read as they are.
"""
import gzip
import json

NAMES = "by reader"
_EARLIER = {"stc2-refs": "stc2", "stc2": "stc2-labelled"}

ANSWER = ("setting", "q", "answer", "tokens", "logp", "reader")


def write(path, about, prepared, answers):
    """Writes a recording; answers are sorted, and of two to the same question the last one counts."""
    last = {(answer["setting"], answer["q"]): answer for answer in answers}
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write((json.dumps({**about, **prepared, "names": NAMES}, ensure_ascii=False, sort_keys=True) + "\n").encode())
        for key in sorted(last):
            kept = {name: last[key][name] for name in ANSWER if last[key].get(name) is not None}
            file.write((json.dumps(kept, ensure_ascii=False) + "\n").encode())


def read(paths, prepared=None):
    """Returns what was asked and {setting: {question: answer}} of one or more files of the same questions.

    `prepared` is what a file without a first line of its own, such as the output of gpu/ask.py, was asked with.
    """
    first, answers = prepared and renamed(prepared), {}
    for path in paths:
        earlier = prepared is not None and prepared.get("names") != NAMES
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if "questions" in record:
                    earlier = record.get("names") != NAMES
                    first = merged(first, renamed(record), path)
                else:
                    setting = name_of(record["setting"]) if earlier else record["setting"]
                    answers.setdefault(setting, {})[record["q"]] = record
    if first is None:
        raise ValueError(f"{paths[0]} holds answers but not what was asked; give --questions")
    return first, answers


def merged(first, record, path):
    """Returns the first lines of two recordings as one; raises ValueError if they asked different questions."""
    if first is None:
        return record
    ids = [(question["id"], question["text"], question["answer"]) for question in first["questions"]]
    if ids != [(question["id"], question["text"], question["answer"]) for question in record["questions"]]:
        raise ValueError(f"{path} asked other questions than the file before it")
    constructs = {question["id"]: question["constructs"] for question in record["questions"]}
    for question in first["questions"]:
        question["constructs"] = {**constructs[question["id"]], **question["constructs"]}
    first["sizes"] = {**record["sizes"], **first["sizes"]}
    return {**record, **first}


def name_of(setting):
    """Returns today's name of a format, or of a setting that begins with one, of a recording made before the names by reader."""
    for end, char in enumerate(setting + "/"):
        if char in "+/":
            return _EARLIER.get(setting[:end], setting[:end]) + setting[end:]


def renamed(record):
    """Returns the first line of a recording with today's names of formats."""
    if record.get("names") == NAMES:
        return record
    questions = [
        {**question, "constructs": {name_of(name): construct for name, construct in question["constructs"].items()}} for question in record["questions"]
    ]
    return {**record, "questions": questions, "sizes": {name_of(name): sizes for name, sizes in record["sizes"].items()}, "names": NAMES}
