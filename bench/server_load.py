#!/usr/bin/env python3
"""Many clients at once on `poet serve`: how long they wait, who is refused, what the server needs.

usage: server_load.py POET [--clients N] [--minutes M] [--new PART] [--greedy N] [--think SECONDS] [--json FILE]
       server_load.py --url URL --token-file FILE [--pid PID] ...

Starts the server with a token for each client on a folder of its own, or takes one that runs. Each client submits a job,
follows its events and looks at its status until it has ended, reads its result, thinks, and begins again. Most jobs are
the same few, which the store answers; the part --new is new ones, which have to be solved. --greedy clients more submit
new jobs without waiting for any, until they are told to. Prints a table; exit 1 when a request had another end than it
should have (429 and 503 with Retry-After are promised), when a client's jobs never ended, or when the first byte of a
status took more than 100 ms in more than 1% of cases.
"""
import argparse
import asyncio
import collections
import json
import os
import pathlib
import random
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
import time

MOST_SECONDS_OF_STATUS = 0.1  # 99 of 100 first bytes
LOOK_SECONDS = 2  # between a client's looks at the status of a job that it follows
SAMPLE_SECONDS = 1  # between looks at the server's memory and queue
TICK_SECONDS = 0.05  # between looks at how late this program itself is
KEEP_SECONDS = 30  # a connection is not kept open over longer pauses
PROMISED = (429, 503)

clock = time.monotonic


def linear(ram):
    return {"model": "linear", "device": "m0", "ram_budget": ram, "time_limit": 0.3}


def resnet(ram):
    return {"model": "resnet18_cifar", "device": "a72", "ram_budget": ram, "time_limit": 0.3}


SAME_JOBS = [linear(8000), linear(12000), linear(16000), resnet(20_000_000), resnet(30_000_000)]


class Response:
    def __init__(self, head):
        self.status = int(head[9:12])
        self.fields = {}
        for line in head.split(b"\r\n")[1:]:
            name, _, text = line.partition(b":")
            self.fields[name.lower()] = text.strip()
        self.body = b""
        self.seconds = 0.0  # to the first byte


class Connection(asyncio.Protocol):
    """HTTP/1.1, one request at a time. Where the server gives no length, the response ends with the connection."""

    def __init__(self):
        self.transport = None
        self.received = bytearray()
        self.response = self.length = self.ended = None
        self.asked = self.answered = 0.0

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if not self.received and self.response is None:
            self.answered = clock()
        self.received += data
        if self.response is None:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return
            self.response = Response(bytes(self.received[:end]))
            self.response.seconds = self.answered - self.asked
            length = self.response.fields.get(b"content-length")
            self.length = None if length is None else int(length)
            del self.received[:end + 4]
        if self.length is not None and len(self.received) >= self.length:
            self.finish()

    def finish(self):
        response, self.response = self.response, None
        response.body = bytes(self.received)
        self.received.clear()
        if response.fields.get(b"connection", b"").lower() == b"close":
            self.transport.close()
        if self.ended and not self.ended.done():
            self.ended.set_result(response)

    def connection_lost(self, error):
        if self.response is not None and self.length is None:
            self.finish()
        elif self.ended and not self.ended.done():
            self.ended.set_exception(error or ConnectionError("the server closed the connection without a response"))

    def send(self, request):
        self.ended = asyncio.get_running_loop().create_future()
        self.asked = clock()
        self.transport.write(request)
        return self.ended


class Server:
    """The program under test, and what it is seen to need."""

    def __init__(self, url, pid=None):
        self.host, _, port = url.removeprefix("http://").rstrip("/").rpartition(":")
        self.host = self.host.strip("[]")
        self.port = int(port)
        self.pid = pid

    def memory(self):
        """Resident bytes."""
        if self.pid is None:
            return None
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
        return None

    def processor_seconds(self):
        if self.pid is None:
            return None
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Figures:
    def __init__(self):
        self.seconds = collections.defaultdict(list)  # to the first byte, by request
        self.codes = collections.Counter()  # (request, status)
        self.errors = collections.Counter()  # texts
        self.waits = collections.defaultdict(list)  # for jobs that were new: from submission to end
        self.finished = collections.Counter()  # jobs by client
        self.samples = []  # of memory and queue
        self.lags = []  # of this program
        self.processor_seconds = None  # of the server


