#!/usr/bin/env python3
"""poet serve does jobs: their whole life, answers next to the program's own, downloads, the published reference's answer.

usage: server_jobs_test.py POET
"""
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile

from server_support import ENDED, LONG, QUICK, events, processes_of, serving, unmeasured, until, until_nobody_works

poet, = sys.argv[1:]
# Proven in a fifth of a second, with values that are paged.
PAGED = {"model": "linear", "device": "m4", "batch_size": 64, "persistent": "resident", "split": "off", "ram_budget": 500_000}
# Searched for a second, in many steps.
SEARCHED = {"model": "transformer", "device": "jetsontx2", "persistent": "resident", "split": "off", "ram_budget": 55_000_000, "gap": 0}
OPTIONS = ["--model", "linear", "--platform", "m4", "--persistent", "resident", "--split", "off"]
BUDGET = ["--batch-size", "64", "--ram-budget", "500000", "--beyond-device-ram"]


def program(*arguments, codes=(0, 1)):
    done = subprocess.run([poet, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in codes, f"{arguments}: {done.returncode} {done.stderr}"
    return done.stdout


def life_of_a_job(server):
    answer = server.post(PAGED)
    assert answer.status == 202 and answer.fields["Location"] == "/api/v1/jobs/" + answer.json()["id"], answer
    name = answer.json()["id"]
    seen = events(server, name)
    versions = [event["version"] for event in seen]
    assert versions == sorted(versions) and seen[-1]["state"] == "done", seen
    assert all(event["state"] not in ENDED for event in seen[:-1]), seen
    last = seen[-1]
    assert last["submitted"] <= last["started"] <= last["finished"] and last["attempts"] == 1 and last["has_plan"], last
    again = server.post(json.dumps({**PAGED, "ram_budget": "500KB"}))
    assert again.status == 200 and again.json()["id"] == name, again
    assert events(server, name) == [server_event(again.json())], "of a job that has ended, how it is"
    listed = server.get("/api/v1/jobs?state=done&limit=1").json()
    assert [job["id"] for job in listed["jobs"]] == [name] and listed["queued"] == listed["running"] == 0, listed

    # Progress comes while it works.
    progress = [event["progress"] for event in events(server, server.submit(SEARCHED)) if event["progress"]]
    assert progress and all("nodes" in each or len(each) > 1 for each in progress), progress
    print("jobs: submitted once, followed to the end")


def server_event(job):
    return {name: value for name, value in job.items() if name != "request"}


def same_as_the_program(server, folder):
    plan, onnx = f"{folder}/a.plan", f"{folder}/a.onnx"
    # Files have ids there, and no folders.
    same = lambda request, *words: compare_answers(server, request, program(*words, "--json").replace(folder + "/", ""))
    same(PAGED, "solve", *OPTIONS, *BUDGET, "--quiet", "--plan-out", plan)
    same({**PAGED, "runtime_budget": 1.2}, "solve", *OPTIONS, *BUDGET, "--runtime-budget", "1.2", "--quiet")
    same({**PAGED, "batch_size": 1, "ram_budget": 1000}, "solve", *OPTIONS, "--batch-size", "1", "--ram-budget", "1000", "--quiet")
    same({**PAGED, "kind": "explain"}, "explain", *OPTIONS, *BUDGET, "--quiet", "--all")
    methods = ["checkpoint-all", "chen-sqrt", "poet"]
    same({**PAGED, "kind": "compare", "methods": methods}, "compare", *OPTIONS, *BUDGET, "--quiet", "--methods", ",".join(methods))
    same({"kind": "verify", "plan": server.upload_file(plan)}, "verify", plan)

    program("run", plan, "--kernels", "reference", "--steps", "1", "--samples", "64", "--quiet", "--onnx-out", onnx)
    upload = server.upload_file(onnx)
    onnx = shutil.copy(onnx, f"{folder}/{upload}")
    same({"kind": "import", "onnx": upload}, "import", onnx)
    same({**QUICK, "model": None, "onnx": upload}, "solve", "--onnx", onnx, "--platform", "a72", "--ram-budget", "56000000", "--quiet")

    spec = {"format": 1, "networks": ["linear"], "platforms": ["m4"], "ram": ["400KB", "300KB"], "methods": ["checkpoint-all", "poet"],
            "time_limit": 5}
    with open(f"{folder}/spec.json", "w") as file:
        json.dump(spec, file)
    own = json.loads(program("sweep", f"{folder}/spec.json", "--jobs", "1", "--quiet", "--json", "--store", f"{folder}/points.sqlite"))
    theirs = json.loads(server.result({**spec, "kind": "sweep"}))
    assert rows_of(theirs) == rows_of(own) and len(rows_of(own)) == 4, (theirs, own)
    print("answers: those of the program")


def compare_answers(server, request, own):
    body = server.result(request).decode()
    assert server.data not in body, f"tells where its files are: {body}"
    theirs, ours = unmeasured(json.loads(body)), unmeasured(json.loads(own))
    for answer in (theirs, ours):  # how little was found to do depends on how far a search came
        for least in ("least_ram_bytes", "least_deadline_seconds"):
            (answer.get("explanation") or {}).pop(least, None)
    different = {name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name)}
    assert not different, {name: (theirs.get(name), ours.get(name)) for name in different}


def rows_of(sweep):
    return unmeasured(sweep["results"])


def downloads(server, folder):
    name = server.submit(PAGED)
    server.wait(name)
    get = lambda file: server.get(f"/api/v1/jobs/{name}/{file}")
    plan = get("plan")
    assert plan.status == 200 and "attachment" in plan.fields["Content-Disposition"], plan
    with open(f"{folder}/there.plan", "wb") as file:
        file.write(plan.body)
    assert json.loads(program("verify", f"{folder}/there.plan", "--json", codes=[0]))["valid"]
    assert get("plan.json").json()["format"] and get("picture.json").json(), "JSON"
    page = get("page.html")
    assert page.status == 200 and b"<html" in page.body and page.fields["Content-Type"].startswith("text/html"), page
    figure = get("figure.svg")
    if shutil.which("gnuplot"):
        assert figure.status == 200 and b"<svg" in figure.body, figure
        assert get("figure.png").body.startswith(b"\x89PNG") and get("figure.pdf").body.startswith(b"%PDF")
    else:
        assert figure.status == 422 and "gnuplot" in figure.json()["message"], figure
    assert get("schedule.json").status == 404 and get("none.html").status == 404
    assert get("firmware.tar.gz?board=--help").status in (400, 422) and get("firmware.tar.gz?board=../x").status == 400

    small = server.submit({**LONG, "time_limit": 0.5, "schedule": False})
    server.wait(small)
    firmware = server.get(f"/api/v1/jobs/{small}/firmware.tar.gz")
    assert firmware.status == 200, firmware
    names = tarfile.open(fileobj=io.BytesIO(firmware.body)).getnames()
    assert {"firmware/plan.c", "firmware/Makefile", "firmware/card.img"} <= set(names), names
    assert all(each == "firmware" or each.startswith("firmware/") for each in names), names
    assert server.get(f"/api/v1/jobs/{small}/firmware.tar.gz?board=nrf52840").status in (200, 422)
    print("downloads: verified, drawn, compiled")


def cancelled(server):
    request = {**LONG, "ram_budget": "25KiB"}
    name = server.submit(request)
    server.wait(name, ["running"])
    until(lambda: processes_of(server.data))
    assert server.request("DELETE", f"/api/v1/jobs/{name}").status == 200
    assert server.wait(name)["state"] == "cancelled"
    until_nobody_works(server.data)
    assert server.request("DELETE", f"/api/v1/jobs/{name}").json()["state"] == "cancelled"
    assert server.get(f"/api/v1/jobs/{name}/result").status == 409
    assert server.post(request).json()["state"] in ("queued", "running"), "it can be ordered again"
    assert server.request("DELETE", f"/api/v1/jobs/{name}").status == 200
    server.wait(name)
    print("cancel: the process is gone")


def out_of_memory_or_wrong(server):
    rubbish = server.upload(b"no network").json()["id"]
    job = server.wait(server.submit({"kind": "import", "onnx": rubbish}))
    assert job["state"] == "failed" and job["error"]["error"] == "invalid", job
    assert server.data not in json.dumps(job), job
    answer = server.get(f"/api/v1/jobs/{job['id']}/result")
    assert answer.status == 422 and answer.json() == job["error"], answer
    with open(poet, "rb") as file:
        is_sanitized = b"__asan_init" in file.read()  # then memory has no limit
    with serving(poet, "--memory-limit", "30MB") as small:
        job = small.wait(small.submit(PAGED))
        assert is_sanitized or job["state"] == "failed", job
        assert small.get("/api/v1/status").status == 200
    print("failures: one job each")


def published(server):
    query = "model=resnet18_cifar&platform=a72&ram_budget=1000000&runtime_budget=7.6&time_limit_s=20"
    answer = server.get("/solve?" + query)
    assert answer.status == 200, answer
    theirs = answer.json()
    assert theirs["feasible"] and theirs["solution"]["finished"], theirs
    assert server.get("/solve?" + query).body == answer.body, "the same job"
    nothing = server.get("/solve?" + query.replace("1000000", "1000")).json()
    assert not nothing["feasible"] and nothing["solution"]["R"] is None and nothing["total_runtime"] is None, nothing
    wrong = server.get("/solve?model=nonet&platform=a72&ram_budget=1&runtime_budget=2")
    assert wrong.status == 422 and wrong.json()["detail"], wrong
    try:
        from poet import solve
    except ImportError:
        return print("published: answered; the Python package is not there to compare with")
    ours = solve(model="resnet18_cifar", platform="a72", ram_budget=1000000, runtime_budget=7.6, time_limit_s=20)
    for name in ("ram_budget", "paging", "remat", "feasible"):
        assert theirs[name] == getattr(ours, name), name
    for name in ("runtime_budget_ms", "total_power_cost_page", "total_power_cost_cpu", "total_runtime"):
        assert abs(theirs[name] - getattr(ours, name)) <= 1e-9 * abs(theirs[name]), (name, theirs[name], getattr(ours, name))
    for name in ("R", "SRam", "SSd", "Min", "Mout", "FreeE", "U"):
        assert getattr(ours.solution, name).tolist() == theirs["solution"][name], name
    print("published: figures and matrices as in Python")


with tempfile.TemporaryDirectory() as folder, serving(poet, "--workers", 2) as server:
    life_of_a_job(server)
    same_as_the_program(server, folder)
    downloads(server, folder)
    cancelled(server)
    out_of_memory_or_wrong(server)
    published(server)
