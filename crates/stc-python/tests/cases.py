"""Runs the lines of scripts/bindings/cases through the installed package: whole, reused, in chunks, as str and as bytes."""

import sys

import stc


def outcome(work):
    """What `work` returns as bytes, or the offset at which it rejects."""
    try:
        answer = work()
    except stc.STCError as error:
        return error.offset
    return answer.encode() if isinstance(answer, str) else answer


def chunks(data, size):
    return (data[at : at + size] for at in range(0, len(data), size))


def ways(kind, format, given):
    """Every way to convert the input."""
    if kind.endswith("encode"):
        yield lambda: stc.encode(given, format)
        yield lambda: stc.encode(memoryview(b"x" + given)[1:], format)
        yield lambda: stc.encode(bytearray(given), format)
        yield lambda: ENCODERS[format].encode(given)
        yield lambda: b"".join(stc.iter_encode(chunks(given, 1 + len(given) // 3), format))
        if valid_text(given):
            yield lambda: stc.encode(given.decode(), format)
    else:
        yield lambda: stc.decode(given)
        yield lambda: stc.decode(memoryview(b"x" + given)[1:])
        yield lambda: stc.decode(bytearray(given))
        yield lambda: DECODER.decode(given)
        yield lambda: b"".join(stc.iter_decode(chunks(given, 1 + len(given) // 3)))
        if valid_text(given):
            yield lambda: stc.decode(given.decode())


def valid_text(given):
    try:
        given.decode()
        return True
    except UnicodeDecodeError:
        return False


ENCODERS = {format: stc.Encoder(format) for format in stc.FORMATS}
DECODER = stc.Decoder()


def main(path):
    passed, failed = 0, 0
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, format, name, given, answer = line.split()
            given = b"" if given == "-" else bytes.fromhex(given)
            format = "stc2" if format == "-" else format
            expected = int(answer) if kind.startswith("no-") else b"" if answer == "-" else bytes.fromhex(answer)
            wrong = [way for way, work in enumerate(ways(kind, format, given)) if outcome(work) != expected]
            if wrong:
                print(f"{kind} {format} {name}: wrong in the ways {wrong}", file=sys.stderr)
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"python {sys.version.split()[0]}: {passed} cases passed, each whole, reused, in chunks, as str, bytes and buffers")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
