"""nginx with Lua and libstc, for real: test.py STC PREFIX WORK

STC is the command, PREFIX where libstc is installed, WORK an empty folder. The configuration is stc.conf, with other addresses. The
API is a second nginx that serves corpus/made as files. Every body has to be the command line's, byte for byte.
"""

import http.client
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "integrations/nginx"
FORMATS = {"stc1": "1", "stc2": "2", "stc2-dense": "2; dense", "stc2-refs": "2; refs"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configured(work, prefix, front, back):
    """stc.conf with the addresses and paths of this test, and the API."""
    conf = (HERE / "stc.conf").read_text()
    for before, after in [
        ("/etc/nginx/lua", str(HERE)),
        ("/usr/local/lib/libstc.so", f"{prefix}/lib/libstc.so"),
        ("server 127.0.0.1:8081", f"server 127.0.0.1:{back}"),
        ("listen 127.0.0.1:8080", f"listen 127.0.0.1:{front}"),
    ]:
        assert conf.count(before) == 1, before
        conf = conf.replace(before, after)
    # A plain proxy beside it, for the cost.
    plain = "    location /plain/ { proxy_pass http://api/; proxy_http_version 1.1; proxy_set_header Connection \"\"; }\n"
    conf = conf.rstrip().removesuffix("}") + plain + "}\n"
    api = f"""
    server {{
        listen 127.0.0.1:{back};
        root {work}/api;
        default_type application/json;
        types {{ text/html html; application/json json; }}
        location = /error {{ return 500 '{{"error":[{", ".join(['{"a":1}'] * 60)}]}}'; }}
        location = /no-transform.json {{ add_header Cache-Control no-transform; }}
    }}"""
    modules = "\n".join(f"load_module /usr/lib/nginx/modules/{name};" for name in ["ndk_http_module.so", "ngx_http_lua_module.so"])
    text = f"""{modules}
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {work}/tmp; proxy_temp_path {work}/tmp; fastcgi_temp_path {work}/tmp; uwsgi_temp_path {work}/tmp; scgi_temp_path {work}/tmp;
{conf}
{api}
}}
"""
    (work / "nginx.conf").write_text(text)


def get(port, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    answer = response.status, dict((name.lower(), value) for name, value in response.getheaders()), response.read()
    connection.close()
    return answer


def cells(stc, port, work):
    passed = 0

    def check(holds, what):
        nonlocal passed
        if not holds:
            sys.exit(f"nginx: {what}; the log: {(work / 'error.log').read_text()[-2000:]}")
        passed += 1

    for path in sorted((work / "api").glob("*.json")):
        document = path.read_bytes()
        status, headers, body = get(port, f"/{path.name}?a=%20b")
        check((status, body) == (200, document) and "content-encoding" not in headers, f"{path.name}: not opted in")
        for format, version in FORMATS.items():
            status, headers, body = get(port, f"/{path.name}", X_Prefer_Format=format)
            expected = subprocess.run([stc, "encode", "--format", format, path], capture_output=True).stdout
            if "x-stc-skipped" in headers:
                check(body == document and "content-encoding" not in headers, f"{path.name}: skipped, and changed")
                check(headers["x-stc-skipped"] in ("not-smaller", "too-small", "invalid", "no-transform"), f"{path.name}: {headers}")
                continue
            check((status, body) == (200, expected), f"{path.name}: {format}: other bytes than the command line")
            wanted = ("stc", "application/stc+json", version, str(len(body)))
            got = tuple(headers.get(name) for name in ("content-encoding", "content-type", "x-stc-version", "content-length"))
            check(got == wanted, f"{path.name}: {got}")
            check("X-Prefer-Format" in headers["vary"] and headers["etag"].startswith("W/"), f"{path.name}: {headers}")
    skipped = lambda *arguments, **headers: get(port, *arguments, X_Prefer_Format="stc2", **headers)[1].get("x-stc-skipped")
    check(skipped("/page.html") == "not-json", "HTML stays")
    check(skipped("/broken.json") == "invalid", "invalid JSON stays")
    check(skipped("/no-transform.json") == "no-transform", "no-transform is kept")
    check(get(port, "/error", X_Prefer_Format="stc2")[0] == 500 and skipped("/error") == "excluded", "errors stay")
    check(get(port, "/missing", X_Prefer_Format="stc2")[0] == 404, "a missing file")
    check(get(port, "/issues.json", "HEAD", X_Prefer_Format="stc2")[2] == b"", "HEAD has no body")
    check(get(port, "/issues.json", "POST", b"x" * 100_000, X_Prefer_Format="stc2")[0] == 405, "POST reaches the API")
    check("content-encoding" not in get(port, "/issues.json", X_Prefer_Format="json")[1], "json is a refusal")
    return passed


def measured(port, path, prefer=None):
    command = ["wrk", "-t1", "-c16", "-d3s", "--latency", f"http://127.0.0.1:{port}{path}"]
    text = subprocess.run(command + (["-H", f"X-Prefer-Format: {prefer}"] if prefer else []), capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in text, text
    find = lambda pattern: re.search(pattern, text)[1]
    return float(find(r"Requests/sec:\s+([\d.]+)")), find(r"50%\s+(\S+)"), find(r"99%\s+(\S+)")


def resident(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = pathlib.Path(f"/proc/{children[0]}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def main(stc, prefix, work):
    work = pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    (work / "api").mkdir(parents=True)
    (work / "tmp").mkdir()
    # nginx gives its rights away when it is started as root; the files stay readable.
    for folder in (work, work / "api", work / "tmp"):
        folder.chmod(0o777)
    for path in sorted((ROOT / "corpus/made").glob("*.json")):
        shutil.copy(path, work / "api")
    issues = (ROOT / "corpus/made/issues.json").read_bytes()
    (work / "api/page.html").write_bytes(issues)
    (work / "api/broken.json").write_bytes(issues[:-5])
    (work / "api/no-transform.json").write_bytes(issues)
    front, back = free_port(), free_port()
    configured(work, prefix, front, back)
    user = ["-g", "daemon off; user root;" if pathlib.os.geteuid() == 0 else "daemon off;"]
    server = subprocess.Popen(["nginx", "-p", str(work), "-c", str(work / "nginx.conf"), *user])
    try:
        for _ in range(100):
            try:
                get(front, "/issues.json")
                break
            except OSError:
                time.sleep(0.1)
        passed = cells(stc, front, work)
        ways = [("plain proxy", "/plain/issues.json", None), ("not opted in", "/issues.json", None), ("stc2", "/issues.json", "stc2")]
        before = resident(server.pid)
        rounds = [[measured(front, path, prefer) for _, path, prefer in ways] for _ in range(3)]
        after = resident(server.pid)
        print(f"| nginx + Lua | {passed} cells passed | issues.json, {len(issues)} bytes, 16 connections, one worker |")
        for at, (name, _, _) in enumerate(ways):
            rate = statistics.median(turn[at][0] for turn in rounds)
            p50, p99 = rounds[1][at][1:]
            print(f"| nginx + Lua | {name} | {rate:,.0f} requests a second, p50 {p50}, p99 {p99} |")
        print(f"| nginx + Lua | memory of the worker | {before} KiB before the load, {after} KiB after |")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
