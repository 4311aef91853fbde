#!/usr/bin/env python3
"""poet serve with slow, silent and many clients: they are closed in time, and nobody waits for them.

usage: server_limits_test.py POET
"""
import contextlib
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

from server_support import LONG, PATIENCE, QUICK, events, everything_said, serving, until

poet, = sys.argv[1:]


@contextlib.contextmanager
def slow_clients(server):
    """Closed ten seconds after they began; others are served meanwhile."""
    ends, began = {}, time.monotonic()

    def send(name, first, then):
        with server.connect() as connection:
            connection.sendall(first)
            connection.settimeout(0.5)
            said, closed = b"", False
            while not closed and time.monotonic() - began < PATIENCE:
                try:
                    if then:
                        connection.sendall(then)
                    part = connection.recv(65536)
                    said, closed = said + part, not part
                except TimeoutError:
                    pass
                except OSError:
                    closed = True
            ends[name] = (time.monotonic() - began, closed, said)

    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
    clients = {"silent": (b"", b""), "one byte": (b"G", b""), "trickling head": (b"GET / HTTP/1.1\r\n", b"X: y\r\n"),
               "no body": (head + b"Content-Length: 1000\r\n\r\n", b""), "trickling body": (head + b"Content-Length: 1000\r\n\r\n", b"x"),
               "waits to go on": (head + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", b"")}
    threads = [threading.Thread(target=send, args=(name, first, then)) for name, (first, then) in clients.items()]
    with server.connect():  # its client has gone without a word to this one
        for thread in threads:
            thread.start()
        served_meanwhile = server.get("/api/v1/status").status == 200
        yield
        for thread in threads:
            thread.join()
    assert served_meanwhile, "others waited"
    assert ends.keys() == clients.keys(), ends
    for name, (seconds, closed, said) in ends.items():
        assert closed and seconds > 9.9, (name, seconds, closed)
        assert name == "silent" or b"HTTP/1.1 408 " in said, (name, said)
    print("slow clients: closed in time, and nobody waits for them")


def clients_that_go(server):
    # A client that has said all and closed its side is answered.
    with server.connect() as connection:
        connection.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.shutdown(1)
        assert everything_said(connection).startswith(b"HTTP/1.1 200 ")
    # One that goes away while it is being answered is nobody's trouble.
    name = server.submit({**LONG, "time_limit": 1})
    for _ in range(20):
        with server.connect() as connection:
            connection.sendall(f"GET /api/v1/jobs/{name}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            connection.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER of 0: reset
    assert server.wait(name)["state"] == "done"
    print("clients that go: nobody's trouble")


def many_idle(server):
    connections = [server.connect() for _ in range(100)]
    request = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert server.get("/api/v1/status").status == 200
    for connection in connections:
        connection.sendall(request)
    for connection in connections:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    for connection in connections:  # kept alive
        connection.sendall(request)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.close()
    print("100 idle connections: served")


def silent_streams(server):
    """A hundred watch one job; each is told its end."""
    name = server.submit({**LONG, "ram_budget": "26KiB", "time_limit": 1})
    last = []
    threads = [threading.Thread(target=lambda: last.append(events(server, name)[-1]["state"])) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert last == ["done"] * 100, last
    print("100 streams: told the end")


def tagged(number, content):
    """A field of a protobuf message: a number, or bytes."""
    def varint(value):
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def onnx_file(layers):
    """A matrix product and then ReLUs, so many."""
    def value(name):
        shape = b"".join(tagged(1, tagged(1, size)) for size in (1, 4))
        return tagged(1, name) + tagged(2, tagged(1, tagged(1, 1) + tagged(2, shape)))

    def node(kind, output, *inputs):
        return tagged(1, b"".join(tagged(1, each) for each in inputs) + tagged(2, output) + tagged(4, kind))

    weights = tagged(1, 4) + tagged(1, 4) + tagged(2, 1) + tagged(8, "w") + tagged(9, bytes(64))
    nodes = node("MatMul", "y0", "x", "w") + b"".join(node("Relu", f"y{i + 1}", f"y{i}") for i in range(layers))
    graph = nodes + tagged(2, "long") + tagged(5, weights) + tagged(11, value("x")) + tagged(12, value(f"y{layers}"))
    return tagged(1, 8) + tagged(7, graph) + tagged(8, tagged(1, "") + tagged(2, 13))


def instance_file(ops):
    node = {"backward": False, "ram_bytes": 4, "runtime_seconds": 1e-3, "compute_joules": 1e-3, "page_in_seconds": 1e-3,
            "page_out_seconds": 1e-3, "page_in_joules": 1e-3, "page_out_joules": 1e-3}
    return json.dumps({"format": 1, "name": "long", "model": "long", "platform": "m0", "batch_size": 1, "parameter_bytes": 0, "source": "a test",
                       "nodes": [{"name": f"n{i}", "deps": [i - 1] if i else [], **node} for i in range(ops)]}).encode()


def many_ops(server):
    """Told when the job is submitted, whatever its kind, and of networks in files of any kind."""
    few, onnx, instance = (server.upload(file).json()["id"] for file in (onnx_file(100), onnx_file(11_000), instance_file(20_001)))
    limits = {"device": "m4", "ram_budget": "1MB", "time_limit": 1, "allow_opaque": False}
    sweep = {"kind": "sweep", "platforms": ["m4"], "ram": [0.5], "methods": ["checkpoint-all"]}
    for request, field in (({"kind": "import", "onnx": onnx}, "/onnx"), ({**limits, "onnx": onnx}, "/onnx"),
                           ({**limits, "kind": "explain", "onnx": onnx}, "/onnx"), ({**limits, "kind": "compare", "onnx": onnx}, "/onnx"),
                           ({"instance": instance, "ram_budget": 100}, "/instance"),
                           ({**sweep, "networks": ["linear", {"onnx": onnx}]}, "/networks/1/onnx"),
                           ({**sweep, "networks": [{"onnx": few}, {"instance": instance}]}, "/networks/1/instance")):
        answer = server.post(request)
        said = answer.json()
        assert answer.status == 422 and said["error"] == "too_large" and said["field"] == field, (request, answer)
        assert " ops, more than 20,000" in said["message"], answer
    assert server.get("/api/v1/jobs?mine=true&state=queued").json()["jobs"] == []
    assert server.wait(server.submit({**limits, "onnx": few}))["state"] == "done"
    # What cannot be read is the job's to tell.
    rubbish = server.upload(b"no ONNX file").json()["id"]
    assert server.wait(server.submit({**limits, "onnx": rubbish}))["error"]["error"] == "invalid"
    print("too many ops: told at once")


def bombs(server):
    """A small file that unpacks to much, and an answer that takes more memory than there may be, are named as what they are."""
    packed = gzip.compress(b" " * 2**20) * 257
    assert len(packed) < 2**20
    job = server.wait(server.submit({"instance": server.upload(packed).json()["id"], "ram_budget": 100}))
    assert job["error"]["error"] == "invalid" and "unpacks to more than 256 MiB" in job["error"]["message"], job
    with serving(poet, "--memory-limit", "256MiB") as small:
        job = small.wait(small.submit({"instance": small.upload(gzip.compress(b" " * 2**20) * 200).json()["id"], "ram_budget": 100}))
        assert job["error"] == {"error": "died", "message": "it needs more memory than the 256 MiB that a job may have"}, job
    print("what unpacks to too much: named")


def commands_with_a_limit():
    """What the jobs' processes are told, of kinds whose networks may be anything."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/few.onnx", "wb") as file:
            file.write(onnx_file(10))
        with open(f"{folder}/spec.json", "w") as file:
            json.dump({"format": 1, "networks": [{"onnx": "few.onnx"}], "platforms": ["m4"], "ram": [1], "methods": ["checkpoint-all"]}, file)
        run = lambda *words: subprocess.run([poet, *words, "--json"], cwd=folder, capture_output=True, text=True)
        refused = run("import", "few.onnx", "--op-limit", "10")
        assert refused.returncode == 2 and "--op-limit: the training step has " in refused.stderr, refused
        assert json.loads(refused.stdout)["error"]["field"] == "--op-limit", refused
        assert run("import", "few.onnx", "--op-limit", "100").returncode == 0
        for most, verdict in (("10", "failed"), ("100", "holds")):
            row, = json.loads(run("sweep", "spec.json", "--store", f"{most}.sqlite", "--quiet", "--op-limit", most).stdout)["results"]
            assert row["verdict"] == verdict and (" ops, more than 10" in row["reason"]) == (verdict == "failed"), row
    print("--op-limit: import refuses, points of a sweep fail")


def few_descriptors():
    """Where no descriptor is left, it waits for one, without turning in circles. It takes as many as it may."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 1024))
    with serving(poet, preexec_fn=limit) as server:
        connections = [server.connect() for _ in range(100)]
        assert server.wait(server.submit(QUICK))["state"] == "done"
        for connection in connections:
            connection.close()
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with serving(poet, preexec_fn=limit) as server:
        with server.connect() as first:
            connections = [server.connect() for _ in range(100)]
            until(lambda: descriptors_of(server) == 64)
            until(lambda: all(sleeps(server) for _ in range(20)), "it is busy with waiting")
            first.sendall(b"GET /api/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert first.recv(65536).startswith(b"HTTP/1.1 200 ")
            for connection in connections:
                connection.close()
        assert server.wait(server.submit(QUICK))["state"] == "done"
    print("no descriptor left: waits")


def descriptors_of(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def sleeps(server):
    """Whether none of its threads has anything to do."""
    tasks = f"/proc/{server.process.pid}/task"
    try:
        return all(open(f"{tasks}/{task}/stat").read().rsplit(")", 1)[1].split()[0] == "S" for task in os.listdir(tasks))
    except FileNotFoundError:  # one has just ended
        return False


with serving(poet) as server:
    with slow_clients(server):
        clients_that_go(server)
        many_idle(server)
        silent_streams(server)
        many_ops(server)
        bombs(server)
        few_descriptors()
        commands_with_a_limit()

