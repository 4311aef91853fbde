#!/usr/bin/env python3
"""poet serve stops, shares a folder and is killed: nothing that it accepted is lost.

usage: server_restarts_test.py POET
"""
import json
import os
import random
import signal
import sys
import tempfile
import threading

from server_support import ENDED, LONG, PATIENCE, QUICK, Server, events, everything_said, frozen, serving, until, until_nobody_works

poet, = sys.argv[1:]


def stopped(data):
    request = {**LONG, "time_limit": 1}
    with serving(poet, "--workers", 1, data=data) as server:
        done = server.submit(QUICK)
        result = server.result(QUICK)
        running, queued = server.submit(request), server.submit({**QUICK, "ram_budget": 57_000_000})
        server.wait(running, ["running"])
        with frozen(data), server.connect() as waiting:  # for an answer that takes longer than the server is there
            watched, opened = [], threading.Event()
            thread = threading.Thread(target=lambda: watched.append(events(server, running, opened=opened.set)))
            thread.start()
            assert opened.wait(PATIENCE)
            waiting.sendall(b"GET /solve?model=linear&platform=m0&ram_budget=100000&runtime_budget=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            until(lambda: server.get("/api/v1/status").json()["queued"] == 2)
            assert server.stop() == 0
            said = everything_said(waiting)
            assert said == b"", said
        thread.join()
        assert watched[0][-1]["state"] == "running", watched
    until_nobody_works(data)
    with serving(poet, "--workers", 1, data=data) as server:
        assert server.get(f"/api/v1/jobs/{done}/result").body == result
        for name in (running, queued):
            job = server.wait(name)
            assert job["state"] == "done" and job["attempts"] == 1, job
        assert server.stop(signal.SIGINT) == 0
    print("stopped: exit 0, and what ran goes on")


def two_servers(data):
    with serving(poet, "--workers", 1, data=data) as a, serving(poet, "--workers", 1, data=data) as b:
        names = [(a if i % 2 else b).submit({**QUICK, "ram_budget": 56_000_000 + i}) for i in range(20)]
        watched = []
        thread = threading.Thread(target=lambda: watched.append(events(a, names[-1])))
        thread.start()
        for name in names:
            assert b.wait(name)["attempts"] == 1
        thread.join()
        assert watched[0][-1]["state"] == "done"
        for name in names:
            assert a.get(f"/api/v1/jobs/{name}/result").body == b.get(f"/api/v1/jobs/{name}/result").body != b""
        upload = a.upload(b"shared").json()["id"]
        assert b.post({"kind": "import", "onnx": upload}).status == 202
        # What one runs the other may cancel.
        name = a.submit(LONG)
        a.wait(name, ["running"])
        assert b.request("DELETE", f"/api/v1/jobs/{name}").status == 200
        assert a.wait(name)["state"] == "cancelled"
        # What one was killed with the other takes on, though one of its workers is busy.
    with serving(poet, "--workers", 2, data=data) as b:
        a = Server(poet, data, "--workers", 1)
        busy, name = b.submit(LONG), None
        b.wait(busy, ["running"])
        lost = [b.submit({**LONG, "ram_budget": 24_000 + i, "time_limit": 1}) for i in range(2)]
        for each in lost:
            b.wait(each, ["running", "done"])
        with frozen(data):
            assert a.stop(signal.SIGKILL) == -signal.SIGKILL
        a.leases_run_out()
        for each in lost:
            job = b.wait(each)
            assert job["state"] == "done", job
        assert b.request("DELETE", f"/api/v1/jobs/{busy}").status in (200, 409)
    print("two servers on one folder: one queue, one set of results")


def order(server, request):
    body = json.dumps(request).encode()
    with server.connect() as connection:
        connection.sendall(b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body) + body)


def killed(data, kills):
    """At random instants, while jobs are submitted and done: what was accepted gets done, and what is done stays as it is."""
    chance = random.Random(7)
    accepted, results = {}, {}
    for _ in range(kills):
        server = Server(poet, data, "--workers", 1)
        for _ in range(chance.randrange(1, 6)):
            budget = 56_000_000 + len(accepted)
            accepted[budget] = name = server.submit({**QUICK, "ram_budget": budget})
        server.wait(name, chance.choice([("queued", "running", *ENDED), ("running", *ENDED), ENDED]))
        for name in accepted.values():
            if name not in results and server.job(name)["state"] == "done":
                results[name] = server.get(f"/api/v1/jobs/{name}/result").body
        order(server, {**QUICK, "ram_budget": 56_000_000 + len(accepted)})  # is not answered: it may be there, or not
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        until_nobody_works(data)
        server.leases_run_out()
    with serving(poet, data=data) as server:
        for budget, name in accepted.items():
            job = server.wait(name)
            if job["state"] == "failed":  # three kills may come while it is at work: it is done when ordered again
                assert job["error"]["error"] == "died" and job["attempts"] == 3, job
                assert server.submit({**QUICK, "ram_budget": budget}) == name
                job = server.wait(name)
            assert job["state"] == "done" and job["has_plan"], job
            body = server.get(f"/api/v1/jobs/{name}/result").body
            assert results.get(name, body) == body and json.loads(body)["status"] == "optimal", name
    assert len(accepted) >= kills, accepted
    print(f"killed {kills} times: {len(accepted)} jobs done, {len(results)} results seen before")


with tempfile.TemporaryDirectory() as data:
    stopped(data)
with tempfile.TemporaryDirectory() as data:
    two_servers(data)
with tempfile.TemporaryDirectory() as data:
    killed(data, 15 if "POET_TEST_ALL" in os.environ else 6)
