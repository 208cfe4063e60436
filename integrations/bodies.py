"""The cells of whole bodies: what every proxy with STC has to do for clients that opt in, and for those that do not."""

import http.client

import host

FORMATS = {"stc1": "1", "stc2": "2", "stc2-labelled": "2; labelled"}
# Why a body of the corpus may stay as it is.
REASONS = ("not-smaller", "too-small", "invalid", "no-transform")


def check(cells, stc, port, streams=False):
    """Requests every file of the API in every format and compares the bodies with the command line's.

    A host that `streams` sends a body before it knows all of it: the head has no length, and broken bodies are not left alone.
    """
    converted = 0
    for name, document in host.documents().items():
        status, plain, body = host.get(port, f"/{name}?a=%20b")
        cells.check((status, body) == (200, document) and "content-encoding" not in plain, f"{name}: not opted in")
        for format, version in FORMATS.items():
            status, headers, body = preferred(port, f"/{name}", format)
            if "x-stc-skipped" in headers:
                cells.check(body == document and "content-encoding" not in headers, f"{name}: skipped, and changed")
                cells.check(headers["x-stc-skipped"] in REASONS, f"{name}: {headers}")
                continue
            expected = host.encoded(stc, document, format)
            cells.check((status, body) == (200, expected), f"{name}: {format}: {status}, other bytes than the command line")
            wanted = ("stc", "application/stc+json", version, None if streams else str(len(body)))
            got = tuple(headers.get(key) for key in ("content-encoding", "content-type", "x-stc-version", "content-length"))
            cells.check(got == wanted, f"{name}: {got}")
            cells.check("x-prefer-format" in headers["vary"].lower() and headers["etag"] != plain["etag"], f"{name}: {headers}")
            converted += 1
    cells.check(converted > 3 * len(host.documents()) // 2, f"only {converted} bodies were converted")
    left_alone(cells, port)
    if not streams:
        cells.check(preferred(port, "/broken.json")[1].get("x-stc-skipped") == "invalid", "invalid JSON stays")


def preferred(port, path, format="stc2", method="GET", body=None):
    return host.get(port, path, method, body, {"X-Prefer-Format": format})


def left_alone(cells, port):
    skipped = lambda path: preferred(port, path)[1].get("x-stc-skipped")  # noqa: E731
    cells.check(skipped("/page.html") == "not-json", "HTML stays")
    cells.check(skipped("/no-transform.json") == "no-transform", "no-transform is kept")
    cells.check(preferred(port, "/error")[0] == 500 and skipped("/error") == "excluded", "errors stay")
    cells.check(preferred(port, "/missing")[0] == 404, "a missing file")
    cells.check(preferred(port, "/issues.json", method="HEAD")[2] == b"", "HEAD has no body")
    cells.check(preferred(port, "/issues.json", method="POST", body=b"x" * 100_000)[0] == 405, "POST reaches the API")
    cells.check("content-encoding" not in preferred(port, "/issues.json", "json")[1], "json is a refusal")


def other_ways(cells, stc, port):
    """The other headers by which a client opts in, for hosts that use stc-layer."""
    name = "bucket-objects.json"
    expected = {format: host.encoded(stc, host.documents()[name], format) for format in FORMATS}
    for headers, format in [
        ({"Accept-Encoding": "stc", "X-STC-Version": "2"}, "stc2"),
        ({"Accept-Encoding": "stc", "X-STC-Version": "2; labelled"}, "stc2-labelled"),
        ({"Accept-Encoding": "stc"}, "stc1"),
        ({"Accept": "application/stc+json", "X-STC-Version": "2"}, "stc2"),
    ]:
        status, got, body = host.get(port, f"/{name}", headers=headers)
        cells.check((status, body) == (200, expected[format]), f"{headers}: {got}")
    tag = preferred(port, "/issues.json")[1]["etag"]
    status, _, body = host.get(port, "/issues.json", headers={"X-Prefer-Format": "stc2", "If-None-Match": tag})
    cells.check((status, body) == (304, b""), f"a conditional request with {tag}: {status}")


def raw(cells, stc, port):
    """What a proxy of whole bodies does with the answers of `api.raw`."""
    document = host.documents()["issues.json"]
    expected = host.encoded(stc, document)
    for path in ("/lower", "/repeated"):
        status, headers, body = preferred(port, path)
        cells.check((status, body, headers.get("content-encoding")) == (200, expected, "stc"), f"{path}: {status} {headers}")
    for path, reason in [
        ("/lower-no-transform", "no-transform"),
        ("/lower-encoded", "encoded"),
        ("/repeated-no-transform", "no-transform"),
    ]:
        status, headers, body = preferred(port, path)
        cells.check((status, body, headers.get("x-stc-skipped")) == (200, document, reason), f"{path}: {status} {headers}")
    lines = all_headers(port, "/repeated")
    vary = ", ".join(value.lower() for name, value in lines if name == "vary")
    cells.check(all(name in vary for name in ("accept", "origin", "cookie", "x-prefer-format")), f"/repeated: {lines}")
    cookies = [value for name, value in lines if name == "set-cookie"]
    cells.check(sorted(cookies) == ["a=1", "b=2"], f"/repeated: {lines}")
    for path in ("/cut", "/cut-json", "/cut-chunks"):
        cells.check(fails(port, path), f"{path}: a body that ended too early became a complete one")
    for method in ("GET", "POST", "PATCH", "DELETE", "REPORT", "QUERY"):
        status, headers, body = preferred(port, "/method", method=method)
        text = host.decoded(stc, body) if headers.get("content-encoding") == "stc" else body
        cells.check(status == 200 and f'"{method}"'.encode() in text, f"{method}: {status} {text[:100]}")


def all_headers(port, path):
    """Every header line of a response, with its name in lower case."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"X-Prefer-Format": "stc2"})
        response = connection.getresponse()
        response.read()
        return [(name.lower(), value) for name, value in response.getheaders()]
    finally:
        connection.close()


def fails(port, path):
    """Whether the client sees a failure: a status, or a body that is not complete."""
    try:
        return preferred(port, path)[0] >= 500
    except (http.client.HTTPException, ConnectionError):
        return True
