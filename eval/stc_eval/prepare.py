"""Writes prompts for a machine that cannot reach this one: prompts.jsonl.gz, and questions.json for the report.

    python -m stc_eval.prepare OUT [--dir FOLDER …] [--half choose] [--formats …] [--orders after,both] [--settings …]
"""
import argparse
import json
from pathlib import Path

from . import dataset, formats, prompts, questions


def main(arguments=None):
    """Builds the dataset and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=Path)
    add_dataset_options(parser)
    parser.add_argument("--settings", default="", help="more settings, such as stc2+legend/both, separated by commas")
    parser.add_argument("--constructs", help="only questions whose answers stand in these constructs of stc2-labelled, separated by commas, and many of them")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    settings = settings_of(options)
    made = build(options, settings)
    prepared = dataset.describe(made)
    (options.out / "questions.json").write_text(json.dumps(prepared, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    count = dataset.write_groups(made, settings, options.out / "prompts.jsonl.gz")
    print(f"{len(made.documents)} documents, {len(made.questions)} questions, {len(settings)} settings, {count} prompts")


def add_dataset_options(parser):
    """Adds the options that say which questions are asked, and how."""
    corpus = formats.HERE.parent / "corpus" / "made"
    parser.add_argument("--dir", action="append", type=Path, help=f"a folder of .json files; may be given twice [default: {corpus.parent.name}/made]")
    parser.add_argument("--half", choices=("choose", "report", "all"), default="report", help="which half of the documents [default: report]")
    parser.add_argument("--formats", default="json,toon,stc2,stc2-labelled", help="formats, separated by commas, or `all`")
    parser.add_argument("--orders", help="after, both, before: where the question stands [default: after,both; with --local after, which shares texts]")
    parser.add_argument("--legends", default="none", help="none, legend, or both of them")
    parser.add_argument("--sample", type=int, help="about so many questions, drawn by the seed")
    parser.add_argument("--most", type=int, default=questions.MOST, help="questions a document at most")
    parser.add_argument("--seed", type=int, default=1)


def settings_of(options):
    """Returns the settings that the options name, an order at a time."""
    names = formats.FORMATS if options.formats == "all" else options.formats.split(",")
    orders = options.orders or ("after" if getattr(options, "local", None) else "after,both")
    made = [
        prompts.setting(f"{name}{'' if length == 'none' else '+' + length}/{order}")
        for order in orders.split(",")
        for length in options.legends.split(",")
        for name in names
    ]
    extra = getattr(options, "settings", "")
    return made + [prompts.setting(text) for text in extra.split(",") if text]


def build(options, settings):
    """Returns the dataset of the options."""
    folders = options.dir or [formats.HERE.parent / "corpus" / "made"]
    halves = ("choose", "report") if options.half == "all" else (options.half,)
    names = list(dict.fromkeys(setting.format for setting in settings))
    if constructs := getattr(options, "constructs", None):
        return dataset.build_for_constructs(folders, halves, names, options.seed, options.most, constructs.split(","))
    return dataset.build(folders, halves, names, options.seed, options.most, options.sample)


if __name__ == "__main__":
    main()
