"""Cases of RFC 9113, sections 3 to 7: the start of a connection, frames, streams."""

import struct

from cases import CODE, case
from client import (ACK, CONTINUATION, DATA, ENABLE_PUSH, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW, MAX_FRAME, MAX_STREAMS, PADDED,
                    PATIENCE, PING, PREFACE, PRIORITISED, PRIORITY, PUSH_PROMISE, RST_STREAM, SETTINGS, TABLE_SIZE, UNKNOWN, WINDOW_UPDATE,
                    frame, priority, reset, settings, window_update)
from expect import (CLOSED, COMPRESSION, FLOW, PROTOCOL, REFUSED, SIZE, Closes, ConnectionError, Goes, Response, StreamError, seen_on)

LARGEST_WINDOW = (1 << 31) - 1


# 3.4: the preface


@case("3.4", "SETTINGS is the gateway's first frame", "SETTINGS, and ACK of ours")
def _(c):
    return ("SETTINGS, ACK" if c.acknowledged and not c.violation else c.violation), c.acknowledged == 1 and not c.violation


@case("3.4", "a request before the gateway's SETTINGS are acknowledged", Response(200), begin=False)
def _(c):
    c.send(PREFACE, settings(), c.head(1))


@case("3.4", "a preface that arrives byte by byte", Response(200), begin=False)
def _(c):
    for byte in PREFACE + settings() + c.head(1):
        c.send(bytes([byte]))


case("3.4", "a preface with another end", Closes(), lambda c: c.send(PREFACE[:-6] + b"XX\r\n\r\n"), begin=False)
case("3.4", "a frame other than SETTINGS first", Closes(), lambda c: c.send(PREFACE, frame(PING, 0, 0, bytes(8))), begin=False)
case("3.4", "HEADERS before SETTINGS", Closes(), lambda c: c.send(PREFACE, c.head(1)), begin=False)


@case("3.1", "the retired Upgrade: h2c stays HTTP/1.1", "HTTP/1.1 200", begin=False)
def _(c):
    c.send(b"GET " + c.path.encode() + b" HTTP/1.1\r\nhost: h\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n")
    c.sock.settimeout(PATIENCE)
    seen = c.sock.recv(12).decode()
    return seen, seen == "HTTP/1.1 200"


# 4: frames

case("4.1", "an unknown type of frame on the connection", Goes(), lambda c: c.send(frame(UNKNOWN, 0, 0, bytes(8))))
case("4.1", "an unknown type of frame on an open stream", Response(200), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(UNKNOWN, 0xFF, 1, bytes(80)), frame(DATA, END_STREAM, 1)))
case("4.1", "unknown flags", Goes(), lambda c: c.send(frame(PING, 0xFE, 0, bytes(8))))
case("4.1", "the reserved bit of a stream's number", Goes(), lambda c: c.send(frame(PING, 0, 1 << 31, bytes(8))))
case("4.2", "DATA of the largest size", Response(200), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(DATA, END_STREAM, 1, bytes(c.announced(MAX_FRAME)))))
case("4.2", "DATA above the largest size", StreamError(SIZE), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(DATA, END_STREAM, 1, bytes(c.announced(MAX_FRAME) + 1))))
case("4.2", "HEADERS above the largest size", ConnectionError(SIZE), lambda c: c.send(
    frame(HEADERS, END_HEADERS | END_STREAM, 1, c.block() + bytes(c.announced(MAX_FRAME)))))
case("4.2", "an unknown type of frame above the largest size", ConnectionError(SIZE), lambda c: c.send(
    frame(UNKNOWN, 0, 0, bytes(c.announced(MAX_FRAME) + 1))))
