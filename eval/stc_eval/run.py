"""Asks a model every question in every format and records the answers.

    eval/run --endpoint URL --model NAME     a chat endpoint; the key is in OPENAI_API_KEY, or in the variable of --key-env
    eval/run --endpoint URL --model NAME --choose    only as many questions as it takes to find the level for the model
    eval/run --local                         Qwen2.5-Coder-1.5B-Instruct on this machine's CPU; a sample that ends within an hour

Prints the report at the end. A run that is broken off, or whose time is over, goes on where it was when the same command is given again.
"""
import argparse
import os
import sys
from pathlib import Path

from . import choose, client, dataset, formats, local, prepare, prompts, recording, report
from .lexemes import estimate
from .progress import Progress, clock

CACHE = formats.HERE / ".cache"


def main(arguments=None):
    """Runs the measurement; returns 0, 1 if an endpoint refuses, or 2 if an option is wrong or there is nothing to record."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parsed(arguments)
    if bool(options.endpoint) == bool(options.local):
        print("eval/run: give either --endpoint URL or --local", file=sys.stderr)
        return 2
    if options.endpoint and not options.model:
        print("eval/run: --endpoint needs --model", file=sys.stderr)
        return 2
    if options.choose and (not options.endpoint or options.sample or options.dry_run):
        print("eval/run: --choose needs --endpoint, and samples by itself: leave out --sample and --dry-run", file=sys.stderr)
        return 2
    if options.budget is not None and not options.choose:
        print("eval/run: --budget belongs to --choose", file=sys.stderr)
        return 2
    if options.minutes is not None and options.minutes <= 0:
        print("eval/run: --minutes is to be more than 0", file=sys.stderr)
        return 2
    if options.local and options.sample is None and not options.all:
        options.sample = local.SAMPLE
        options.minutes = options.minutes or local.MINUTES
    if options.choose:
        options.formats, options.legends = ",".join(("json", *choose.LEVELS)), "none"
    try:
        settings = prepare.settings_of(options)
        made = prepare.build(options, settings)
        work = [(setting, question) for setting in settings for question in made.asked(setting)]
        if options.choose:
            about, made, answers = choose.run(made, options, endpoint_client(options), client.ask_all)
            return recorded_run(about, made, answers, options, arguments)
        print(f"{len(made.documents)} documents of the {options.half} half, {len(made.questions)} questions, {len(settings)} settings, {len(work)} prompts")
        if options.local:
            about, answers, made = local.ask(made, settings, options, CACHE)
        else:
            about, answers = ask_endpoint(made, work, options)
    except client.Refused as error:
        print(f"eval/run: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError, RuntimeError) as error:
        print(f"eval/run: {error}", file=sys.stderr)
        return 2
    if options.dry_run:
        return 0
    return recorded_run(about, made, answers, options, arguments)


def recorded_run(about, made, answers, options, arguments):
    """Writes the recording and prints the report; returns 0."""
    name = f"answers-{about['model'].replace('/', '-')}-{'choose' if options.choose else options.half}-{options.seed}.jsonl.gz"
    out = options.out or CACHE / name
    about["command"] = "eval/run " + " ".join(recorded(arguments))
    out.parent.mkdir(parents=True, exist_ok=True)
    recording.write(out, about, dataset.describe(made), answers)
    print(f"{len(answers)} answers in {out}; eval/report {out} --out FOLDER also draws the plots\n")
    if not options.choose:
        sys.stdout.write(report.Report(*recording.read([out])).text())
    return 0


def parsed(arguments):
    """Returns the options."""
    parser = argparse.ArgumentParser(prog="eval/run", description=__doc__.split("\n\n")[0])
    parser.add_argument("--endpoint", help="the address of an OpenAI-compatible API, such as http://localhost:8080/v1")
    parser.add_argument("--model", help="the model's name at the endpoint")
    parser.add_argument("--key-env", default="OPENAI_API_KEY", help="the environment variable that holds the key [default: OPENAI_API_KEY]")
    parser.add_argument("--concurrency", type=int, default=8, help="requests at a time [default: 8]")
    parser.add_argument("--price", help="dollars for a million tokens in and out, such as 0.15,0.60: for the estimate")
    parser.add_argument("--choose", action="store_true", help="ask by stages until the level for this model is certain, and print the line for the gateway")
    parser.add_argument("--budget", type=int, help="with --choose: so many questions at most [default: all that there are]")
    parser.add_argument("--local", nargs="?", const="qwen", choices=tuple(local.MODELS), help="a model that runs here [default: qwen]")
    parser.add_argument("--all", action="store_true", help="with --local: every question, not a sample")
    parser.add_argument("--minutes", type=float, help=f"with --local: stop after so many, with the documents that are complete [default: {local.MINUTES}, without --sample and --all]")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="with --local: threads of the model")
    parser.add_argument("--dry-run", action="store_true", help="say what would be asked and what it takes, and stop")
    parser.add_argument("--out", type=Path, help="where the recording goes [default: eval/.cache]")
    prepare.add_dataset_options(parser)
    return parser.parse_args(arguments)


def recorded(arguments):
    """Returns the arguments as a recording shows them: of a path only its last part, so that no machine's folders are in it."""
    return [part.rstrip("/").rsplit("/", 1)[-1] if part.startswith(("/", "../", "~")) else part for part in arguments]


def endpoint_client(options):
    """Returns the client of the options' endpoint, with the answers it gave before."""
    cache = client.Cache(CACHE / "endpoint" / f"{options.model.replace('/', '-')}.jsonl")
    return client.Client(options.endpoint, options.model, os.environ.get(options.key_env), options.key_env, cache)


def ask_endpoint(made, work, options):
    """Asks an endpoint; returns what the recording says about it, and the answers."""
    asker = endpoint_client(options)
    texts = {(str(setting), question.id): prompts.prompt(setting, made.texts[setting.format][question.doc].text, question) for setting, question in work}
    missing = [text for text in texts.values() if asker.cache.get(client.Cache.key(options.model, text)) is None]
    print(costs(missing, len(texts), options))
    if options.dry_run:
        return {"model": options.model}, []
    found = client.ask_all(asker, texts.items(), options.concurrency, Progress(len(texts), "asking"))
    answers = [{"setting": setting, "q": key, "answer": record["answer"], "tokens": record["tokens"]} for (setting, key), record in found.items()]
    return {"model": options.model, "digest": "none: an endpoint"}, answers


def costs(missing, total, options):
    """Returns a sentence about the requests, tokens, money and time that are left."""
    tokens = sum(map(estimate, missing))
    line = f"{len(missing)} of {total} prompts are to be asked, about {tokens:,} tokens in and {len(missing) * 12:,} out"
    if options.price:
        price_in, price_out = map(float, options.price.split(","))
        line += f", about ${(tokens * price_in + len(missing) * 12 * price_out) / 1e6:.2f}"
    return line + f"; about {clock(len(missing) * 1.5 / options.concurrency)} at 1.5 s a request, {options.concurrency} at a time"


if __name__ == "__main__":
    sys.exit(main())
