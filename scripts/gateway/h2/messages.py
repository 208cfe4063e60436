"""Cases of RFC 9113, sections 8 to 10 (messages), and of RFC 7541 (HPACK)."""

import hpack
from cases import CODE, CONTINUE, TRAILERS, case
from client import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, MAX_LIST, TABLE_SIZE, frame, settings
from expect import CALM, COMPRESSION, PROTOCOL, ConnectionError, Malformed, Response, seen_on

# 8.1: framing of messages

case("8.1", "trailers", Response(200), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(DATA, 0, 1, b"x"), c.head(1, [("x-sum", "1")])))
case("8.1", "trailers without END_STREAM", Malformed.late(), lambda c: c.send(
    c.head(1, path="/echo", method="POST", end=False), frame(DATA, 0, 1, b"x"), c.head(1, [("x-sum", "1")], end=False)))


@case("8.1", "a pseudo-header field in trailers", "RST_STREAM or GOAWAY PROTOCOL_ERROR or 400", known=TRAILERS, instead="200, trailers [] upstream")
def _(c):
    c.send(c.head(1, path="/echo", method="POST", end=False), frame(DATA, 0, 1, b"x"), c.head(1, [(":method", "GET")]))
    seen, right = Malformed.late().judge(c)
    return (seen if right else f"{seen}, trailers {c.seen_upstream(1)['trailers']} upstream"), right


@case("8.1", "trailers reach an HTTP/1.1 upstream", "200, x-sum upstream")
def _(c):
    c.send(c.head(1, path="/echo", method="POST", more=[("te", "trailers"), ("trailer", "x-sum")], end=False),
           frame(DATA, 0, 1, b"x"), c.head(1, [("x-sum", "1")]))
    c.ends(1)
    names = [name for name, _ in c.seen_upstream(1)["trailers"]]
    return f"{seen_on(c, 1)}, {names}", names == ["x-sum"]


@case("8.1", "trailers of an HTTP/1.1 upstream", "200, x-sum after the body")
def _(c):
    c.request(1, path="/trailers", more=[("te", "trailers")])
    trailers = dict(c.reply(1).trailers)
    return f"{seen_on(c, 1)}, {trailers}", c.reply(1).body == b"body" and trailers == {"x-sum": "7"}


@case("8.1", "HEAD: a head and no DATA", "200, a content-length, no DATA")
def _(c):
    c.request(1, method="HEAD", path="/large")
    reply = c.reply(1)
    length = dict(reply.heads[0]).get("content-length") if reply.heads else None
    return f"{seen_on(c, 1)}, content-length {length}, {len(reply.body)} bytes", reply.ended and length == str(1 << 18) and not reply.body


for title, length, *bodies in [
    ("content-length 1 and no body", "1"),
    ("content-length above the body", "2", b"x"),
    ("content-length below the body", "1", b"xx"),
    ("content-length below the body in two frames", "1", b"x", b"x"),
    ("content-length that is no number", "x", b"x"),
    ("two lengths that differ", None, b"x"),
]:
    def act(c, length=length, bodies=bodies):
        more = [("content-length", length)] if length else [("content-length", "1"), ("content-length", "2")]
        c.send(c.head(1, path="/echo", method="POST", more=more, end=not bodies))
        c.send(*(frame(DATA, END_STREAM if n == len(bodies) - 1 else 0, 1, body) for n, body in enumerate(bodies)))
    case("8.1.1", title, Malformed.late(), act)
case("8.1.1", "content-length as long as the body", Response(200), lambda c: c.send(
    c.head(1, path="/echo", method="POST", more=[("content-length", "2")], end=False), frame(DATA, 0, 1, b"x"), frame(DATA, END_STREAM, 1, b"x")))

# 8.2: fields


def request_with(section, title, *more, expects=None):
    case(section, title, expects or Malformed(), lambda c: c.send(c.head(1, more=list(more))))


request_with("8.2", "an uppercase name", ("X-Test", "1"))
for title, name in [("a space", "x test"), ("a control character", "x\x01test"), ("DEL", "x\x7ftest"), ("a colon", "x:test"), ("a byte above 0x7f", b"x\xfftest")]:
    request_with("8.2.1", f"{title} in a name", (name, "1"))
request_with("8.2.1", "an empty name", ("", "1"))
for title, value in [("NUL", b"a\0b"), ("CR", b"a\rb"), ("LF", b"a\nx-evil: 1")]:
    request_with("8.2.1", f"{title} in a value", ("x-test", value))
for title, value in [("a space before", " a"), ("a space after", "a "), ("a tab before", "\ta")]:
    request_with("8.2.1", f"{title} a value", ("x-test", value))
request_with("8.2.1", "an empty value", ("x-test", ""), expects=Response(200))
for field in ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"]:
    request_with("8.2.2", f"{field}", (field, {"connection": "keep-alive", "transfer-encoding": "chunked", "upgrade": "h2c"}.get(field, "1")))
