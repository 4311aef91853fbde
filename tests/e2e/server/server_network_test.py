#!/usr/bin/env python3
"""poet serve and the network: IPv6, clients of HTTP/1.0, and bytes that are no requests, in pieces, on connections that break off.

usage: server_network_test.py POET [CONNECTIONS]
"""
import errno
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

from server_support import PATIENCE, QUICK, events, everything_said, serving, until, write_tokens

poet = sys.argv[1]
connections = int(sys.argv[2]) if len(sys.argv) > 2 else 3000 if "POET_TEST_ALL" in os.environ else 1000
STATUSES = {100, 200, 201, 202, 206, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 416, 422, 429, 431, 501, 503, 505}


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def ipv6():
    if not has_ipv6():
        return print("IPv6: SKIPPED, this machine has none")
    with serving(poet, listen="[::1]:0") as server:
        name = server.submit(QUICK)
        assert events(server, name)[-1]["state"] == "done"
        assert server.job(name)["client"] == "::1"
        for host, status in ((f"[::1]:{server.port}", 200), ("[::1]", 200), ("localhost", 200), ("[::2]", 403), ("::1", 403)):
            assert server.get("/api/v1/status", Host=host).status == status, host
        assert server.get("/api/v1/status", Origin=f"http://[::1]:{server.port}").status == 200
        assert server.get("/api/v1/status", Origin="http://[::1]:1").status == 403
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([poet, "serve", "--data", folder, "--listen", "[::]:0"], capture_output=True, text=True)
        assert done.returncode == 2 and "--token-file" in done.stderr, done
        write_tokens(f"{folder}/tokens", "ann 0123456789abcdef\n")
        # All addresses, those of IPv4 among them.
        with serving(poet, "--token-file", f"{folder}/tokens", listen="[::]:0") as server:
            server.fields["Authorization"] = "Bearer 0123456789abcdef"
            for server.host in ("127.0.0.1", "::1"):
                assert server.get("/api/v1/status").status == 200, server.host
    print("IPv6: served, and by the same rules")


def old_clients():
    with serving(poet) as server:
        def said(text):
            with server.connect() as connection:  # it ends, or this times out
                connection.sendall(text)
                return everything_said(connection)

        for fields in (b"", b"Connection: keep-alive\r\n", b"Connection: Keep-Alive\r\n", b"Host: localhost\r\n"):
            answer = said(b"GET /api/v1/status HTTP/1.0\r\n" + fields + b"\r\n")
            head, body = answer.split(b"\r\n\r\n", 1)
            assert head.startswith(b"HTTP/1.1 200 ") and b"\r\nConnection: close" in head and b"Keep-Alive" not in head, answer
            assert json.loads(body)["workers"], answer
        assert said(b"GET /api/v1/status HTTP/1.0\r\nHost: evil.example\r\n\r\n").startswith(b"HTTP/1.1 403 ")
        assert said(b"GET /api/v1/status HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 403 "), "no Host"
        # Such a client knows no 100.
        body = json.dumps(QUICK).encode()
        answer = said(b"POST /api/v1/jobs HTTP/1.0\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
                      b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert answer.startswith(b"HTTP/1.1 202 "), answer
        name = json.loads(answer.split(b"\r\n\r\n", 1)[1])["id"]
        with server.connect() as connection:
            connection.sendall(b"POST /api/v1/jobs HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            assert server.get("/api/v1/status").status == 200  # which was asked later
            connection.setblocking(False)
            try:
                assert not connection.recv(1), "it was told something before it had said all"
            except BlockingIOError:
                pass
        answer = said(f"GET /api/v1/jobs/{name}/events HTTP/1.0\r\n\r\n".encode())
        assert b'"state":"done"' in answer and b"chunked" not in answer, answer
    print("HTTP/1.0: answered, and closed")


def any_bytes(rng, name):
    """A few requests one after the other, most of them damaged."""
    body = json.dumps({**QUICK, "ram_budget": rng.choice(["much", -1, 10**30, None, [], "\ud800", 56_000_000])}).encode()
    targets = ["/", "/api/v1/status", "/api/v1/jobs", f"/api/v1/jobs/{name}", f"/api/v1/jobs/{name}/events", f"/api/v1/jobs/{name}/result",
               f"/api/v1/jobs/{name}/plan", "/api/v1/jobs/none", "/solve?model=linear", "/app.js", "/%ff", "//", "/..", "*", "http://x/", "/" + "x" * 9000]
    said = b""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 20])):
        post = rng.random() < 0.3
        lines = [f"{rng.choice(['POST', 'PUT', 'post']) if post else rng.choice(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'BREW'])} {rng.choice(targets)} "
                 f"HTTP/{rng.choice(['1.1', '1.1', '1.1', '1.0', '2.0'])}", f"Host: {rng.choice(['localhost', '127.0.0.1', 'x'])}"]
        lines += rng.sample(["Connection: close", "Expect: 100-continue", "Range: bytes=0-9", "If-None-Match: *", "Transfer-Encoding: chunked", "Accept: */*",
                             " folded", "X" * 5000 + ": y", "Content-Type: application/json", "Content-Type: application/octet-stream",
                             "Content-Encoding: gzip", "Content-Type: multipart/form-data; boundary=x"], rng.choice([0, 1, 1, 2]))
        if post:
            lines.append(f"Content-Length: {rng.choice([len(body), len(body), len(body), len(body) + 1, 0, 10**9, -1, 'x'])}")
        said += "\r\n".join(lines).encode() + b"\r\n\r\n" + (body if post else b"")
    said = bytearray(said)
    for _ in range(rng.choice([0, 0, 1, 3, 30])):
        at = rng.randrange(len(said) + 1)
        said[at:at + rng.choice([0, 1, 5])] = rng.choice([b"", b"\0", b"\r\n", b"\n", b"\xff", b":", b" ", bytes(rng.randbytes(7))])
    return bytes(said)