case("4.3", "a field block that is no HPACK", ConnectionError(COMPRESSION), lambda c: c.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff" * 20)), known=CODE)


def interrupted(c, other):
    """A field block in two frames, with another frame between them."""
    block = c.block()
    c.send(frame(HEADERS, END_STREAM, 1, block[:1]), other, frame(CONTINUATION, END_HEADERS, 1, block[1:]))


for title, other in [
    ("PRIORITY", lambda c: priority(1, 0)),
    ("DATA", lambda c: frame(DATA, END_STREAM, 1)),
    ("PING", lambda c: frame(PING, 0, 0, bytes(8))),
    ("HEADERS of another stream", lambda c: frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\x82")),
    ("CONTINUATION of another stream", lambda c: frame(CONTINUATION, END_HEADERS, 3, b"\x82")),
    ("an unknown type of frame", lambda c: frame(UNKNOWN, 0, 1)),
]:
    case("4.3", f"{title} inside a field block", ConnectionError(PROTOCOL), lambda c, other=other: interrupted(c, other(c)))


@case("4.3", "the block of a malformed request changes the table all the same", Response(200, stream=3))
def _(c):
    # `x-kept` enters the table with the malformed request, and the next request refers to it.
    c.request(1, c.fields(more=[("x-kept", "1"), ("connection", "close")]))
    c.send(c.head(3, c.fields(more=[("x-kept", "1")])))


# 5.1: states of streams

case("5.1", "idle: DATA", ConnectionError(PROTOCOL), lambda c: c.send(frame(DATA, END_STREAM, 1, b"x")))
case("5.1", "idle: RST_STREAM", ConnectionError(PROTOCOL), lambda c: c.send(reset(1)))
case("5.1", "idle: WINDOW_UPDATE", ConnectionError(PROTOCOL), lambda c: c.send(window_update(1, 100)))
case("5.1", "idle: CONTINUATION", ConnectionError(PROTOCOL), lambda c: c.send(frame(CONTINUATION, END_HEADERS, 1, c.block())))
case("5.1", "idle: PRIORITY", Goes(), lambda c: c.send(priority(1, 0)))
case("5.1", "half-closed (remote): DATA", StreamError(CLOSED), lambda c: c.send(c.head(1, path="/wait"), frame(DATA, END_STREAM, 1, b"x")), known=CODE)
case("5.1", "half-closed (remote): HEADERS", StreamError(CLOSED), lambda c: c.send(c.head(1, path="/wait"), c.head(1)), known=CODE)
case("5.1", "half-closed (remote): CONTINUATION", StreamError(CLOSED, PROTOCOL), lambda c: c.send(
    c.head(1, path="/wait"), frame(CONTINUATION, END_HEADERS, 1, c.block())))
case("5.1", "half-closed (remote): WINDOW_UPDATE and PRIORITY", Response(200), lambda c: c.send(
    c.head(1, path="/wait"), window_update(1, 10), priority(1, 0)))
case("5.1", "half-closed (remote): RST_STREAM", Goes(), lambda c: c.send(c.head(1, path="/wait"), reset(1)))


def after_reset(c, *parts):
    """A stream that the client has reset, and the gateway has noticed it."""
    c.send(c.head(1, path="/wait", method="POST", end=False), reset(1))
    c.answers_ping()
    c.send(*parts)


def after_end(c, *parts):
    """A stream that both sides have ended."""
    c.request(1)
    c.answers_ping()
    c.send(*parts)


@case("5.1", "closed by our RST_STREAM: DATA", "STREAM_CLOSED, or ignored")
def _(c):
    after_reset(c, frame(DATA, END_STREAM, 1, b"x"))
    alive = c.answers_ping()
    code = c.goaway.error_code if c.goaway else c.reply(1).reset
    return (seen_on(c, 1) if code is not None else "ignored"), code == CLOSED or (code is None and alive)


case("5.1", "closed by our RST_STREAM: HEADERS", StreamError(CLOSED, also=[PROTOCOL]), lambda c: after_reset(c, c.head(1)))
case("5.1", "closed by our RST_STREAM: CONTINUATION", StreamError(CLOSED, also=[PROTOCOL]), lambda c: after_reset(
    c, frame(CONTINUATION, END_HEADERS, 1, c.block())))
case("5.1", "closed by our RST_STREAM: PRIORITY", Goes(), lambda c: after_reset(c, priority(1, 0)))
case("5.1", "closed by both ends: DATA", StreamError(CLOSED), lambda c: after_end(c, frame(DATA, END_STREAM, 1, b"x")))
case("5.1", "closed by both ends: HEADERS", StreamError(CLOSED, also=[PROTOCOL]), lambda c: after_end(c, c.head(1)))
case("5.1", "closed by both ends: CONTINUATION", StreamError(CLOSED, also=[PROTOCOL]), lambda c: after_end(
    c, frame(CONTINUATION, END_HEADERS, 1, c.block())))
case("5.1", "closed by both ends: WINDOW_UPDATE, RST_STREAM, PRIORITY", Goes(), lambda c: after_end(
    c, window_update(1, 10), reset(1), priority(1, 0)))
case("5.1.1", "an even number", ConnectionError(PROTOCOL), lambda c: c.send(c.head(2)))
case("5.1.1", "a number below the latest", ConnectionError(PROTOCOL, CLOSED), lambda c: c.send(c.head(5), c.head(3)))
case("5.1.1", "numbers with gaps", Response(200, stream=101), lambda c: c.send(c.head(7), c.head(101)))


@case("5.1.2", "one stream more than announced", "RST_STREAM REFUSED_STREAM or PROTOCOL_ERROR")
def _(c):
    count = c.announced(MAX_STREAMS)
    if count is None:
        return "no limit announced", False
    # Heads without an end: each stream stays open.
    last = 2 * count + 1
    for number in range(1, last + 1, 2):
        c.send(c.head(number, path="/hold", method="POST", end=False))
    c.until(lambda: c.goaway or c.reply(last).reset is not None)
    lower = [stream for stream in c.replies if c.replies[stream].reset is not None and stream < last]
    return f"{seen_on(c, last)} after {count}", c.reply(last).reset in (REFUSED, PROTOCOL) and not lower


@case("5.1.2", "a stream takes the place of one that ended", "no RST_STREAM; then REFUSED_STREAM")
def _(c):
    # The gateway processes fewer requests at once than it has streams, so neither of the two is answered here.
    for number in range(1, 2 * c.announced(MAX_STREAMS) + 1, 2):
        c.send(c.head(number, path="/hold", method="POST", end=False))
    c.send(reset(1), c.head(2003), c.head(2005))
    c.until(lambda: c.goaway or c.reply(2005).reset is not None)
    seen = f"{seen_on(c, 2003)}; {seen_on(c, 2005)}"
    return seen, seen == "nothing; RST_STREAM REFUSED_STREAM"


case("5.3", "HEADERS with a priority that depends on another stream", Response(200), lambda c: c.send(
    frame(HEADERS, END_STREAM | END_HEADERS | PRIORITISED, 1, struct.pack("!IB", 1 << 31, 255) + c.block())))
# RFC 9113 retires priorities without a rule for this; RFC 7540 (5.3.1) has a stream error.
case("5.3", "HEADERS with a priority that depends on itself", StreamError(PROTOCOL, response=200), lambda c: c.send(
    frame(HEADERS, END_STREAM | END_HEADERS | PRIORITISED, 1, struct.pack("!IB", 1, 255) + c.block())))


# 6.1 to 6.4: DATA, HEADERS, PRIORITY, RST_STREAM

case("6.1", "DATA on stream 0", ConnectionError(PROTOCOL), lambda c: c.send(frame(DATA, END_STREAM, 0, b"x")))
case("6.1", "padding as long as the frame", ConnectionError(PROTOCOL), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(DATA, END_STREAM | PADDED, 1, b"\x05hello"[:5])))


@case("6.1", "padding is not part of the body", "200, a body of 5 bytes upstream")
def _(c):
    c.send(c.head(1, path="/echo", method="POST", end=False), frame(DATA, END_STREAM | PADDED, 1, b"\x10hello" + bytes(16)))
    c.ends(1)
    return f"{seen_on(c, 1)}, {c.seen_upstream(1)['length']} bytes", c.seen_upstream(1)["length"] == 5


case("6.1", "an empty DATA frame ends a request", Response(200), lambda c: c.send(c.head(1, method="POST", end=False), frame(DATA, END_STREAM, 1)))
case("6.2", "HEADERS on stream 0", ConnectionError(PROTOCOL), lambda c: c.send(c.head(0)))
case("6.2", "padding as long as the frame", ConnectionError(PROTOCOL), lambda c: c.send(
    frame(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, b"\xff" + c.block())))
case("6.2", "padding and a priority", Response(200), lambda c: c.send(
    frame(HEADERS, END_HEADERS | END_STREAM | PADDED | PRIORITISED, 1, b"\x08" + struct.pack("!IB", 0, 15) + c.block() + bytes(8))))
case("6.3", "PRIORITY on stream 0", ConnectionError(PROTOCOL), lambda c: c.send(priority(0, 1)))
case("6.3", "PRIORITY of 4 bytes", StreamError(SIZE), lambda c: c.send(c.head(1, method="POST", end=False), frame(PRIORITY, 0, 1, bytes(4))), known=CODE)
case("6.4", "RST_STREAM on stream 0", ConnectionError(PROTOCOL), lambda c: c.send(reset(0)))
case("6.4", "RST_STREAM of 3 bytes", ConnectionError(SIZE), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(RST_STREAM, 0, 1, bytes(3))), known=CODE)

