"""An HTTP/2 client that sends any bytes, and reads what comes back with hyperframe and hpack."""

import socket
import struct
import time

import hpack
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
UNKNOWN = 0xBE
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITISED = 1, 1, 4, 8, 32
TABLE_SIZE, ENABLE_PUSH, MAX_STREAMS, INITIAL_WINDOW, MAX_FRAME, MAX_LIST = range(1, 7)
DEFAULTS = {TABLE_SIZE: 4096, INITIAL_WINDOW: 65535, MAX_FRAME: 16384}
CODES = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
         "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"]
# The longest time that an answer may take.
PATIENCE = 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack("!HI", name, value) for name, value in pairs))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack("!I", increment))


def reset(stream, code=8):
    return frame(RST_STREAM, 0, stream, struct.pack("!I", code))


def priority(stream, on):
    return frame(PRIORITY, 0, stream, struct.pack("!IB", on, 15))


def name(code):
    return CODES[code] if code < len(CODES) else hex(code)


class Reply:
    """What has arrived on one stream."""

    def __init__(self):
        self.heads, self.body, self.sizes = [], b"", []
        self.ended, self.reset = False, None

    @property
    def status(self):
        """The final status; `None` if it has not arrived."""
        last = [dict(head).get(":status") for head in self.heads if not dict(head).get(":status", "1").startswith("1")]
        return int(last[0]) if last else None

    @property
    def trailers(self):
        return self.heads[-1] if len(self.heads) > 1 and ":status" not in dict(self.heads[-1]) else []


class Client:
    """A connection. Streams 1, 3 and so on are the test's to use; `path` is different for each connection."""

    def __init__(self, port, path, first=(), begin=True):
        self.path, self.first = path, first
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.replies = b"", {}
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.settings, self.acknowledged, self.pongs, self.goaway, self.closed = None, 0, [], None, False
        self.granted = {0: DEFAULTS[INITIAL_WINDOW]}
        self.violation = None
        if begin:
            self.send(PREFACE, settings(*first))
            self.until(lambda: self.settings is not None and self.acknowledged == 1)
            self.send(frame(SETTINGS, ACK, 0))

    def send(self, *parts):
        try:
            self.sock.sendall(b"".join(parts))
        except OSError:
            # The gateway has closed the connection. What it sent before is still read.
            pass

    def fields(self, method="GET", path=None, more=(), leave=(), scheme="http"):
        """The fields of a request; pseudo-header fields first."""
        pseudo = [(":method", method), (":scheme", scheme), (":path", path or self.path), (":authority", "h")]
        return [pair for pair in pseudo if pair[0] not in leave] + list(more)

    def block(self, *given, **request):
        return self.encoder.encode(given[0] if given else self.fields(**request))

    def head(self, stream, *given, end=True, **request):
        """A HEADERS frame with a whole request, or with the given fields."""
        return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, self.block(*given, **request))

    def window(self, stream):
        """The bytes that the gateway has allowed to be sent on a stream."""
        return self.granted.get(stream, 0) + (self.announced(INITIAL_WINDOW) if stream else 0)

    def announced(self, setting):
        return (self.settings or {}).get(setting, DEFAULTS.get(setting))

    def reply(self, stream):
        return self.replies.setdefault(stream, Reply())

    def until(self, reached, patience=PATIENCE):
        """Reads until the condition holds, the connection is closed, or the time is over; returns whether it holds."""
        end = time.monotonic() + patience
        while not reached():
            left = end - time.monotonic()
            if self.closed or left <= 0:
                return False
            self.read(left)
        return True

    def read(self, patience):
        self.sock.settimeout(patience)
        try:
            received = self.sock.recv(1 << 16)
        except TimeoutError:
            return
        except OSError:
            received = b""
        self.closed = received == b""
        self.buffer += received
        while len(self.buffer) >= 9:
            seen, length = Frame.parse_frame_header(memoryview(self.buffer[:9]))
            if len(self.buffer) < 9 + length:
                break
            body = memoryview(self.buffer[9:9 + length])
            self.buffer = self.buffer[9 + length:]
            seen.parse_body(body)
            self.take(seen, length)

    def take(self, seen, length):
        if length > dict(self.first).get(MAX_FRAME, DEFAULTS[MAX_FRAME]):
            self.violation = f"a frame of {length} bytes"
        if self.settings is None and not isinstance(seen, SettingsFrame):
            self.violation = f"{seen.name} before SETTINGS"
        match seen:
            case SettingsFrame() if "ACK" in seen.flags:
                self.acknowledged += 1
            case SettingsFrame():
                self.settings = dict(seen.settings)
            case PingFrame() if "ACK" in seen.flags:
                self.pongs.append(seen.opaque_data)
            case PingFrame():
                self.send(frame(PING, ACK, 0, seen.opaque_data))
            case GoAwayFrame():
                self.goaway = seen
            case RstStreamFrame():
                self.reply(seen.stream_id).reset = seen.error_code
            case WindowUpdateFrame():
                self.granted[seen.stream_id] = self.granted.get(seen.stream_id, 0) + seen.window_increment
            case HeadersFrame():
                # The gateway's heads are short: one frame each.
                assert "END_HEADERS" in seen.flags, "a head in several frames"
                self.reply(seen.stream_id).heads.append(self.decoder.decode(seen.data))
            case DataFrame():
                self.reply(seen.stream_id).body += seen.data
                self.reply(seen.stream_id).sizes.append(length)
        if isinstance(seen, (HeadersFrame, DataFrame)) and "END_STREAM" in seen.flags:
            self.reply(seen.stream_id).ended = True

    def answers_ping(self):
        """Whether the gateway still reads the connection and answers."""
        data = struct.pack("!Q", len(self.pongs) + 0x5354430000)
        self.send(frame(PING, 0, 0, data))
        return self.until(lambda: data in self.pongs)

    def request(self, stream, *given, **request):
        """Sends a request and waits for the end of its response; returns whether it has ended."""
        self.send(self.head(stream, *given, **request))
        return self.ends(stream)

    def ends(self, stream):
        reply = self.reply(stream)
        return self.until(lambda: reply.ended or reply.reset is not None or self.goaway) and reply.ended

    def close(self):
        self.sock.close()
