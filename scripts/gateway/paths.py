"""What the gateway matches a path by, next to what two other parsers read: Werkzeug (PyPI) and Node's URL.

    paths.py EXAMPLE [COUNT]

EXAMPLE is the built example `paths` of stc-plugin, which reads a path a line and writes `matched TAB sent TAB loose` or a reason;
COUNT is the number of random paths beside the listed ones (default 20,000). For every path that is accepted, both spellings of it, as
each of the parsers decodes them, are the text that the matched spelling decodes to; and paths of one text have one matched spelling.
"""

import itertools
import json
import random
import subprocess
import sys
from urllib.parse import unquote

from werkzeug.wrappers import Request

EXAMPLE = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000

URLS = """
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').slice(0, -1);
process.stdout.write(lines.map(line => {
  try { return JSON.stringify(decodeURIComponent(new URL(line, 'http://h').pathname)); } catch { return 'null'; }
}).join('\\n') + '\\n');
"""

PIECES = [
    "a", "admin", "A", "%61", "%41", "%2e", "%2E", ".", "..", "%2F", "%2f", "\\", "%5c", "%00", "%0a", "%7f", ";", "%3b", ";x=1",
    "%20", "+", "%2B", "%25", "%2561", "%252e", "%252f", "%", "%4", "%zz", "~", "%7E", "%7e", "-", "_", "!", "$", "&", "'", "(", ")",
    "*", ",", "=", ":", "@", "%3A", "%3a", "%40", "é", "%C3%A9", "%c3%a9", "%c3", "%ff", "%c0%af", "\"", "<", ">", "[", "]", "^", "`",
    "{", "|", "}", "%22", "%3F", "%23", "%5B", "日", "%E6%97%A5", "／", "．", "%EF%BC%8F", "e\u0301",
]


def paths():
    for first, second in itertools.product(PIECES, repeat=2):
        yield f"/{first}{second}"
        yield f"/x/{first}/{second}"
    rng = random.Random(43)
    for _ in range(COUNT):
        yield "/" + "".join(rng.choice(PIECES + ["/"] * 12) for _ in range(rng.randint(1, 9)))


def werkzeug(target):
    """Reads a target as a WSGI server hands it over: Werkzeug's own development server unquotes it like this."""
    path = unquote(target, "latin-1") if target.isascii() else unquote(target.encode().decode("latin-1"), "latin-1")
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "SERVER_NAME": "h", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}
    return Request(environ).path


def main():
    tried = list(dict.fromkeys(path for path in paths() if "\n" not in path))
    ran = subprocess.run([EXAMPLE], input="".join(f"{path}\n" for path in tried), capture_output=True, text=True, check=True)
    answers = [line.split("\t") for line in ran.stdout.split("\n")[:-1]]
    assert len(answers) == len(tried), (len(answers), len(tried))
    accepted = [(path, *answer) for path, answer in zip(tried, answers) if len(answer) == 3]
    spellings = [spelling for _, matched, sent, _ in accepted for spelling in (matched, sent)]
    ran = subprocess.run(["node", "-e", URLS], input="".join(f"{spelling}\n" for spelling in spellings), capture_output=True, text=True, check=True)
    urls = [json.loads(line) for line in ran.stdout.split("\n")[:-1]]
    wrong, readings = [], {}
    for number, (path, matched, sent, _) in enumerate(accepted):
        text = unquote(matched, errors="strict")
        read = {"URL, matched": urls[2 * number], "URL, sent": urls[2 * number + 1], "Werkzeug, matched": werkzeug(matched), "Werkzeug, sent": werkzeug(sent), "Werkzeug, as it came": werkzeug(path)}
        wrong += [f"{path!r} is matched as {matched!r}; {name}: {other!r}" for name, other in read.items() if other != text]
        if readings.setdefault(text, matched) != matched:
            wrong.append(f"{path!r} is matched as {matched!r}, and another spelling of the same text as {readings[text]!r}")
    print(f"{len(tried)} paths, {len(accepted)} accepted, {len(readings)} texts, {len(wrong)} wrong")
    for line in wrong[:20]:
        print(line)
    return bool(wrong) or len(accepted) < len(tried) // 50


if __name__ == "__main__":
    sys.exit(main())
