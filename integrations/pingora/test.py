"""STC in a Pingora proxy, for real: test.py STC PROXY WORK

STC is the command, PROXY the built program, WORK an empty folder. Every body has to be the command line's, byte for byte.
"""

import http.client
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import api  # noqa: E402
import bodies  # noqa: E402
import host  # noqa: E402

# More than is held of a document that has to be whole.
ROWS = 200_000


def long_document(folder):
    """A file of about 10 MB: rows."""
    rows = ",".join(f'{{"id":{number},"state":"open","by":"ann","ok":true}}' for number in range(ROWS))
    document = f"[{rows}]".encode()
    (folder / "long.json").write_bytes(document)
    return document


def streamed(cells, stc, port, document):
    """A long document becomes STC 1 while it arrives, and decodes to the same. Its array is longer than the window, and stays plain."""
    status, headers, body = bodies.preferred(port, "/long.json", "stc2")
    cells.check((status, headers.get("x-stc-version")) == (200, "1"), f"a long document: {status} {headers}")
    cells.check(len(body) < len(document), f"a long document: {len(body)} bytes of {len(document)}")
    cells.check(host.decoded(stc, body) == document, "a long document: other JSON after decoding")


def broken(cells, port):
    """A body that is not JSON is an error that the client sees: a status, or after the head a body that is not complete."""
    try:
        status, headers, body = bodies.preferred(port, "/broken.json")
        cells.check(status >= 500 and body == b"", f"a broken body: {status} {headers} {body[-20:]}")
    except (http.client.IncompleteRead, ConnectionResetError) as error:
        cells.check(True, str(error))


def main(stc, proxy, work):
    work = pathlib.Path(work).resolve()
    front = host.free_port()
    with api.served(work) as upstream:
        document = long_document(work / "api")
        with host.program([proxy, f"127.0.0.1:{front}", f"127.0.0.1:{upstream}"], work / "pingora.log", front, "/issues.json") as running:
            counted = host.Cells("pingora", [work / "pingora.log"])
            bodies.check(counted, stc, front, streams=True)
            bodies.other_ways(counted, stc, front)
            streamed(counted, stc, front, document)
            broken(counted, front)
            ways = [
                host.Way("not opted in", front, "/issues.json"),
                host.Way("stc1", front, "/issues.json", {"X-Prefer-Format": "stc1"}),
                host.Way("stc2", front, "/issues.json", {"X-Prefer-Format": "stc2"}),
            ]
            measured = host.costs(ways, work, [running.pid] * 3)
    host.report("Pingora", counted.passed, "issues.json", measured)


if __name__ == "__main__":
    main(*sys.argv[1:])