# 6.5: SETTINGS

case("6.5", "ACK with a payload", ConnectionError(SIZE), lambda c: c.send(frame(SETTINGS, ACK, 0, bytes(6))), known=CODE)
case("6.5", "SETTINGS on a stream", ConnectionError(PROTOCOL), lambda c: c.send(frame(SETTINGS, 0, 1)))
case("6.5", "a length that is no multiple of 6", ConnectionError(SIZE), lambda c: c.send(frame(SETTINGS, 0, 0, bytes(5))), known=CODE)
for title, setting, value, code in [
    ("ENABLE_PUSH of 2", ENABLE_PUSH, 2, PROTOCOL),
    ("INITIAL_WINDOW_SIZE of 2^31", INITIAL_WINDOW, 1 << 31, FLOW),
    ("MAX_FRAME_SIZE of 2^14 - 1", MAX_FRAME, (1 << 14) - 1, PROTOCOL),
    ("MAX_FRAME_SIZE of 2^24", MAX_FRAME, 1 << 24, PROTOCOL),
]:
    case("6.5.2", title, ConnectionError(code), lambda c, pair=(setting, value): c.send(settings(pair)), known=CODE if code == FLOW else None)
case("6.5.2", "MAX_FRAME_SIZE of 2^24 - 1", Goes(), lambda c: c.send(settings((MAX_FRAME, (1 << 24) - 1))))
case("6.5.2", "an unknown setting", Goes(), lambda c: c.send(settings((0xFF, 1))))


