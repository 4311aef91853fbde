#!/usr/bin/env python3
"""poet serve and who calls: tokens, pages of other sites, uploads and their limits, wrong requests.

usage: server_access_test.py POET
"""
import json
import os
import subprocess
import sys
import tempfile

from server_support import LONG, QUICK, events, everything_said, serving, until, write_tokens

poet, = sys.argv[1:]


def tokens():
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(f"{folder}/tokens", "# who\nann 0123456789abcdef\nbob fedcba9876543210\n")
        with serving(poet, "--token-file", f"{folder}/tokens", listen="0.0.0.0:0") as server:
            for path in ("/api/v1/jobs", "/api/v1/status", "/api/v1/models", "/solve", "/api/v1/jobs/x/plan"):
                answer = server.get(path)
                assert answer.status == 401 and answer.fields["WWW-Authenticate"] == "Bearer", (path, answer)
            assert server.post(QUICK).status == server.upload(b"x").status == 401
            assert server.post(QUICK, Authorization="Bearer 0123456789abcdeF").status == 401
            assert server.get("/api/v1/openapi.json").status == 200
            for name, token in (("ann", "0123456789abcdef"), ("bob", "fedcba9876543210")):
                server.fields["Authorization"] = "Bearer " + token
                job = server.post({**QUICK, "ram_budget": 56_000_000 + len(token + name) + ord(name[0])}).json()
                assert job["client"] == name, job
                assert [each["id"] for each in server.get("/api/v1/jobs?mine=true").json()["jobs"]] == [job["id"]]
                assert events(server, job["id"])[-1]["state"] == "done"
            assert server.get("/api/v1/jobs", Origin="http://evil.example").status == 403
            said = json.dumps(server.get("/api/v1/jobs").json())
            assert "0123456789abcdef" not in said and "fedcba9876543210" not in said
    print("tokens: needed, and known by name")


