"""Answers src/reference.rs: a number and as many bytes of STC in, a number and as many bytes of JSON out.

A negative number is a refusal at that offset, less one.
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "grammar" / "reference" / "python"))

from stc_reference import STCError, decode  # noqa: E402


def main():
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while length := questions.read(8):
        stc = questions.read(struct.unpack("<q", length)[0])
        try:
            json = decode(stc)
            answers.write(struct.pack("<q", len(json)) + json)
        except STCError as error:
            answers.write(struct.pack("<q", -1 - error.offset))
        answers.flush()


main()
