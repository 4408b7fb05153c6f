#!/usr/bin/env bash
# Takes a changeset through submit, msuite, review, queue, release and deploy. Needs curl, python3 and
# an engine: see README.md.
set -euo pipefail
url=${SLUICE_URL:-http://127.0.0.1:7070}/api/apps

die() {
    echo "run.sh: $*" >&2
    exit 1
}

# call USER METHOD PATH [BODY]: sets `status` and `answer`.
call() {
    local user=$1 method=$2 path=$3 body=${4:-}
    local request=(-sS -X "$method" -H "X-Sluice-User: $user" -w '\n%{http_code}')
    [[ $body ]] && request+=(-H 'Content-Type: application/json' -d "$body")
    answer=$(curl "${request[@]}" "$url$path")
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
}

# The same for what must go well.
must() {
    call "$@"
    [[ $status == 20[012] ]] || die "$2 $3 answered $status: $answer"
}

# Prints a member of the answer's "data" (or, as error.message, of the answer).
field() {
    python3 -c '
import json, sys
value = json.loads(sys.argv[1])
if sys.argv[2].startswith("error."):
    value = value["error"][sys.argv[2][6:]]
else:
    value = value["data"][sys.argv[2]]
print(value)' "$answer" "$1"
}

# await_state PATH STATE: polls until something has this state.
await_state() {
    for _ in $(seq 200); do
        must ada GET "$1"
        [[ $(field state) == "$2" ]] && return
        sleep 0.1
    done
    die "$1 did not become $2: $answer"
}

step() { printf '\n== %s\n' "$*"; }

step "An app with an author (ada), a reviewer (rex) and a config manager (mia)"
must zoe POST "" '{"name":"shop"}'
app=/$(field id)
must zoe POST "$app/members" '{"user":"ada","role":"user"}'
must zoe POST "$app/members" '{"user":"rex","role":"reviewer"}'
must zoe POST "$app/members" '{"user":"mia","role":"config_manager"}'
echo "app ${app#/}"

step "ada makes a changeset and submits it; that enqueues msuite_submit"
must ada POST "$app/changesets" '{"title":"new prices","head_sha":"abc123","base_sha":"789012"}'
changeset=$app/changesets/$(field id)
must ada POST "$changeset/submit"
submitted=$answer
call rex POST "$changeset/review" '{"decision":"approve"}' # too early, see below
early=("$status" "$answer")
answer=$submitted
job=$app/jobs/$(field job_id)
echo "changeset $(field state), job $(field job_id)"

step "rex has reviewed too early: the gate was closed"
status=${early[0]} answer=${early[1]}
echo "$status $(field error.code): $(field error.message)"
[[ $status == 409 ]] || die "the gate was open"

step "The check runs; anyone of the app can poll it and read its log"
await_state "$job" succeeded
echo "job $(field state): $(field result)"
must ada GET "$job/logs"
python3 -c '
import json, sys
for line in json.loads(sys.argv[1])["data"]:
    print(line["timestamp"], line["level"], line["message"])' "$answer"

step "Now the gate is open: rex approves, mia queues"
must rex POST "$changeset/review" '{"decision":"approve","comment":"fine"}'
must mia POST "$changeset/queue"
echo "changeset $(field state)"

step "mia assembles a release of what is queued; its merge check opens the gate to publish"
must mia POST "$app/releases" '{"name":"1.0"}'
release=$app/releases/$(field id)
release_id=$(field id)
must mia POST "$release/assemble"
await_state "$release" validated
await_state "$app/jobs/$(field job_id)" succeeded
must mia POST "$release/publish"
echo "release $(field state)"

step "mia deploys it; msuite_deploy runs before deploy_release"
must mia POST "$app/runtime-profiles" \
    '{"name":"production","kind":"persistent_env","env_vars":{"MODE":"live"},"secrets":{"KEY":"s3cret"}}'
profile=$app/runtime-profiles/$(field id)
must mia POST "$app/environments" "{\"name\":\"production\",\"runtime_profile_id\":\"$(field id)\"}"
environment=$app/environments/$(field id)
must mia POST "$environment/deploy" "{\"release_id\":\"$release_id\"}"
await_state "$app/deployments/$(field id)" succeeded
must ada GET "$release"
echo "deployment succeeded, release $(field state)"

step "The profile changes: the environment has drifted, and takes no deployment until it is checked"
must mia PATCH "$profile" '{"env_vars":{"MODE":"holiday"}}'
call mia POST "$environment/deploy" "{\"release_id\":\"$release_id\"}"
echo "$status $(field error.code): $(field error.message)"
[[ $status == 409 ]] || die "the drifted environment took a deployment"
must mia POST "$environment/drift-check"
await_state "$app/jobs/$(field job_id)" succeeded
must mia POST "$environment/deploy" "{\"release_id\":\"$release_id\"}"
await_state "$app/deployments/$(field id)" succeeded
echo "deployment succeeded"

step "What has run"
must ada GET "$app/jobs?limit=100"
python3 -c '
import json, sys
for job in reversed(json.loads(sys.argv[1])["data"]):
    print(job["state"], job["job_type"], "for", job["entity_type"], job["entity_id"])' "$answer"
