"""The prompts: what a model is shown for one question about one document in one format.

A setting is a format, an order and a legend, written `format[+legend]/order`: `stc2/after`, `stc2+legend/both`.

- `after`: the data, then the question. All questions about a document share the beginning of their prompts.
- `both`: the question, the data, and the question again, as in an agent's loop, where the task stands before a tool's answer.
- `before`: the question, then the data; a model that has read the data must look back for the question.
"""
from dataclasses import dataclass

from . import formats

ORDERS = ("after", "both", "before")


@dataclass(frozen=True)
class Setting:
    """A format, an order of question and data, and whether a legend stands before the data."""

    format: str
    order: str = "after"
    legend: str = "none"

    def __str__(self):
        return self.format + ("" if self.legend == "none" else "+" + self.legend) + "/" + self.order


def recorded(text):
    """Returns the setting that a text such as `stc2+legend/both` names, of any format: recordings outlive formats."""
    name, _, order = text.partition("/")
    name, _, length = name.partition("+")
    return Setting(name, order or "after", length or "none")


def setting(text):
    """Returns the setting that a text names, of a format that can be written."""
    made = recorded(text)
    if made.format not in formats.FORMATS or made.order not in ORDERS or made.legend not in formats.LEGENDS:
        raise ValueError(f"no setting {text!r}: it is FORMAT[+legend][/after|/both|/before]")
    return made


def around(setting, question):
    """Returns what stands before and after the data in the prompt of a question."""
    head = f"The data below is in {formats.title(setting.format)}. Answer the question with only the value, without quotes.\n"
    legend = formats.legend(setting.format, setting.legend)
    if legend:
        head += "\n" + legend + "\n"
    head += "\nData:\n"
    asked = f"Question: {question.text}"
    if setting.order == "after":
        return head, f"\n\n{asked}"
    if setting.order == "both":
        return f"{asked}\n\n{head}", f"\n\n{asked}"
    return f"{asked}\n\n{head}", "\n\nAnswer the question."


def prompt(setting, text, question):
    """Returns the whole prompt."""
    before, after = around(setting, question)
    return before + text.rstrip("\n") + after
