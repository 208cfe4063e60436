"""Finds the level for a model: the one with the fewest tokens that it certainly reads nearly as well as minified JSON.

The questions are asked by stages, in JSON and in the level with the fewest tokens. It is decided when it is certain that it loses less than
MARGIN, which ends the run, or that it loses as much or more; then the next level is asked in. A level that is still not certain when the
questions or the budget are used up is not chosen, nor is one after it. The probability of choosing a level that loses MARGIN or more on all
of the questions is at most ERROR, however many stages and levels there are (`stopping.py`).
"""
import datetime
import json
import random
import re
import time
from dataclasses import replace

from . import dataset, prompts, scoring, stopping
from .lexemes import estimate
from .statistics import mean

LEVELS = ("stc2", "stc2-labelled")
READERS = {"stc2": "large", "stc2-labelled": "small"}
MARGIN = 0.02
ERROR = 0.05
FEWEST_RIGHT = 0.4  # of the answers in JSON: who knows less has little to lose, and shows nothing about formats
FIRST, MORE = 100, 50  # questions of the first stage, and of each after it
_GLOB = re.compile(r"[A-Za-z0-9_.:/@+-]{1,128}")


class Level:
    """A level, and what was lost in it: for each question 1 if only JSON was answered rightly, -1 if only the level was, else 0."""

    def __init__(self, name, total, error):
        self.name, self.total, self.error, self.losses, self.state = name, total, error, [], "open"

    def add(self, losses):
        """Takes the losses of a stage and decides what is certain."""
        self.losses += losses
        if stopping.excluded(self.losses, self.total, MARGIN, self.error):
            self.state = "good"
        elif stopping.excluded_below(self.losses, self.total, MARGIN, self.error) or len(self.losses) == self.total:
            self.state = "out"

    def text(self):
        """Returns the level and its loss in points, with the bounds that hold however often one looks."""
        low, high = stopping.interval(self.losses, self.total, self.error)
        words = {"good": "certainly less than", "out": "certainly", "open": "not certain to be less than"}[self.state]
        said = f"{self.name} loses {100 * mean(self.losses):.1f} points [{100 * low:.1f}, {100 * high:.1f}] on {len(self.losses)} of {self.total} questions: {words} {100 * MARGIN:g}"
        return said + (" or more" if self.state == "out" else "")


def choose(total, ask, say, budget=None):
    """Asks by stages; returns the levels and the chosen one, or None.

    `ask(name, first, last)` returns for a stretch of the questions, in their random order, which are right, as 1 and 0, in JSON or a
    level; `say` is told of a level after each stage; `budget` is how many questions are asked at most. A level is asked in when those with fewer tokens are out.
    """
    levels = [Level(name, total, ERROR / len(LEVELS)) for name in LEVELS]
    right, most = [], min(total, budget or total)
    for level in levels:
        while level.state == "open" and len(level.losses) < most:
            first = len(level.losses)
            until = min(most, first + (MORE if first else FIRST))
            if until > len(right):
                right += ask("json", len(right), until)
            if mean(right) < FEWEST_RIGHT:
                return levels, None
            level.add([json_right - own for json_right, own in zip(right[first:until], ask(level.name, first, until))])
            say(level)
        if level.state != "out":
            return levels, level if level.state == "good" else None
    return levels, None


def run(made, options, client, ask_all):
    """Asks an endpoint for the level of its model; returns what the recording says, the questions asked as a dataset, and the answers."""
    order = list(made.questions)
    random.Random(f"{options.seed}/choose").shuffle(order)
    position = (options.orders or "both").split(",")[0]
    started, answers, tokens = time.monotonic(), [], 0

    def ask(name, first, last):
        nonlocal tokens
        setting = prompts.setting(f"{name}/{position}")
        texts = {question.id: prompts.prompt(setting, made.texts[name][question.doc].text, question) for question in order[first:last]}
        found = ask_all(client, texts.items(), options.concurrency, lambda _: None)
        for question in order[first:last]:
            record = found[question.id]
            tokens += record["tokens"] or estimate(texts[question.id])
            answers.append({"setting": str(setting), "q": question.id, "answer": record["answer"], "tokens": record["tokens"]})
        return [int(scoring.is_right(question.record(), found[question.id]["answer"])) for question in order[first:last]]

    levels, chosen = choose(len(order), ask, lambda level: print(level.text()), options.budget)
    print(f"\n{cost(answers, tokens, time.monotonic() - started)}\n\n{verdict(options.model, levels, chosen)}")
    some = {answer["q"] for answer in answers}
    kept = [replace(question) for question in made.questions if question.id in some]
    return {"model": options.model, "digest": "none: an endpoint"}, dataset.Dataset(made.about, made.documents, kept, made.texts), answers


def cost(answers, tokens, seconds):
    """Returns what the run took."""
    questions = len({answer["q"] for answer in answers})
    return f"It took {questions} questions, {len(answers)} prompts of {tokens:,} tokens, and {seconds:.0f} s."


def verdict(model, levels, chosen):
    """Returns the level in words, and the lines for readers.toml and the gateway's configuration."""
    if chosen is None and all(level.state == "out" for level in levels):
        name, lines = "json", [f"{model} loses {100 * MARGIN:g} points or more in every level; send it JSON."]
    elif chosen is None and not any(level.losses for level in levels):
        name, lines = "json", [f"{model} answers less than {100 * FEWEST_RIGHT:g} % rightly in JSON: too little to tell levels apart. Send it JSON."]
    elif chosen is None:
        name, lines = "json", [f"{model}: no level is certain to lose less than {100 * MARGIN:g} points. Until a larger --budget or more documents (--dir) settle it, send it JSON."]
    else:
        name, lines = chosen.name, [f"{model} reads {chosen.name}: {chosen.text()}."]
    if name in READERS:
        day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        because = f"eval/run --choose, {day}: {chosen.text()}"
        toml = {"model": model, "reader": READERS[name], "evidence": "measured", "because": because, "example": model}
        lines += ["", "For crates/stc-context/src/readers.toml:", "", "[[reader]]"]
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in toml.items()]
    lines += ["", "For the gateway, under [context]:", "", f'readers = [{{ model = {json.dumps(model)}, format = "{name}" }}]']
    if not _GLOB.fullmatch(model):
        lines.append("(The gateway takes letters, digits and - _ . : / @ + in a name; * stands for anything else.)")
    return "\n".join(lines)
