"""What tests of poet serve share: a server on a port of its own, and requests to it over real sockets."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

# Solved and proven in a tenth of a second; with another budget it is another job.
QUICK = {"model": "resnet18_cifar", "device": "a72", "ram_budget": 56_000_000}
# Never proven within its minute.
LONG = {"model": "linear", "device": "m0", "ram_budget": "24KiB", "time_limit": 60}
PATIENCE = 600  # seconds for what does happen: on a busy machine, too
ENDED = ("done", "failed", "cancelled")
MEASURED = {"solve_seconds", "seconds_to_incumbent", "method_seconds", "host_seconds", "way_out"}


class Answer:
    def __init__(self, response):
        self.status, self.fields, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return f"{self.status} {self.body[:500]}"


class Server:
    def __init__(self, poet, data, *options, listen="127.0.0.1:0", before=(), **how):
        self.data = data
        self.process = subprocess.Popen([*before, poet, "serve", "--listen", listen, "--data", data, *map(str, options)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how)
        said = self.process.stderr.readline()
        found = re.search(r"http://(127\.0\.0\.1|0\.0\.0\.0|\[::1\]|\[::\]):(\d+) ", said)
        assert found, said + self.process.stderr.read()
        self.host, self.port = "::1" if found[1] == "[::1]" else "127.0.0.1", int(found[2])
        self.fields = {}  # of every request

    def request(self, method, path, body=None, **fields):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in {**self.fields, **fields}.items()}
            connection.request(method, path, body, named)
            return Answer(connection.getresponse())

    def get(self, path, **fields):
        return self.request("GET", path, **fields)

    def post(self, request, **fields):
        text = request if isinstance(request, (str, bytes)) else json.dumps(request)
        return self.request("POST", "/api/v1/jobs", text, **{"Content_Type": "application/json", **fields})

    def upload(self, content, **fields):
        return self.request("POST", "/api/v1/uploads", content, **{"Content_Type": "application/octet-stream", **fields})

    def upload_file(self, file):
        with open(file, "rb") as stream:
            answer = self.upload(stream.read())
        assert answer.status == 201, answer
        return answer.json()["id"]

    def submit(self, request):
        answer = self.post(request)
        assert answer.status in (200, 202), answer
        return answer.json()["id"]

    def job(self, name):
        answer = self.get(f"/api/v1/jobs/{name}")
        assert answer.status == 200, answer
        return answer.json()

    def wait(self, name, wanted=ENDED):
        """The job, once it is in one of these states."""
        return until(lambda: (lambda job: job if job["state"] in wanted else None)(self.job(name)),
                     lambda: f"the job is {self.job(name)}")

    def result(self, request):
        """What becomes of a request that can be done, as bytes."""
        name = self.submit(request)
        job = self.wait(name)
        assert job["state"] == "done", job
        return self.get(f"/api/v1/jobs/{name}/result").body

    def connect(self):
        return socket.create_connection((self.host, self.port), PATIENCE)

    def stop(self, how=signal.SIGTERM):
        """Its exit code."""
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return code

    def leases_run_out(self):
        """What comes about ten seconds after a server has died: its jobs are another's to take on."""
        with contextlib.closing(sqlite3.connect(f"{self.data}/jobs.sqlite", PATIENCE)) as database, database:
            database.execute("UPDATE jobs SET lease = 0 WHERE state = 'running' AND owner LIKE ?", (f"{self.process.pid}-%",))


@contextlib.contextmanager
def serving(poet, *options, data=None, **how):
    """A server in a folder of its own, or in that one, stopped at the end."""
    with tempfile.TemporaryDirectory() as own:
        server = Server(poet, data or own, *options, **how)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                code = server.stop()
                assert code == 0, f"it has ended with {code}"
        assert server.process.returncode == 0, f"it has ended by itself with {server.process.returncode}"


def write_tokens(file, text):
    """For its owner alone: the server takes it from no other."""
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)


def until(said, otherwise="it did not happen"):
    """What is said, once that is something."""
    end = time.monotonic() + PATIENCE
    while not (answer := said()):
        assert time.monotonic() < end, otherwise() if callable(otherwise) else otherwise
        time.sleep(0.02)
    return answer


def events(server, name, opened=lambda: None):
    """The data of a job's events until the server ends them; `opened` is called once the server has begun to tell them."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", f"/api/v1/jobs/{name}/events", headers=server.fields)
        response = connection.getresponse()
        assert response.status == 200 and response.headers["Content-Type"] == "text/event-stream", response.headers
        opened()
        text = response.read().decode()
    seen = []
    for event in text.split("\n\n"):
        if event and not event.startswith(":"):
            found = re.fullmatch(r"event: job\nid: (\d+)\ndata: (.*)", event)
            assert found, event
            seen.append(json.loads(found[2]))
            assert seen[-1]["version"] == int(found[1])
    return seen


def unmeasured(json_value):
    """Without what the clock said or decided."""
    if isinstance(json_value, dict):
        return {name: unmeasured(value) for name, value in json_value.items() if name not in MEASURED}
    return [unmeasured(each) for each in json_value] if isinstance(json_value, list) else json_value


def processes_of(data):
    """Processes that work in a folder, by their command lines, the server aside."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
            if any(data.encode() in word for word in words) and b"serve" not in words:
                found.append((int(pid), b" ".join(words)))
    return found


def until_nobody_works(data):
    """What a killed process had started is killed with it, but waited for by nobody: its memory is given back a moment later."""
    until(lambda: not processes_of(data), lambda: f"left behind: {processes_of(data)}")


@contextlib.contextmanager
def frozen(data):
    """Who works in a folder, once somebody does, comes to no end meanwhile."""
    pids = [pid for pid, _ in until(lambda: processes_of(data))]

    def send(how):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)

    send(signal.SIGSTOP)
    try:
        yield
    finally:
        send(signal.SIGCONT)


def everything_said(connection):
    """Until the other side closes."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            said += part
    return said