def one_connection(rng, server, name, statuses):
    """Says any bytes in pieces, and goes as clients go: at its end, in between, half closed, reset."""
    said, end = any_bytes(rng, name), rng.choice(["wait", "wait", "half", "go", "reset"])
    if end in ("go", "reset"):
        said = said[:rng.randrange(len(said) + 1)]
    connection = server.connect()
    with connection:
        try:
            while said:
                size = rng.choice([1, 3, 100, 5000, len(said)])
                connection.sendall(said[:size])
                said = said[size:] if rng.random() < 0.98 else b""
                if rng.random() < 0.02:
                    time.sleep(0.001)
            if end == "half":
                connection.shutdown(socket.SHUT_WR)
            if end == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if end in ("wait", "half"):
                connection.settimeout(PATIENCE if end == "half" else 0.02)
                first = connection.recv(65536)
                if first:
                    assert first.startswith(b"HTTP/1.1 ") or len(first) < 9, first
                    if len(first) >= 12:
                        statuses[int(first[9:12])] = statuses.get(int(first[9:12]), 0) + 1
        except TimeoutError:
            assert end == "wait", "a client that has said all is neither answered nor closed"
        except OSError as error:  # it was closed already
            if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise


def resident_and_open(server):
    fields = open(f"/proc/{server.process.pid}/statm").read().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{server.process.pid}/fd"))


def random_clients():
    rng = random.Random(20220717)
    with serving(poet, "--workers", "1") as server:
        name = server.submit(QUICK)
        assert server.wait(name)["state"] == "done"
        statuses, early, opened = {}, 0, resident_and_open(server)[1]
        for i in range(connections):
            one_connection(rng, server, name, statuses)
            if i % 200 == 0:
                assert server.get("/api/v1/status").status == 200
            if i == connections // 5:
                early = resident_and_open(server)[0]
        assert statuses.keys() <= STATUSES, statuses
        assert {200, 400, 403, 404, 411, 505} <= statuses.keys(), statuses
        # Nothing of all that stays.
        until(lambda: resident_and_open(server)[1] <= opened + 2, lambda: f"{resident_and_open(server)[1]} descriptors are open, {opened} were before")
        grown = resident_and_open(server)[0] - early
        assert grown < 20 << 20, f"resident memory has grown by {grown >> 20} MiB"
        assert server.wait(server.submit({**QUICK, "ram_budget": 55_000_000}))["state"] == "done"
    print(f"{connections} random connections: answered by the rules, grown by {grown / 2**20:.1f} MiB; {dict(sorted(statuses.items()))}")


ipv6()
old_clients()
random_clients()
