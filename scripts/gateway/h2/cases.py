"""The list that the files of cases add to."""

from expect import Holds

CASES = []

# Known differences, all of them of the libraries.
CODE = "h2 ends the connection with PROTOCOL_ERROR where the section has a code of its own"
TRAILERS = "h2 leaves pseudo-header fields of trailers out, and does not treat the request as malformed; none of them reaches the upstream"
CONTINUE = "hyper sends no 100 over HTTP/2; a client that waits for it sends its body after its own time limit (RFC 9110, 10.1.1)"


class Case:
    def __init__(self, section, title, expects, act, **how):
        self.section, self.title, self.act = section, title, act
        self.expects = Holds(expects) if isinstance(expects, str) else expects
        # How the connection begins: `first` (settings), `begin` (whether the handshake is done), `own` (a gateway of its own).
        self.how = how
        # A known difference: its reason, and exactly what is seen instead.
        self.known, self.instead = how.pop("known", None), how.pop("instead", "GOAWAY PROTOCOL_ERROR, closed")


def case(section, title, expects, act=None, **how):
    """Adds a case: a function of the connection, or a decorator for one. `expects` as a text: the function returns what it saw,
    and whether it is right."""
    if act is None:
        return lambda act: case(section, title, expects, act, **how)
    CASES.append(Case(section, title, expects, act, **how))
    return act
