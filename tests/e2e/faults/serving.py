"""A server that a fault is put into, and a client of it: whatever fails, the server goes on until it is told to stop, a request
is answered or its connection closed, and what was taken on is there for the next server in the same folder."""
import http.client
import json
import os
import re
import signal
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))
from server_support import ENDED, unmeasured

JOB = {"model": "linear", "device": "a72", "ram_budget": "300KB"}
SECONDS = 20  # for a job that a fault may have hit
PATIENCE = 600  # for one that none has hit, which gets done however busy the machine is


def asked(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def solved(port, seconds):
    """What becomes of JOB, without what was measured; None where the server did not do it in time."""
    status, body = asked(port, "POST", "/api/v1/jobs", json.dumps(JOB))
    if status not in (200, 202):
        return None
    path = f"/api/v1/jobs/{json.loads(body)['id']}"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status, body = asked(port, "GET", path)
        if status != 200:
            return None
        state = json.loads(body)["state"]
        if state in ENDED:
            status, body = asked(port, "GET", f"{path}/result") if state == "done" else (0, b"")
            return unmeasured(json.loads(body)) if status == 200 else None
        time.sleep(0.02)
    return None


def talk(process, seconds=PATIENCE):
    """One job of a server, which is then told to stop: what it said, whether it listened, what became of the job."""
    said = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+) ", said)
    result = None
    if found:
        try:
            result = solved(int(found[1]), seconds)
        except (OSError, http.client.HTTPException):
            pass  # it has closed the connection
        process.send_signal(signal.SIGTERM)
    _, more = process.communicate(timeout=PATIENCE)
    return said + more, bool(found), result


def judge(code, said, listened, result, wanted, harmless):
    """What is wrong with a server that was given a fault, if anything."""
    if listened and code != 0:
        return f"it ended with {code}: {said[-300:]!r}"
    if not listened and (code not in (2, 3) or len(said.splitlines()) != 1):
        return f"exit code {code}, and it did not listen: {said[-300:]!r}"
    if harmless and result != wanted:
        return f"another result: {said[-300:]!r}"
    if result is not None and result != wanted:
        return f"another result: {str(result)[:300]}"
    return None
