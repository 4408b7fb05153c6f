#!/usr/bin/env python3
"""A whole runner: claims deploy jobs, says that it lives, runs a command for each, reports.

    SLUICE_URL=http://127.0.0.1:7070 ./runner.py COMMAND [ARGUMENT…]     (RUNNER_JOBS=1: stops after one)
"""
import json, os, socket, subprocess, sys, threading, time, urllib.request

URL = os.environ.get("SLUICE_URL", "http://127.0.0.1:7070") + "/deploy/jobs"
RUNNER = os.environ.get("RUNNER_ID", f"{socket.gethostname()}-{os.getpid()}")
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("RUNNER_TOKEN", "")}
LEASE_SECONDS = 30

def call(path, **body):
    request = urllib.request.Request(URL + path, json.dumps({"runnerId": RUNNER, **body}).encode(), HEADERS)
    while True:  # until there is an answer: to say the same twice does no harm
        try:
            answer = json.load(urllib.request.urlopen(request, timeout=90))
            break
        except OSError as problem:
            print(problem, file=sys.stderr)
            time.sleep(2)
    if answer["code"] != 200:
        raise RuntimeError(answer["message"])
    return answer["data"]

def keep_alive(job, process, done):
    while not done.wait(LEASE_SECONDS / 3):
        try:
            call(f"/{job['id']}/heartbeat", extendSeconds=LEASE_SECONDS, phase="DEPLOY", attempt=attempt_of(job))
        except RuntimeError:  # it was canceled, or another runner has it by now
            return process.terminate()

def attempt_of(job):  # fences this run against a later one under the same name
    return job["payload"]["attempt"]

def run(job):
    process = subprocess.Popen(sys.argv[1:], env={**os.environ, "JOB": json.dumps(job)}, stderr=subprocess.PIPE, text=True)
    done = threading.Event()
    threading.Thread(target=keep_alive, args=(job, process, done), daemon=True).start()
    errors = process.communicate()[1]
    done.set()
    status = "SUCCEEDED" if process.returncode == 0 else "FAILED"
    try:
        report = {"status": status, "errorMessage": errors or None, "attempt": attempt_of(job)}
        print(job["id"], call(f"/{job['id']}/report", **report)["status"], flush=True)
    except RuntimeError as refusal:  # it was canceled, or lost
        print(job["id"], refusal, file=sys.stderr)

jobs_left = int(os.environ.get("RUNNER_JOBS", "-1"))
while jobs_left != 0:
    if job := call("/claim", leaseSeconds=LEASE_SECONDS, waitSeconds=30):
        run(job)
        jobs_left -= 1
