#!/usr/bin/env python3
"""poet serve on a disk that is full: it says so, answers what it knows, and goes on when there is room. Exit code 77: no disk for that here.

usage: server_disk_test.py POET
"""
import contextlib
import os
import subprocess
import sys
import tempfile

from server_support import LONG, QUICK, Server, frozen, processes_of, until

poet, = sys.argv[1:]
# A disk of its own, which nobody else sees.
ON_SMALL_DISK = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=4m none "$0" && exec "$@"']


def has_small_disks(folder):
    try:
        return subprocess.run([*ON_SMALL_DISK, folder, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Disk:
    """The server's, as others see it."""

    def __init__(self, server):
        self.file = f"/proc/{server.process.pid}/root{server.data}/filling"

    @contextlib.contextmanager
    def full(self):
        with open(self.file, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        try:
            yield
        finally:
            os.remove(self.file)


def refused(answer):
    assert answer.status == 503 and answer.fields["Retry-After"] and answer.json()["error"] == "storage", answer
    assert b"/" not in answer.body, f"tells where its files are: {answer}"


def nothing_more_is_taken(server, disk):
    name = server.submit(QUICK)
    assert server.wait(name)["state"] == "done"
    result = server.get(f"/api/v1/jobs/{name}/result").body
    with disk.full():
        for budget in range(57_000_000, 57_000_005):
            refused(server.post({**QUICK, "ram_budget": budget}))
        for size in (3000, 300_000):
            refused(server.upload(os.urandom(size)))
        refused(server.get("/solve?model=linear&platform=m0&ram_budget=9000&runtime_budget=1.3"))
        # What is known is told.
        assert server.post(QUICK).status == 200
        assert server.get(f"/api/v1/jobs/{name}/result").body == result
        assert server.get("/api/v1/status").json()["upload_bytes"] == 0, "half an upload is there"
        assert server.get("/api/v1/jobs").json()["jobs"][0]["id"] == name
        assert server.get("/").status == 200
    assert server.upload(b"x" * 300_000).status == 201
    assert server.wait(server.submit({**QUICK, "ram_budget": 57_000_000}))["state"] == "done"
    print("full disk: refused as the server's own trouble, and over when there is room")


def a_job_goes_on(server, disk):
    """Full while a job runs: the server is not sure of it any more, and it is done again."""
    name = server.submit({**LONG, "time_limit": 1})
    with contextlib.ExitStack() as stack:
        with frozen(server.data):
            first = processes_of(server.data)
            stack.enter_context(disk.full())
        until(lambda: not set(first) & set(processes_of(server.data)))
        for _ in range(100):  # while the server finds that it cannot keep the answer
            assert server.job(name)["state"] in ("running", "queued"), server.job(name)
    job = server.wait(name)
    assert job["state"] == "done" and job["has_plan"], job
    print("full disk: a job that was running is done afterwards")


def started_on_a_full_disk():
    with tempfile.TemporaryDirectory() as folder:
        fill = 'mount -t tmpfs -o size=64k none "$0" && (head -c 1000000 /dev/zero >"$0/filling" 2>/dev/null; exec "$@")'
        done = subprocess.run([*ON_SMALL_DISK[:-1], fill, folder, poet, "serve", "--listen", "127.0.0.1:0", "--data", folder],
                              capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    print("full disk: not started on, in one line")


with tempfile.TemporaryDirectory() as folder:
    if not has_small_disks(folder):
        print("SKIPPED: no mount of one's own (unshare)")
        sys.exit(77)
    server = Server(poet, folder, "--workers", "1", before=[*ON_SMALL_DISK, folder])
    try:
        nothing_more_is_taken(server, Disk(server))
        a_job_goes_on(server, Disk(server))
    finally:
        code = server.stop()
    assert code == 0, f"it has ended with {code}"
started_on_a_full_disk()