@case("6.5.3", "each SETTINGS is acknowledged", "3 ACK")
def _(c):
    c.send(settings(), settings((MAX_STREAMS, 10)))
    c.until(lambda: c.acknowledged == 3)
    return f"{c.acknowledged} ACK", c.acknowledged == 3


@case("6.5.3", "of a setting given twice, the later holds", "the first DATA has 3 bytes")
def _(c):
    c.send(settings((INITIAL_WINDOW, 100), (INITIAL_WINDOW, 3)), c.head(1, path="/large"))
    c.until(lambda: c.reply(1).body)
    return f"{c.reply(1).sizes[:1]} bytes", c.reply(1).sizes[:1] == [3] and c.answers_ping() and c.reply(1).body == bytes(3)


@case("6.5.2", "a frame is no longer than our MAX_FRAME_SIZE", "200, 262144 bytes in frames of at most 16384", first=[(INITIAL_WINDOW, 1 << 20)])
def _(c):
    c.send(window_update(0, 1 << 20))
    c.request(1, path="/large")
    largest = max(c.reply(1).sizes, default=0)
    return f"{seen_on(c, 1)}, {len(c.reply(1).body)} bytes, frames of at most {largest}", len(c.reply(1).body) == 1 << 18 and largest <= 1 << 14


@case("6.5.2", "HEADER_TABLE_SIZE of 0: responses need no table", "200 and 200", first=[(TABLE_SIZE, 0)])
def _(c):
    c.decoder.max_allowed_table_size = 0
    c.decoder.header_table_size = 0
    c.request(1)
    c.request(3)
    return f"{c.reply(1).status} and {c.reply(3).status}", c.reply(1).status == c.reply(3).status == 200


# 6.6 to 6.8: PUSH_PROMISE, PING, GOAWAY

case("6.6", "PUSH_PROMISE of a client", ConnectionError(PROTOCOL), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(PUSH_PROMISE, END_HEADERS, 1, struct.pack("!I", 2) + c.block())))


@case("6.7", "PING is answered with its data", "ACK of the same bytes")
def _(c):
    c.send(frame(PING, 0, 0, b"\x00\xffSTC\x01\x02\x03"))
    c.until(lambda: c.pongs)
    return str(c.pongs), c.pongs == [b"\x00\xffSTC\x01\x02\x03"]


