"""Answers src/reference.rs: reads a length and that many bytes of STC, writes a length and that many bytes of JSON.

A negative number n is a rejection at offset -n - 1.
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
