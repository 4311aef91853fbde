#!/usr/bin/env python3
"""poet serve stops, shares a folder and is killed: nothing that it accepted is lost.

usage: server_restarts_test.py POET
"""
import json
import random
import signal
import sys
import tempfile
import threading
import time
from http.client import HTTPException

from server_support import LONG, QUICK, Server, events, everything_said, serving, until, until_nobody_works

poet, = sys.argv[1:]


def stopped(data):
    request = {**LONG, "time_limit": 7}
    with serving(poet, "--workers", 1, data=data) as server:
        done = server.submit(QUICK)
        result = server.result(QUICK)
        running, queued = server.submit(request), server.submit({**QUICK, "ram_budget": 57_000_000})
        server.wait(running, ["running"])
        watched, opened = [], threading.Event()
        thread = threading.Thread(target=lambda: watched.append(events(server, running, opened=opened.set)))
        thread.start()
        assert opened.wait(10)
        with server.connect() as waiting:  # for an answer that takes longer than the server is there
            waiting.sendall(b"GET /solve?model=linear&platform=m0&ram_budget=100000&runtime_budget=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            until(lambda: server.get("/api/v1/status").json()["queued"] == 2, 10)
            before = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - before < 20
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
        busy, name = b.submit({**LONG, "time_limit": 20}), None
        b.wait(busy, ["running"])
        lost = [b.submit({**LONG, "ram_budget": 24_000 + i, "time_limit": 3}) for i in range(2)]
        for each in lost:
            b.wait(each, ["running", "done"])
        assert a.stop(signal.SIGKILL) == -signal.SIGKILL
        for each in lost:
            job = b.wait(each)
            assert job["state"] == "done", job
        assert b.request("DELETE", f"/api/v1/jobs/{busy}").status in (200, 409)
    print("two servers on one folder: one queue, one set of results")


def killed(data, kills=15):
    """At random instants, while jobs are submitted: what was accepted gets done, and what is done stays as it is."""
    chance = random.Random(7)
    accepted, results = {}, {}
    began = time.monotonic()
    for round_number in range(kills):
        server = Server(poet, data, "--workers", 1)
        timer = threading.Timer(chance.uniform(0, 2.5), server.process.kill)
        timer.start()
        try:
            while True:
                budget = 56_000_000 + len(accepted)
                answer = server.post({**QUICK, "ram_budget": budget})
                if answer.status in (200, 202):
                    accepted[budget] = answer.json()["id"]
                for name in accepted.values():
                    if name not in results and server.job(name)["state"] == "done":
                        results[name] = server.get(f"/api/v1/jobs/{name}/result").body
                time.sleep(0.1)
        except (OSError, ValueError, HTTPException):
            pass
        timer.join()
        assert server.process.wait(10) == -signal.SIGKILL
        server.process.stderr.close()
        until_nobody_works(data)
    seconds = time.monotonic() - began
    with serving(poet, data=data) as server:
        for budget, name in accepted.items():
            job = server.wait(name, seconds=90)
            if job["state"] == "failed":  # on a busy machine three kills may come while it is at work: it is done when ordered again
                assert job["error"]["error"] == "died" and job["attempts"] == 3, job
                assert server.submit({**QUICK, "ram_budget": budget}) == name
                job = server.wait(name, seconds=90)
            assert job["state"] == "done" and job["has_plan"], job
            body = server.get(f"/api/v1/jobs/{name}/result").body
            assert results.get(name, body) == body and json.loads(body)["status"] == "optimal", name
    assert len(accepted) >= kills, accepted
    print(f"killed {kills} times in {seconds:.0f} s: {len(accepted)} jobs done, {len(results)} results seen before")


with tempfile.TemporaryDirectory() as data:
    stopped(data)
with tempfile.TemporaryDirectory() as data:
    two_servers(data)
with tempfile.TemporaryDirectory() as data:
    killed(data)