def other_sites():
    with serving(poet) as server:
        for host in ("evil.example", f"evil.example:{server.port}", "127.evil.example", "localhost.evil.example"):
            assert server.get("/api/v1/status", Host=host).status == 403, host
        for host in ("localhost", "LOCALHOST", f"127.0.0.1:{server.port}"):
            assert server.get("/api/v1/status", Host=host).status == 200, host
        for origin in ("http://evil.example", "null", f"http://localhost:{server.port + 1}"):
            assert server.post(QUICK, Origin=origin).status == 403, origin
        assert server.get("/api/v1/status", Origin=f"http://127.0.0.1:{server.port}").status == 200
        preflight = server.request("OPTIONS", "/api/v1/jobs", Origin="http://evil.example",
                                   Access_Control_Request_Method="POST")
        assert "Access-Control-Allow-Origin" not in preflight.fields, preflight.fields
        # What a page can do without asking for leave: load images, follow links, send forms.
        solve = "/solve?model=linear&platform=m0&ram_budget=9000&runtime_budget=1.3&time_limit_s=1"
        browser = {"User_Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
        image = {**browser, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}
        link = {**browser, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        for fields in (image, link, {**image, "Sec_Fetch_Site": "same-site"}, {**link, "Sec_Fetch_Site": "none"}, browser,
                       {**browser, "Referer": "http://evil.example/"}, {"Referer": f"http://localhost:{server.port}/"}):
            for method in ("GET", "HEAD"):
                assert server.request(method, solve, **fields).status == 403, (method, fields)
        for path in ("/api/v1/jobs", "/api/v1/jobs/x/firmware.tar.gz", "/api/v1/jobs/x/events"):
            assert server.get(path, **image).status == 403, path
        form = {**link, "Content_Type": "text/plain"}
        assert server.request("POST", "/api/v1/jobs", json.dumps(QUICK), **form).status == 403
        with server.connect() as connection:  # refused before it is sent
            connection.sendall(b"POST /api/v1/uploads HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 60000000\r\n\r\n")
            assert everything_said(connection).startswith(b"HTTP/1.1 403 ")
        assert server.get("/", **link).status == 200, "a link to the page"
        for policy in ("Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy"):
            assert server.get("/").fields[policy] == "same-origin", policy
        assert server.get("/api/v1/jobs").json() == {"jobs": [], "queued": 0, "running": 0}
        own = {**browser, "Sec_Fetch_Site": "same-origin"}
        for fields in ({}, own):
            assert server.get(solve, **fields).status == 200, fields
    print("pages of other sites: refused")


def modes(folder):
    """What there is in it, with its permissions."""
    found = {folder: os.stat(folder).st_mode & 0o777}
    for path, folders, files in os.walk(folder):
        found.update({f"{path}/{name}": os.stat(f"{path}/{name}").st_mode & 0o777 for name in folders + files})
    return found


def files_of_its_own():
    """Of the server and of its jobs, in a folder that was open to all."""
    umask = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory() as folder:
            with serving(poet, data=f"{folder}/data") as server:
                server.upload(b"a network")
                server.wait(server.submit(QUICK))
                name = server.submit(LONG)
                server.wait(name, ("running",))
                # Its files come and go meanwhile.
                found = until(lambda: (lambda seen: seen if any("/progress" in file for file in seen) else None)(
                    modes_if_there(f"{folder}/data")))
                server.request("DELETE", f"/api/v1/jobs/{name}")
            assert any(file.endswith("/jobs.sqlite") for file in found) and any("/uploads/" in file for file in found), found
            assert not [file for file, mode in found.items() if mode & 0o077], found
            os.chmod(f"{folder}/data/jobs.sqlite", 0o644)
            os.chmod(f"{folder}/data/uploads", 0o755)
            with serving(poet, data=f"{folder}/data"):
                assert not [file for file, mode in modes(f"{folder}/data").items() if mode & 0o077]
    finally:
        os.umask(umask)
    print("files: its user's alone")


def modes_if_there(folder):
    try:
        return modes(folder)
    except FileNotFoundError:
        return {}


def uploads():
    with serving(poet, "--upload-limit", "100KB") as server:
        first = server.upload(b"x" * 60_000)
        assert first.status == 201 and first.json()["bytes"] == 60_000, first
        assert server.upload(b"x" * 60_000).json() == first.json()
        full = server.upload(b"y" * 60_000)
        assert full.status == 503 and full.fields["Retry-After"], full
        assert server.upload(b"z" * 30_000).status == 201
        assert server.upload(b"x", Content_Type="text/plain").status == 415
        assert server.upload(b"").status == 400
        assert server.get("/api/v1/status").json()["upload_bytes"] == 90_000
        # Said to be too large: refused before it is sent.
        for length in (64 * 1024**2 + 1, 10**19, 2**64 - 1):
            with server.connect() as connection:
                connection.sendall(f"POST /api/v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
                assert everything_said(connection).startswith(b"HTTP/1.1 413 "), length
        # Told to go on, and then it does.
        with server.connect() as connection:
            connection.sendall(b"POST /api/v1/uploads HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\n"
                               b"Content-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\n")
            assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b"abcd")
            assert everything_said(connection).startswith(b"HTTP/1.1 201 ")
    with serving(poet) as server:
        large = os.urandom(30 * 1024**2)
        answer = server.upload(large)
        assert answer.status == 201 and answer.json()["bytes"] == len(large), answer
    print("uploads: once, within their limits")


def wrong_requests():
    with serving(poet) as server:
        for request, field in (({**QUICK, "ram_budget": "much"}, "/ram_budget"), ({**QUICK, "colour": 1}, "/colour"),
                               ({"model": "linear"}, "/device"), ({**QUICK, "onnx": "../jobs.sqlite"}, "/onnx"),
                               ({**QUICK, "time_limit": 10**6}, "/time_limit"), ({"kind": "nothing"}, "/kind"), ("[1,2", None), ("", None)):
            answer = server.post(request)
            assert answer.status == 400 and answer.json().get("field") == field, (request, answer)
        assert server.request("POST", "/api/v1/jobs", json.dumps(QUICK), Content_Type="text/plain").status == 415
        for path in ("/api/v1/jobs/none", "/api/v1/jobs/none/events", "/none", "/..%2f..%2fetc%2fpasswd", "/report/../../etc/passwd"):
            assert server.get(path).status == 404, path
        head = b" HTTP/1.1\r\nHost: localhost\r\n"
        for said, status in ((b"GET /" + head + b"Transfer-Encoding: chunked\r\n\r\n", 411), (b"GET / HTTP/3.0\r\n\r\n", 505),
                             (b"rubbish\r\n\r\n", 400), (b"GET /" + head + b"A: b\r\n c\r\n\r\n", 400), (b"\x16\x03\x01" * 20 + b"\r\n\r\n", 400),
                             (b"GET /" + head + b"X: " + b"y" * 20_000 + b"\r\n\r\n", 431), (b"G" * 20_000, 431),
                             (b"GET /" + head + b"Host: evil.example\r\n\r\n", 400), (b"GET /" + head + b"Host: localhost\r\n\r\n", 400),
                             (b"POST /api/v1/uploads" + head + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 415),
                             (b"POST /" + head + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400)):
            with server.connect() as connection:
                connection.sendall(said)
                answer = everything_said(connection)
                assert answer.startswith(f"HTTP/1.1 {status} ".encode()), (said[:80], answer)
        # Several at once on one connection, answered in order.
        with server.connect() as connection:
            one = b"GET /api/v1/jobs/%s" + head
            connection.sendall(b"".join(one % name + b"\r\n" for name in (b"a", b"b", b"c")) + one % b"d" + b"Connection: close\r\n\r\n")
            answer = everything_said(connection)
            places = [answer.find(b"no job " + name) for name in (b"a", b"b", b"c", b"d")]
            assert answer.count(b"HTTP/1.1 404 ") == 4 and places == sorted(places) and places[0] > 0, answer
    print("wrong requests: named, by status and field")


def refused_to_start():
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(f"{folder}/open", "ann 0123456789abcdef\n")
        os.chmod(f"{folder}/open", 0o644)
        for options, word in ((["--token-file", f"{folder}/open"], "open: must not be readable or writable by others"),
                              (["--listen", "0.0.0.0:0"], "--token-file"), (["--listen", "nowhere"], "--listen"),
                              (["--token-file", f"{folder}/none"], "cannot be read"), (["--workers", "0"], "--workers")):
            done = subprocess.run([poet, "serve", "--data", f"{folder}/data", *options], capture_output=True, text=True)
            assert done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1, done
        with serving(poet) as server:
            done = subprocess.run([poet, "serve", "--data", folder, "--listen", f"127.0.0.1:{server.port}"], capture_output=True, text=True)
            assert done.returncode == 2 and "cannot listen" in done.stderr, done
    print("what it does not start with: one line")


tokens()
other_sites()
files_of_its_own()
uploads()
wrong_requests()
refused_to_start()