request_with("8.2.2", "te: gzip", ("te", "gzip"))
request_with("8.2.2", "te: trailers, deflate", ("te", "trailers, deflate"))
request_with("8.2.2", "te: trailers", ("te", "trailers"), expects=Response(200))


@case("8.2.3", "cookies in several fields are one for HTTP/1.1", "one cookie: a=1; b=2; c=3")
def _(c):
    c.request(1, path="/echo", more=[("cookie", "a=1"), ("cookie", "b=2"), ("x-between", "1"), ("cookie", "c=3")])
    cookies = [value for name, value in c.seen_upstream(1)["headers"] if name == "cookie"]
    return str(cookies), cookies == ["a=1; b=2; c=3"]


# 8.3: pseudo-header fields


def request_of(section, title, fields, expects=None):
    case(section, title, expects or Malformed(), lambda c: c.send(c.head(1, fields(c))))


request_of("8.3", "an unknown pseudo-header field", lambda c: c.fields() + [(":unknown", "1")])
request_of("8.3", "one of a response", lambda c: [(":status", "200")] + c.fields())
request_of("8.3", "one after a field", lambda c: [(":method", "GET"), (":scheme", "http"), ("x-first", "1"), (":path", c.path), (":authority", "h")])
for field in [":method", ":scheme", ":path"]:
    request_of("8.3.1", f"no {field}", lambda c, field=field: c.fields(leave=[field]))
for field, value in [(":method", "GET"), (":scheme", "http"), (":path", "/twice"), (":authority", "h")]:
    request_of("8.3.1", f"{field} twice", lambda c, pair=(field, value): [pair] + c.fields())
request_of("8.3.1", "an empty :path", lambda c: [(":method", "GET"), (":scheme", "http"), (":path", ""), (":authority", "h")])
request_of("8.3.1", "a :path without a slash", lambda c: c.fields(path="no-slash"))
request_of("8.3.1", "a :path with a space", lambda c: c.fields(path=f"{c.path} HTTP/1.1"))
request_of("8.3.1", "a :path with CR and LF", lambda c: c.fields(path=f"{c.path} HTTP/1.1\r\nx-evil: 1\r\n\r\n"))
request_of("8.3.1", "a :method with a space", lambda c: c.fields(method="GET /evil HTTP/1.1"))
request_of("8.3.1", "user information in :authority", lambda c: c.fields(leave=[":authority"])[:3] + [(":authority", "user@h")])
request_of("8.3.1", "a Host that differs from :authority", lambda c: c.fields(more=[("host", "other")]))
request_of("8.3.1", "a Host and no :authority", lambda c: c.fields(leave=[":authority"], more=[("host", "h")]), Response(200))
request_of("8.3.1", "the scheme https on a connection without TLS", lambda c: c.fields(scheme="https"), Response(200, 400, 421))


@case("8.3.1", "Host for HTTP/1.1 is the :authority", "one host: h")
def _(c):
    c.request(1, path="/echo")
    hosts = [value for name, value in c.seen_upstream(1)["headers"] if name == "host"]
    return str(hosts), hosts == ["h"]


@case("8.3.1", "OPTIONS * for the whole server", "200, 400 or 404; no other target upstream")
def _(c):
    c.request(1, method="OPTIONS", path="*")
    return seen_on(c, 1), c.reply(1).status in (200, 400, 404)


@case("8.5", "CONNECT is not served", "400, 403, 404, 405 or 501, or RST_STREAM")
def _(c):
    c.send(c.head(1, [(":method", "CONNECT"), (":authority", "h:443")]))
    c.ends(1)
    reply = c.reply(1)
    return seen_on(c, 1), (reply.status in (400, 403, 404, 405, 501) or reply.reset is not None) and c.answers_ping()


case("8.5", "CONNECT with :scheme and :path", Malformed(), lambda c: c.send(c.head(1, method="CONNECT")))
request_with("8.6", "an Upgrade field instead of CONNECT", ("upgrade", "websocket"))


@case("8.1", "Expect: 100-continue", "100 before the body, then 200", known=CONTINUE, instead="no head before the body, 200")
def _(c):
    c.send(c.head(1, path="/echo", method="POST", more=[("expect", "100-continue"), ("content-length", "1")], end=False))
    c.until(lambda: c.reply(1).heads, 1)
    early = dict(c.reply(1).heads[0]).get(":status") if c.reply(1).heads else "no head"
    c.send(frame(DATA, END_STREAM, 1, b"x"))
    c.ends(1)
    return f"{early} before the body, {seen_on(c, 1)}", early == "100" and c.reply(1).status == 200


# 10.5: limits


