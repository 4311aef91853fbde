#!/usr/bin/env python3
"""poet serve with slow, silent and many clients: they are closed in time, and nobody waits for them.

usage: server_limits_test.py POET
"""
import os
import resource
import sys
import threading
import time

from server_support import LONG, QUICK, events, everything_said, serving

poet, = sys.argv[1:]


def slow_clients(server):
    """Closed about ten seconds after they began, while others are served at once."""
    ends, began = {}, time.monotonic()

    def send(name, first, then, pause):
        with server.connect(timeout=pause) as connection:
            connection.sendall(first)
            said, closed = b"", False
            while not closed and time.monotonic() - began < 30:
                try:
                    if then:
                        connection.sendall(then)
                    part = connection.recv(65536)
                    said, closed = said + part, not part
                except TimeoutError:
                    pass
                except OSError:
                    closed = True
            ends[name] = (time.monotonic() - began, said)

    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
    clients = {"silent": (b"", b""), "one byte": (b"G", b""), "trickling head": (b"GET / HTTP/1.1\r\n", b"X: y\r\n"),
               "no body": (head + b"Content-Length: 1000\r\n\r\n", b""), "trickling body": (head + b"Content-Length: 1000\r\n\r\n", b"x"),
               "waits to go on": (head + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", b"")}
    threads = [threading.Thread(target=send, args=(name, first, then, 0.5)) for name, (first, then) in clients.items()]
    for thread in threads:
        thread.start()
    with server.connect():  # its client has gone without a word to this one
        slowest = 0
        while any(thread.is_alive() for thread in threads):
            before = time.monotonic()
            assert server.get("/api/v1/status").status == 200
            slowest = max(slowest, time.monotonic() - before)
            time.sleep(0.1)
    assert slowest < 5, f"others waited {slowest} s"
    for name, (seconds, said) in ends.items():
        assert 8 < seconds < 20, (name, seconds)
        assert name == "silent" or b"HTTP/1.1 408 " in said, (name, said)
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
    print("slow clients: closed in time, and nobody waits for them")


def many_idle(server):
    connections = [server.connect() for _ in range(100)]
    request = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    before = time.monotonic()
    assert server.get("/api/v1/status").status == 200
    assert time.monotonic() - before < 5
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
    name = server.submit({**LONG, "ram_budget": "26KiB", "time_limit": 2})
    last = []
    threads = [threading.Thread(target=lambda: last.append(events(server, name)[-1]["state"])) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert last == ["done"] * 100, last
    print("100 streams: told the end")


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
            time.sleep(0.5)
            before, began = cpu_seconds(server), time.monotonic()
            time.sleep(1.5)
            used = (cpu_seconds(server) - before) / (time.monotonic() - began)
            first.sendall(b"GET /api/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert first.recv(65536).startswith(b"HTTP/1.1 200 ")
            for connection in connections:
                connection.close()
        assert server.wait(server.submit(QUICK))["state"] == "done"
        assert used < 0.5, f"it is busy {100 * used:.0f} % of the time with waiting"
    print("no descriptor left: waits")


def cpu_seconds(server):
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


with serving(poet) as server:
    slow_clients(server)
    many_idle(server)
    silent_streams(server)
few_descriptors()
