#!/usr/bin/env bash
# Deploys an app: a runtime node says that it lives, a job is created, the runner runs it, and the job
# has SUCCEEDED. SLUICE_URL names the engine.
set -euo pipefail
cd "$(dirname "$0")"
url=${SLUICE_URL:-http://127.0.0.1:7070}

post() { curl -sS -H 'Content-Type: application/json' -d "$2" "$url$1"; }
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)["data"][sys.argv[1]])' "$1"; }

post /internal/runtime-nodes/heartbeat \
    '{"nodeName":"node-1","agentBaseUrl":"http://node-1:7005","gatewayBaseUrl":"https://apps.example.com"}'
echo

job=$(post /deploy/jobs '{"type":"BUILD_AND_DEPLOY","payload":{
    "appId":"shop","repoUrl":"https://git.example.com/shop.git","commit":"c0ffee","env":"prod"}}' | field id)
echo "job $job is $(curl -sS "$url/deploy/jobs/$job" | field status)"

# The command reads its own variable.
# shellcheck disable=SC2016
RUNNER_JOBS=1 SLUICE_URL=$url python3 runner.py sh -c 'echo "deploys to $JOB" | cut -c1-100'

status=$(curl -sS "$url/deploy/jobs/$job" | field status)
echo "job $job is $status, at $(curl -sS "$url/deploy/jobs/$job" | field deployUrl)"
[[ $status == SUCCEEDED ]]