@case("10.5.1", "fields above MAX_HEADER_LIST_SIZE", "431, RST_STREAM, or GOAWAY ENHANCE_YOUR_CALM or PROTOCOL_ERROR")
def _(c):
    limit = c.announced(MAX_LIST)
    if limit is None:
        return "no limit announced", False
    large = c.block(more=[(f"x-{number}", "a" * 4000) for number in range(limit // 4000 + 1)])
    parts = [large[start:start + 16000] for start in range(0, len(large), 16000)]
    for number, part in enumerate(parts):
        flags = (0 if number else END_STREAM) | (END_HEADERS if number == len(parts) - 1 else 0)
        c.send(frame(CONTINUATION if number else HEADERS, flags, 1, part))
    c.ends(1)
    code = c.goaway.error_code if c.goaway else None
    return f"{seen_on(c, 1)} above {limit}", c.reply(1).status == 431 or c.reply(1).reset is not None or code in (CALM, PROTOCOL)


# RFC 7541


def block_of(c, tail, head=b""):
    """A request whose field block ends, or begins, with these bytes."""
    return frame(HEADERS, END_HEADERS | END_STREAM, 1, head + c.block() + tail)


def bad_block(section, title, tail, head=b""):
    case(f"7541 {section}", title, ConnectionError(COMPRESSION), lambda c: c.send(block_of(c, tail, head)), known=CODE)


bad_block("2.3.3", "an index above both tables", b"\xff\x00")
bad_block("2.3.3", "a name's index above both tables", b"\x7f\x80\x01\x01a")
bad_block("6.1", "index 0", b"\x80")
bad_block("4.2", "a table above SETTINGS_HEADER_TABLE_SIZE", b"", head=b"\x3f\xe2\x1f")
bad_block("4.2", "a change of the table's size after a field", b"\x20")
bad_block("5.1", "an integer without an end", b"\x7f" + b"\xff" * 4)
bad_block("5.1", "an integer above 2^64", b"\x7f" + b"\xff" * 10 + b"\x01")
bad_block("5.2", "a string longer than the block", b"\x00\x05ab")
# Name `x`, then a value in Huffman's code: 'a' is 00011, and ones fill the byte.
bad_block("5.2", "Huffman padding of 8 bits", b"\x00\x01x\x82\x1f\xff")
bad_block("5.2", "Huffman padding with zeros", b"\x00\x01x\x81\x18")
bad_block("5.2", "EOS in Huffman's code", b"\x00\x01x\x84\xff\xff\xff\xff")
case("7541 5.2", "Huffman padding of 3 bits", Response(200), lambda c: c.send(block_of(c, b"\x00\x01x\x81\x1f")))
case("7541 6.2.2", "a literal without indexing", Response(200), lambda c: c.send(block_of(c, b"\x00\x01x\x01a")))
case("7541 6.2.3", "a literal never indexed", Response(200), lambda c: c.send(block_of(c, b"\x10\x01x\x01a")))
case("7541 4.2", "two changes of the table's size at the start", Response(200), lambda c: c.send(block_of(c, b"", head=b"\x20\x3f\xe1\x1f")))


@case("7541 6.2.1", "an entry is found by its index", "200, x-kept: 1 upstream")
def _(c):
    c.encoder = hpack.Encoder()
    request = c.block(path="/echo")
    # The latest entry has index 62.
    c.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, request + b"\x40\x06x-kept\x011" + b"\xbe"))
    c.ends(1)
    kept = [value for name, value in c.seen_upstream(1)["headers"] if name == "x-kept"]
    return f"{seen_on(c, 1)}, {kept}", kept in (["1", "1"], ["1, 1"])


case("7541 4.4", "an entry larger than the table empties it", ConnectionError(COMPRESSION), lambda c: c.send(
    # 62 is the latest of the request's entries until 4200 bytes come.
    block_of(c, b"\x40\x06x-kept\x011" + b"\x40\x01y\x7f\xe9\x1f" + b"a" * 4200 + b"\xbe")), known=CODE)
case("7541 4.3", "a table of size 0 is empty", ConnectionError(COMPRESSION), lambda c: (
    c.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, c.block() + b"\x40\x06x-kept\x011")), c.ends(1),
    c.send(frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\x20\x82\x86\x04\x02/a\x01\x01h\xbe"))),
    known=CODE, instead="200, GOAWAY PROTOCOL_ERROR, closed")


@case("7541 4.2", "our HEADER_TABLE_SIZE of 0, then 4096", "200, 200 and 200", first=[(TABLE_SIZE, 0)])
def _(c):
    c.decoder.max_allowed_table_size = 0
    c.request(1)
    c.decoder.max_allowed_table_size = 4096
    c.send(settings((TABLE_SIZE, 4096)))
    c.answers_ping()
    c.request(3)
    c.request(5)
    seen = [c.reply(stream).status for stream in (1, 3, 5)]
    return str(seen), seen == [200] * 3
