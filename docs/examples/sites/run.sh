#!/usr/bin/env bash
# A site is deployed by a playbook, a deploy fails, and an admin resets the site.
#
#   sluice dev --config engine.toml       in this folder, in another terminal
#   SLUICE_URL=http://127.0.0.1:7070 ./run.sh
set -euo pipefail
url=${SLUICE_URL:-http://127.0.0.1:7070}

call() { # METHOD PATH [BODY] [HEADER]: prints the answer's body
    curl -sS -X "$1" "$url$2" -H 'Content-Type: application/json' ${3:+-d "$3"} ${4:+-H "$4"}
}
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -1; } # of the JSON on standard input
step() { printf '\n== %s\n' "$*"; }
expect() { # WANTED GOT
    echo "   $2"
    [[ $1 == "$2" ]] || { echo "   expected $1" >&2; exit 1; }
}
state_of() { call GET "/api/v1/sites/shop" | member state; }
deploy() { # VERSION: prints the job's id
    call POST /api/v1/jobs "{\"type\":\"env_deploy\",\"site_id\":\"shop\",\"node_id\":\"here\",
        \"max_attempts\":1,\"payload\":{\"version\":\"$1\"}}" | member id
}
wait_for() { # ID: prints the state in which it ended
    local state=queued
    for _ in $(seq 300); do
        state=$(call GET "/api/v1/jobs/$1" | member state)
        [[ $state == queued || $state == running ]] || break
        sleep 0.1
    done
    echo "$state"
}

step 'a node, and how it is reached: this machine, without ssh'
call POST /api/v1/nodes '{"id":"here","attributes":{"hostname":"127.0.0.1","connection":"local"}}' |
    member state

step 'a job on a node must say which one'
expect invalid "$(call POST /api/v1/jobs '{"type":"env_deploy","site_id":"shop"}' | member code)"

step 'a deploy: the playbook runs, and the site is active again'
first=$(deploy 1.2)
expect succeeded "$(wait_for "$first")"
expect active "$(state_of)"

step 'a deploy that fails for good leaves the site failed'
second=$(deploy none)
expect failed "$(wait_for "$second")"
expect ANSIBLE_HOST_FAILED "$(call GET "/api/v1/jobs/$second" | member error_code)"
expect failed "$(state_of)"

step 'nothing more is done to it'
expect resource_failed "$(call POST /api/v1/jobs \
    '{"type":"env_deploy","site_id":"shop","node_id":"here"}' | member code)"

step 'until an admin resets it'
expect forbidden "$(call POST /api/v1/sites/shop/reset '{}' 'X-Sluice-User: eve' | member code)"
expect active "$(call POST /api/v1/sites/shop/reset '{}' | member state)"
third=$(deploy 1.3)
expect succeeded "$(wait_for "$third")"

step 'what happened to the site'
call GET /api/v1/entities/site/shop/events |
    grep -o '"action":"[^"]*","from":[^,]*,"to":"[^"]*"' | sed 's/^/   /'
