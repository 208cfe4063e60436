"""Plants secrets, redacts them, and shows what two scanners find before and after.

`compare.py REDACT FOLDER SEEDS`: REDACT is the example `redact` of stc-redact; FOLDER/js has secretlint.
"""

import json
import pathlib
import re
import subprocess
import sys

from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings

# What a scanner may find in a redacted text, and why that is no secret: the kind, a pattern of the value, the reason.
LISTED = [
    ("secretlint", r".*database-connection-string", r".*:\[redacted:[a-z0-9-]+\]@.*", "the name of the rule is the password of a URL"),
    ("detect-secrets", r"Private Key", r"BEGIN .*PRIVATE KEY.*", "the first line of a key, which holds nothing of it"),
]


def main():
    redact, folder, seeds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    before, after = folder / "before", folder / "after"
    for place in (before, after):
        place.mkdir(exist_ok=True)
        for old in place.iterdir():
            old.unlink()
    for seed in range(1, seeds + 1):
        planted = subprocess.run([redact, "--plant", str(seed)], check=True, capture_output=True, text=True).stdout
        rows = [{"id": number, "text": line} for number, line in enumerate(planted.splitlines())]
        for name, text in ((f"{seed}.txt", planted), (f"{seed}.json", json.dumps(rows, indent=1))):
            (before / name).write_text(text)
            done = subprocess.run([redact], input=text, check=True, capture_output=True, text=True).stdout
            (after / name).write_text(done)
    for scanner in (detect_secrets, secretlint):
        found = scanner(before, folder)
        assert found, f"{scanner.__name__} finds nothing before: it does not work"
        print(f"{scanner.__name__}: {len(found)} before")
        report(scanner.__name__, scanner(after, folder))
    sys.exit(bool(unlisted))


unlisted = []


def report(scanner, found):
    reasons = {}
    for kind, value, place in found:
        listed = (why for name, *patterns, why in LISTED if name.replace("-", "_") == scanner and fits(patterns, kind, value))
        why = next(listed, None)
        if why is None:
            unlisted.append(place)
            print(f"    {place}: {kind}: {value!r} is not listed")
        else:
            reasons[why] = reasons.get(why, 0) + 1
    print(f"    {len(found)} after", *(f"{count} because: {why}" for why, count in sorted(reasons.items())), sep="\n    ")


def fits(patterns, kind, value):
    return all(re.fullmatch(pattern, text, re.DOTALL) for pattern, text in zip(patterns, (kind, value)))


def detect_secrets(place, _):
    found = []
    with default_settings():
        for path in sorted(place.iterdir()):
            for secret in scan_file(str(path)):
                found.append((secret.type, secret.secret_value or "", f"{path}:{secret.line_number}"))
    return found


def secretlint(place, folder):
    rules = {"rules": [{"id": "@secretlint/secretlint-rule-preset-recommend"}]}
    (folder / "js/.secretlintrc.json").write_text(json.dumps(rules))
    output = (folder / "secretlint.json").resolve()
    output.unlink(missing_ok=True)
    command = ["node_modules/.bin/secretlint", "--format", "json", "--no-maskSecrets", "--output", str(output), f"{place.resolve()}/*"]
    ran = subprocess.run(command, cwd=folder / "js", capture_output=True, text=True)
    # 1: something was found.
    assert ran.returncode in (0, 1), ran.stderr
    found = []
    for file in json.loads(output.read_text()):
        for message in file["messages"]:
            place = f"{file['filePath']}:{message['loc']['start']['line']}"
            found.append((message["ruleId"], message["message"], place))
    return found


main()