class Client:
    def __init__(self, server, token, name, figures, options, jobs):
        self.server = server
        self.token = token
        self.name = name
        self.figures = figures
        self.options = options
        self.jobs = jobs
        self.random = random.Random(name)
        self.connection = None

    async def connect(self):
        _, connection = await asyncio.get_running_loop().create_connection(Connection, self.server.host, self.server.port)
        return connection

    def request(self, method, path, body):
        head = (f"{method} {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}\r\n"
                f"Authorization: Bearer {self.token}\r\n")
        if body is None:
            return (head + "\r\n").encode()
        text = json.dumps(body)
        return (head + f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}").encode()

    async def ask(self, what, method, path, body=None, expected=(200,)):
        if self.connection is None or self.connection.transport.is_closing():
            self.connection = await self.connect()
        response = await self.connection.send(self.request(method, path, body))
        return self.counted(what, response, expected)

    def counted(self, what, response, expected):
        figures = self.figures
        figures.seconds[what].append(response.seconds)
        figures.codes[what, response.status] += 1
        if response.status in PROMISED and b"retry-after" not in response.fields:
            figures.errors[f"{what}: {response.status} without Retry-After"] += 1
        elif response.status not in expected and response.status not in PROMISED:
            figures.errors[f"{what}: {response.status} {response.body[:200].decode(errors='replace')}"] += 1
        return response

    async def pause(self, seconds):
        if seconds > KEEP_SECONDS and self.connection is not None:
            self.connection.transport.close()
        await asyncio.sleep(seconds)

    async def submit(self, job):
        """The job as the server has it; nothing: it was refused, and the client has waited as long as it was told."""
        response = await self.ask("submit", "POST", "/api/v1/jobs", job, expected=(200, 202))
        if response.status in (200, 202):
            return json.loads(response.body)
        await self.pause(float(response.fields.get(b"retry-after", 1)) + self.random.random())
        return None

    async def follow(self, job):
        """Its events to the end, and its status meanwhile; whether it has ended."""
        path = "/api/v1/jobs/" + job["id"]
        stream = await self.connect()
        events = stream.send(self.request("GET", path + "/events", None))
        try:
            while True:
                await self.ask("status", "GET", path)
                done, _ = await asyncio.wait([events], timeout=LOOK_SECONDS)
                if done:
                    break
            response = self.counted("events", events.result(), (200,))
        finally:
            events.cancel()
            stream.transport.close()
        if response.status in PROMISED:
            return False
        last = response.body.rstrip().rpartition(b"\ndata: ")[2]
        if response.status == 200 and json.loads(last)["state"] != "done":
            self.figures.errors["events: the last one is of a job that is not done: " + last[:200].decode()] += 1
        return response.status == 200

    async def one_job(self):
        is_new = self.random.random() < self.options.new
        job = await self.submit(self.jobs() if is_new else self.random.choice(SAME_JOBS))
        if job is None:
            return
        begun = clock()
        if not await self.follow(job):
            return
        if is_new:
            self.figures.waits["new jobs"].append(clock() - begun)
        result = await self.ask("result", "GET", f"/api/v1/jobs/{job['id']}/result")
        if result.status == 200 and "energy_joules" not in json.loads(result.body):
            self.figures.errors["result: without energy_joules"] += 1
        self.figures.finished[self.name] += 1

    async def guarded(self, action):
        try:
            await action()
        except (OSError, ConnectionError) as error:
            self.figures.errors[f"connection: {type(error).__name__}: {error}"] += 1
            self.connection = None
            await asyncio.sleep(1)

    async def work(self):
        await asyncio.sleep(self.random.random() * self.options.think)
        while True:
            await self.guarded(self.one_job)
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.options.think)

    async def flood(self):
        while True:
            await self.guarded(lambda: self.submit(self.jobs()))

    async def watch(self):
        """Memory and queue over time."""
        begun = clock()
        while True:
            async def sample():
                status = json.loads((await self.ask("server", "GET", "/api/v1/status")).body)
                self.figures.samples.append({"seconds": round(clock() - begun, 1), "resident_bytes": self.server.memory(),
                                             "queued": status["queued"], "running": status["running"]})
            await self.guarded(sample)
            await asyncio.sleep(SAMPLE_SECONDS)