@case("6.7", "ACK of a PING that was not sent is not answered", "no answer")
def _(c):
    c.send(frame(PING, ACK, 0, b"01234567"))
    alive = c.answers_ping()
    return f"{len(c.pongs) - alive} answers", alive and len(c.pongs) == 1


case("6.7", "PING on a stream", ConnectionError(PROTOCOL), lambda c: c.send(frame(PING, 0, 1, bytes(8))))
case("6.7", "PING of 6 bytes", ConnectionError(SIZE), lambda c: c.send(frame(PING, 0, 0, bytes(6))), known=CODE)
case("6.8", "GOAWAY on a stream", ConnectionError(PROTOCOL), lambda c: c.send(frame(GOAWAY, 0, 1, bytes(8))))
case("6.8", "GOAWAY of 4 bytes", ConnectionError(SIZE), lambda c: c.send(frame(GOAWAY, 0, 0, bytes(4))), known=CODE)


@case("6.8", "after our GOAWAY a response in progress is delivered", "200, then closed")
def _(c):
    c.send(c.head(1, path="/wait"), frame(GOAWAY, 0, 0, bytes(8)))
    reply = c.reply(1)
    c.until(lambda: reply.ended)
    c.until(lambda: c.closed)
    return seen_on(c, 1), reply.status == 200 and reply.ended and c.closed


@case("6.8", "SIGTERM: GOAWAY, and a response in progress is delivered", "200, GOAWAY NO_ERROR, closed", own=True)
def _(c):
    c.send(c.head(1, path="/wait"))
    c.answers_ping()
    c.terminate()
    reply = c.reply(1)
    c.until(lambda: reply.ended)
    c.until(lambda: c.closed)
    return seen_on(c, 1), reply.status == 200 and reply.ended and c.goaway and c.goaway.error_code == 0 and c.closed


# 6.9: WINDOW_UPDATE and flow control

case("6.9", "an increment of 0 on the connection", ConnectionError(PROTOCOL), lambda c: c.send(window_update(0, 0)))
case("6.9", "an increment of 0 on a stream", StreamError(PROTOCOL), lambda c: c.send(c.head(1, path="/hold", method="POST", end=False), window_update(1, 0)))
case("6.9", "WINDOW_UPDATE of 3 bytes", ConnectionError(SIZE), lambda c: c.send(frame(WINDOW_UPDATE, 0, 0, bytes(3))), known=CODE)
case("6.9.1", "a window of the connection above 2^31 - 1", ConnectionError(FLOW), lambda c: c.send(window_update(0, LARGEST_WINDOW)))
case("6.9.1", "a window of a stream above 2^31 - 1", StreamError(FLOW), lambda c: c.send(
    c.head(1, path="/hold", method="POST", end=False), window_update(1, LARGEST_WINDOW)))


@case("6.9.1", "a window of 1 byte, then 2 more", "1 byte, then 3", first=[(INITIAL_WINDOW, 1)])
def _(c):
    body = lambda: len(c.reply(1).body)
    c.send(c.head(1, path="/large"))
    c.until(lambda: body() >= 1)
    c.answers_ping()
    first = body()
    c.send(window_update(1, 2))
    c.until(lambda: body() >= 3)
    c.answers_ping()
    return f"{first} byte, then {body()}", first == 1 and body() == 3


@case("6.9.1", "the connection's window holds for all streams", "65535 bytes on two streams", first=[(INITIAL_WINDOW, 1 << 20)])
def _(c):
    total = lambda: len(c.reply(1).body) + len(c.reply(3).body)
    c.send(c.head(1, path="/large"), c.head(3, path="/large"))
    c.until(lambda: total() >= 65535)
    c.answers_ping()
    c.until(lambda: total() > 65535, 0.5)
    return f"{total()} bytes", total() == 65535


@case("6.9.1", "DATA beyond the gateway's window", StreamError(FLOW))
def _(c):
    # The upstream does not read, so the windows are not given back for ever.
    c.send(c.head(1, path="/hold", method="POST", end=False))
    for _ in range(4096):
        c.send(frame(DATA, 0, 1, bytes(c.announced(MAX_FRAME))))
        c.until(lambda: c.goaway or c.reply(1).reset is not None, 0.001)
        if c.goaway or c.reply(1).reset is not None or c.closed:
            break


