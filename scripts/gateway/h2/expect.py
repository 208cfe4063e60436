"""What a case expects. Each expectation has a text for the table, and judges a connection: what was seen, and whether it is right."""

from client import CODES, name

PROTOCOL, FLOW, CLOSED, SIZE, REFUSED, COMPRESSION, CALM = (CODES.index(code) for code in (
    "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "COMPRESSION_ERROR",
    "ENHANCE_YOUR_CALM"))


def either(codes):
    return " or ".join(name(code) for code in codes)


def seen_on(client, stream):
    """What the gateway did about a stream, in a few words."""
    reply = client.reply(stream)
    seen = []
    if reply.status:
        seen.append(str(reply.status))
    if reply.reset is not None:
        seen.append(f"RST_STREAM {name(reply.reset)}")
    if client.goaway:
        seen.append(f"GOAWAY {name(client.goaway.error_code)}")
    if client.closed:
        seen.append("closed")
    return ", ".join(seen) or "nothing"


class ConnectionError:
    """A connection error (RFC 9113, 5.4.1): GOAWAY with a code, then the connection is closed."""

    def __init__(self, *codes):
        self.codes = codes
        self.text = f"GOAWAY {either(codes)}, closed"

    def judge(self, client):
        client.until(lambda: client.goaway)
        client.until(lambda: client.closed)
        right = client.goaway and client.goaway.error_code in self.codes and client.closed
        return seen_on(client, 1), right


class StreamError:
    """A stream error (5.4.2), which an endpoint may treat as a connection error with the same code (5.4.1)."""

    def __init__(self, *codes, stream=1, response=None, also=()):
        self.codes, self.stream, self.response, self.also = codes, stream, response, also
        said = f" or {response}" if response else ""
        self.text = f"RST_STREAM or GOAWAY {either(codes)}{said}" + "".join(f" or GOAWAY {name(code)}" for code in also)

    def judge(self, client):
        reply = client.reply(self.stream)
        client.until(lambda: client.goaway or reply.reset is not None or (self.response and reply.ended))
        if reply.ended and reply.status == self.response:
            return seen_on(client, self.stream), client.answers_ping()
        if reply.reset in self.codes:
            # The connection goes on.
            return seen_on(client, self.stream), client.answers_ping()
        client.until(lambda: client.closed)
        right = client.goaway and client.goaway.error_code in (*self.codes, *self.also) and client.closed
        return seen_on(client, self.stream), right


class Malformed(StreamError):
    """A malformed request (8.1.1): a stream error, or a response before it; and it must not be forwarded."""

    def __init__(self, forwarded=False):
        super().__init__(PROTOCOL, response=400)
        self.forwarded = forwarded
        self.text += "" if forwarded else ", nothing upstream"

    @classmethod
    def late(cls):
        """Malformed after its head, which may be upstream by then; a request that is not complete must not be answered there."""
        return cls(forwarded=True)


class Response:
    """A response with this status, complete, on a connection that goes on."""

    def __init__(self, *statuses, stream=1):
        self.statuses, self.stream = statuses, stream
        self.text = " or ".join(map(str, statuses))

    def judge(self, client):
        ended = client.ends(self.stream)
        right = ended and client.reply(self.stream).status in self.statuses
        return seen_on(client, self.stream), right and client.answers_ping()


class Goes:
    """No error: the connection answers a PING and a request."""

    text = "no error"

    def judge(self, client):
        if not client.answers_ping():
            return seen_on(client, 1), False
        answered = client.request(99, method="GET")
        return ("no error" if answered else seen_on(client, 99)), answered and client.reply(99).status == 200


class Closes:
    """The connection is closed, with or without GOAWAY; for a start that is not HTTP/2 (3.4)."""

    text = "closed"

    def judge(self, client):
        return seen_on(client, 1), client.until(lambda: client.closed)


class Holds:
    """The case itself returns what it saw, and whether that is right."""

    def __init__(self, text):
        self.text = text