def new_jobs():
    """Gives jobs that nobody has asked for, of two networks in turn."""
    count = secrets.randbelow(1000)  # another server's store may have those of an earlier run

    def give():
        nonlocal count
        count += 1
        return resnet(10_000_000 + 1024 * count) if count % 2 else linear(20_000 + count)
    return give


async def measure_lag(figures):
    while True:
        before = clock()
        await asyncio.sleep(TICK_SECONDS)
        figures.lags.append(clock() - before - TICK_SECONDS)


async def run(server, tokens, options):
    figures = Figures()
    jobs = new_jobs()
    clients = [Client(server, tokens[i % len(tokens)], f"client{i}", figures, options, jobs)
               for i in range(options.clients)]
    greedy = [Client(server, tokens[-1 - i], f"greedy{i}", figures, options, jobs) for i in range(options.greedy)]
    watcher = Client(server, tokens[0], "watcher", figures, options, jobs)
    before = server.processor_seconds()
    tasks = [asyncio.create_task(work) for work in
             [*(client.work() for client in clients), *(client.flood() for client in greedy), watcher.watch(),
              measure_lag(figures)]]
    done, _ = await asyncio.wait(tasks, timeout=60 * options.minutes, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        task.cancel()
    for task in done:
        task.result()  # a mistake of this program's
    await asyncio.gather(*tasks, return_exceptions=True)
    if before is not None:
        figures.processor_seconds = server.processor_seconds() - before
    for client in clients:
        figures.finished[client.name] += 0
    return figures


def part(sorted_numbers, share):
    return sorted_numbers[min(int(share * len(sorted_numbers)), len(sorted_numbers) - 1)] if sorted_numbers else None


def spread(numbers):
    numbers = sorted(numbers)
    return {"count": len(numbers), "p50": part(numbers, 0.5), "p99": part(numbers, 0.99), "max": part(numbers, 1)}


def summary(figures, options):
    finished = sorted(figures.finished.values())
    memory = [sample["resident_bytes"] for sample in figures.samples if sample["resident_bytes"]]
    queued = [sample["queued"] for sample in figures.samples]
    return {
        "format": 1, "clients": options.clients, "greedy": options.greedy, "minutes": options.minutes,
        "new": options.new, "think_seconds": options.think,
        "first_byte_seconds": {what: spread(seconds) for what, seconds in sorted(figures.seconds.items())},
        "generator_lag_seconds": spread(figures.lags),
        "responses": {f"{what} {status}": count for (what, status), count in sorted(figures.codes.items())},
        "errors": dict(figures.errors),
        "wait_seconds": {what: spread(seconds) for what, seconds in figures.waits.items()},
        "finished": {"all": sum(finished), "min": finished[0], "median": part(finished, 0.5), "max": finished[-1]},
        "resident_bytes": {"first": memory[0], "half": memory[len(memory) // 2], "last": memory[-1], "max": max(memory)}
        if memory else None,
        "processor_seconds": figures.processor_seconds,
        "queued": {"median": part(sorted(queued), 0.5), "max": max(queued, default=None)},
        "samples": figures.samples,
    }


def milliseconds(spread_of, key):
    return "" if spread_of[key] is None else f"{1e3 * spread_of[key]:.1f}"


def report(what):
    lines = ["| to the first byte | requests | p50 ms | p99 ms | max ms |", "|---|---|---|---|---|"]
    for name, each in [*what["first_byte_seconds"].items(), ("(this program's own lag)", what["generator_lag_seconds"])]:
        lines.append(f"| {name} | {each['count']:,} | " +
                     " | ".join(milliseconds(each, key) for key in ("p50", "p99", "max")) + " |")
    lines += ["", "| | |", "|---|---|",
              "| responses | " + ", ".join(f"{name}: {count:,}" for name, count in what["responses"].items()) + " |"]
    finished = what["finished"]
    lines.append(f"| jobs finished | {finished['all']:,}; by a client {finished['min']} to {finished['max']}, median "
                 f"{finished['median']} |")
    for name, each in what["wait_seconds"].items():
        lines.append(f"| {name} | {each['count']:,}; from submission to end p50 {each['p50']:.1f} s, p99 "
                     f"{each['p99']:.1f} s, max {each['max']:.1f} s |")
    lines.append(f"| queued | median {what['queued']['median']}, at most {what['queued']['max']} |")
    if what["resident_bytes"]:
        lines.append("| resident | " + ", ".join(f"{name} {count / 1e6:.1f} MB" for name, count in
                                                 what["resident_bytes"].items()) + " |")
    if what["processor_seconds"] is not None:
        lines.append(f"| processor time of the server | {what['processor_seconds']:.1f} s, jobs aside |")
    for text, count in what["errors"].items():
        lines.append(f"| ERROR | {count} times {text} |")
    return "\n".join(lines)


def faults(what):
    status = what["first_byte_seconds"].get("status", {"p99": None})["p99"]
    if what["errors"]:
        yield "there were errors"
    if status is None or status > MOST_SECONDS_OF_STATUS:
        yield f"the first byte of a status took more than {1e3 * MOST_SECONDS_OF_STATUS:.0f} ms"
    if what["finished"]["min"] == 0:
        yield "a client's jobs never ended"


def started(options, folder):
    """A server of its own, and its clients' tokens."""
    tokens = [secrets.token_hex(16) for _ in range(options.clients + options.greedy)]
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"client{i} {token}\n" for i, token in enumerate(tokens)), encoding="utf-8")
    process = subprocess.Popen([options.poet, "serve", "--listen", options.listen, "--data", folder / "data",
                                "--token-file", file], stderr=subprocess.PIPE, text=True)
    said = process.stderr.readline()
    if "serving at " not in said:
        raise SystemExit(f"the server did not start: {said}")
    return process, Server(said.split("serving at ")[1].split()[0], process.pid), tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet", nargs="?", help="the program")
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--new", type=float, default=0.01, help="the part of jobs that are new (default 0.01)")
    parser.add_argument("--greedy", type=int, default=1, help="clients that submit without waiting (default 1)")
    parser.add_argument("--think", type=float, default=4, help="seconds between two jobs of a client (default 4)")
    parser.add_argument("--listen", default="127.0.0.1:0", help="where the server is started")
    parser.add_argument("--url", help="a server that runs, with --token-file")
    parser.add_argument("--token-file", help="of a server that runs")
    parser.add_argument("--pid", type=int, help="of a server that runs, whose memory is looked at")
    parser.add_argument("--json", help="everything, and memory and queue over time, into this file")
    options = parser.parse_args()
    if bool(options.poet) == bool(options.url) or bool(options.url) != bool(options.token_file):
        parser.error("give POET, or --url and --token-file")
    process = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            if options.url:
                lines = [line.split() for line in pathlib.Path(options.token_file).read_text().splitlines()]
                tokens = [line[1] for line in lines if line and not line[0].startswith("#")]
                server = Server(options.url, options.pid)
            else:  # before this program's own limit is raised, which the server would inherit
                process, server, tokens = started(options, pathlib.Path(folder))
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            what = summary(asyncio.run(run(server, tokens, options)), options)
        finally:
            if process:
                process.send_signal(signal.SIGTERM)
                code = process.wait()
        if process and code != 0:
            what["errors"][f"the server ended with {code}"] = 1
    print(report(what))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")
    wrong = list(faults(what))
    for each in wrong:
        print(each, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