@case("6.9.1", "windows are given back: an upload of 1 MB within them", "200, a body of 1048576 bytes upstream")
def _(c):
    c.send(c.head(1, path="/echo", method="POST", end=False))
    sent, total = 0, 1 << 20
    while sent < total:
        free = lambda: min(c.window(0), c.window(1)) - sent
        if not c.until(lambda: free() > 0 or c.goaway):
            break
        step = min(free(), total - sent, c.announced(MAX_FRAME))
        sent += step
        c.send(frame(DATA, END_STREAM if sent == total else 0, 1, bytes(step)))
    c.ends(1)
    return f"{seen_on(c, 1)}, {c.seen_upstream(1)['length']} bytes", c.seen_upstream(1)["length"] == total


@case("6.9.2", "a later INITIAL_WINDOW_SIZE changes open streams", "0 bytes, then 5", first=[(INITIAL_WINDOW, 0)])
def _(c):
    c.send(c.head(1, path="/large"))
    c.until(lambda: c.reply(1).heads)
    c.answers_ping()
    before = len(c.reply(1).body)
    c.send(settings((INITIAL_WINDOW, 5)))
    c.until(lambda: len(c.reply(1).body) >= 5)
    c.answers_ping()
    return f"{before} bytes, then {len(c.reply(1).body)}", (before, len(c.reply(1).body)) == (0, 5)


@case("6.9.2", "a window may become negative", "10 bytes; 12 once it is 2 again", first=[(INITIAL_WINDOW, 10)])
def _(c):
    body = lambda: len(c.reply(1).body)
    c.send(c.head(1, path="/large"))
    c.until(lambda: body() >= 10)
    # -10, then -3, then 2.
    c.send(settings((INITIAL_WINDOW, 0)), window_update(1, 7))
    c.answers_ping()
    before = body()
    c.send(window_update(1, 5))
    c.until(lambda: body() >= 12)
    c.answers_ping()
    return f"{before} bytes; {body()}", (before, body()) == (10, 12)


case("6.9.2", "INITIAL_WINDOW_SIZE lifts a stream's window above 2^31 - 1", ConnectionError(FLOW), lambda c: c.send(
    c.head(1, path="/hold", method="POST", end=False), window_update(1, LARGEST_WINDOW - 65535), settings((INITIAL_WINDOW, 65536))))

# 6.10: CONTINUATION


def in_parts(c, *cuts, end=END_HEADERS):
    """A request whose field block is cut at these places."""
    block = c.block()
    marks = [0, *cuts, len(block)]
    parts = [block[start:stop] for start, stop in zip(marks, marks[1:])]
    last = len(parts) - 1
    return b"".join(frame(CONTINUATION if n else HEADERS, (0 if n else END_STREAM) | (end if n == last else 0), 1, part) for n, part in enumerate(parts))


case("6.10", "a field block in three frames", Response(200), lambda c: c.send(in_parts(c, 2, 5)))
case("6.10", "empty CONTINUATION frames within bounds", Response(200), lambda c: c.send(in_parts(c, 2, 2, 2)))
case("6.10", "CONTINUATION on stream 0", ConnectionError(PROTOCOL), lambda c: c.send(
    frame(HEADERS, END_STREAM, 1, c.block()), frame(CONTINUATION, END_HEADERS, 0)))
case("6.10", "CONTINUATION after HEADERS with END_HEADERS", ConnectionError(PROTOCOL), lambda c: c.send(
    c.head(1, path="/wait", method="POST", end=False), frame(CONTINUATION, END_HEADERS, 1)))
case("6.10", "CONTINUATION after CONTINUATION with END_HEADERS", ConnectionError(PROTOCOL), lambda c: c.send(
    in_parts(c, 3), frame(CONTINUATION, END_HEADERS, 1)))
case("6.10", "CONTINUATION after DATA", ConnectionError(PROTOCOL), lambda c: c.send(
    c.head(1, method="POST", end=False), frame(DATA, 0, 1, b"x"), frame(CONTINUATION, END_HEADERS, 1)))

# 7: error codes

case("7", "RST_STREAM with an unknown code", Goes(), lambda c: c.send(c.head(1, path="/wait"), reset(1, 0xFF)))


@case("7", "GOAWAY with an unknown code", "closed")
def _(c):
    c.send(frame(GOAWAY, 0, 0, struct.pack("!II", 0, 0xFF)))
    c.until(lambda: c.closed)
    return seen_on(c, 1), c.closed
