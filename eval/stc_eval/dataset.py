"""A dataset: documents, questions about them, and every text and construct, ready to be asked and scored."""
import gzip
import json
from dataclasses import dataclass

from . import documents, formats, prompts, questions, recording

FEWEST_QUESTIONS = 4
MANY = ("count", "filter", "list", "having", "largest", "earliest", "row", "object", "sum")
MORE_SEEDS = 40  # for questions about some constructs


@dataclass
class Dataset:
    """Documents by id, questions, and texts as {format: {document id: Written}}."""

    about: dict
    documents: dict
    questions: list
    texts: dict

    def asked(self, setting):
        """Returns the questions that a setting can ask: those whose document has a text in its format."""
        texts = self.texts[setting.format]
        return [question for question in self.questions if question.doc in texts]

    def construct(self, name, question):
        """Returns the construct that holds a question's answer in a format; a question about many values has none of its own."""
        if question.kind in MANY:
            return question.kind
        return self.texts[name][question.doc].construct(question.path)


def build(folders, halves, names, seed, most=questions.MOST, sample=None):
    """Returns the dataset of all documents in these folders that have at least four questions.

    `sample` keeps about that many questions: whole documents, drawn by the seed.
    """
    found = documents.load(folders, halves)
    asked = {document.id: questions.make(document, seed, most) for document in found}
    found = [document for document in found if len(asked[document.id]) >= FEWEST_QUESTIONS]
    if sample is not None:
        found = drawn(found, asked, seed, sample)
    kept = [question for document in found for question in asked[document.id]]
    about = {"folders": [str(folder).rstrip("/").rsplit("/", 1)[-1] for folder in folders], "halves": list(halves), "seed": seed, "most": most}
    return Dataset(about, {document.id: document for document in found}, kept, formats.write_all(found, names))


def build_for_constructs(folders, halves, names, seed, most, constructs, form="stc2-labelled", each=None):
    """Returns a dataset of questions whose answers stand in some constructs of a form, at most `most` a document and construct.

    They come from the seeds after `seed`, and questions that `seed` itself draws are left out: so they are others than those of
    `build`, about the same documents. With `each`, documents that have many of them for their size are kept until each construct
    has so many questions.
    """
    found = documents.load(folders, halves)
    about = {"folders": [str(folder).rstrip("/").rsplit("/", 1)[-1] for folder in folders], "halves": list(halves), "seed": seed, "most": most}
    written = list(dict.fromkeys((form, *names)))
    whole = Dataset(about | {"constructs": constructs}, {document.id: document for document in found}, [], formats.write_all(found, written))
    for document in found:
        seen = {question.text for question in questions.make(document, seed)}
        counts = dict.fromkeys(constructs, 0)
        for question in (question for other in range(seed + 1, seed + MORE_SEEDS) for question in questions.make(document, other)):
            construct = whole.construct(form, question)
            if question.text not in seen and counts.get(construct, most) < most:
                seen.add(question.text)
                counts[construct] += 1
                question.id = f"{document.id}/{construct} {counts[construct]}"
                whole.questions.append(question)
    if each is not None:
        whole.questions = enough(whole, constructs, form, each)
    asked = {question.doc for question in whole.questions}
    kept = {key: document for key, document in whole.documents.items() if key in asked}
    texts = {name: {key: text for key, text in whole.texts[name].items() if key in asked} for name in written if name in names}
    return Dataset(whole.about, kept, whole.questions, texts)


def enough(whole, constructs, form, each):
    """Returns the questions of as few characters of documents as give each construct `each` questions, where there are so many."""
    left, kept, of_document = dict.fromkeys(constructs, each), [], {}
    for question in whole.questions:
        of_document.setdefault(question.doc, {}).setdefault(whole.construct(form, question), []).append(question)
    while of_document and any(left.values()):

        def worth(name):
            gained = sum(min(left[construct], len(found)) for construct, found in of_document[name].items())
            return gained / len(whole.texts[form][name].text), name

        best = max(of_document, key=worth)
        if not worth(best)[0]:
            break
        for construct, found in of_document.pop(best).items():
            kept += found[: left[construct]]
            left[construct] -= min(left[construct], len(found))
    order = {question.id: place for place, question in enumerate(whole.questions)}
    return sorted(kept, key=lambda question: order[question.id])


def drawn(found, asked, seed, sample):
    """Returns a seeded sample of documents with about `sample` questions, in their first order."""
    import random

    order = list(found)
    random.Random(f"{seed}/sample").shuffle(order)
    kept, count = set(), 0
    for document in order:
        if count >= sample:
            break
        kept.add(document.id)
        count += len(asked[document.id])
    return [document for document in found if document.id in kept]


def without(dataset, left_out):
    """Returns the dataset without the documents of these ids."""
    kept = {name: document for name, document in dataset.documents.items() if name not in left_out}
    asked = [question for question in dataset.questions if question.doc in kept]
    texts = {name: {key: written for key, written in of.items() if key in kept} for name, of in dataset.texts.items()}
    return Dataset(dataset.about, kept, asked, texts)


def groups(dataset, settings):
    """Yields for each setting and document one group: the text, and what stands around it for each question."""
    for setting in settings:
        by_document = {}
        for question in dataset.asked(setting):
            by_document.setdefault(question.doc, []).append(question)
        for name, asked in by_document.items():
            parts = []
            for question in asked:
                before, after = prompts.around(setting, question)
                parts.append({"q": question.id, "before": before, "after": after, "answer": question.answer})
            text = dataset.texts[setting.format][name].text.rstrip("\n")
            yield {"setting": str(setting), "doc": name, "data": text, "asks": parts}


def write_groups(dataset, settings, path):
    """Writes the groups as compressed JSON lines, the same bytes for the same dataset; returns how many prompts there are."""
    count = 0
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        for group in groups(dataset, settings):
            count += len(group["asks"])
            file.write((json.dumps(group, ensure_ascii=False) + "\n").encode())
    return count


def o200k():
    """Returns a function that counts o200k_base tokens."""
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def describe(dataset):
    """Returns what a report needs besides the answers: questions with their constructs, and the size of every text."""
    count = o200k()
    sizes = {
        name: {key: [len(written.text.encode()), count(written.text)] for key, written in texts.items()} for name, texts in dataset.texts.items()
    }
    listed = []
    for question in dataset.questions:
        record = question.record()
        record["half"] = dataset.documents[question.doc].half
        record["source"] = dataset.documents[question.doc].source
        record["constructs"] = {name: dataset.construct(name, question) for name in dataset.texts if question.doc in dataset.texts[name]}
        listed.append(record)
    return {"about": dataset.about, "questions": listed, "sizes": sizes, "names": recording.NAMES}
