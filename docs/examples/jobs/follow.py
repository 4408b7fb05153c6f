#!/usr/bin/env python3
"""Makes a job over /api/jobs, follows it as it runs, and prints what came of it.

    follow.py ACTION [INPUT]      INPUT is JSON; the engine is at SLUICE_URL

Ends with 0 when the job succeeded, 1 when it did not, and 2 when the engine refused it.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

ENGINE = os.environ.get("SLUICE_URL", "http://127.0.0.1:7070")


def create(action, job_input):
    """Asks for the job. With its key the request may be sent again without making a second job."""
    request = urllib.request.Request(
        ENGINE + "/api/jobs",
        data=json.dumps({"action": action, "input": job_input}).encode(),
        headers={"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def read_events(response):
    """Server-Sent Events from a response, each as a dictionary of its fields."""
    event = {}
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if "data" in event:
                yield event
            event = {}
        elif not line.startswith(":"):  # a comment keeps the connection alive
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")


def follow(job_id):
    """Yields the job's events up to its final status, however often the connection breaks."""
    headers = {"Accept": "text/event-stream"}
    while True:
        request = urllib.request.Request(f"{ENGINE}/api/jobs/{job_id}/stream", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                for event in read_events(response):
                    yield event
                    if event["event"] == "status":
                        return
                    headers["Last-Event-ID"] = event["id"]  # go on after it
        except urllib.error.HTTPError:
            raise  # the engine said no
        except OSError:
            pass  # it is gone, or silent
        time.sleep(1)


def main():
    action = sys.argv[1]
    job_input = json.loads(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        job = create(action, job_input)
        print(f"{job['id']} {job['state']}")
        for event in follow(job["id"]):
            data = json.loads(event["data"])
            if event["event"] == "log":
                print(f"  {data['level']:5} {data['message']}")
            else:
                print(f"{data['state']} {json.dumps(data['output'])}")
                return 0 if data["state"] == "success" else 1
    except urllib.error.HTTPError as refusal:
        print(f"the engine answered {refusal.code}: {refusal.read().decode()}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
