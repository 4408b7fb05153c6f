#!/usr/bin/env bash
# How long the refusal of a token takes: a token with an existing id and a wrong secret, against one
# with an unknown id. In turns, on one connection. Prints the medians, and their ratio.
set -euo pipefail

store=${1:?usage: token_timing.sh STORE [ROUNDS]    STORE is empty, such as sqlite:/tmp/timing.db}
rounds=${2:-5000}
sluice=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../build/sluice")
folder=$(mktemp -d)
engine=
trap '[[ -z $engine ]] || kill "$engine"; rm -rf "$folder"' EXIT

token=$("$sluice" token create timing --scope orch:read --store "$store")
touch "$folder/log"
printf '[limits]\nbad_tokens_per_address = "0"\n' >"$folder/sluice.toml"
"$sluice" serve --listen 127.0.0.1:0 --store "$store" --config "$folder/sluice.toml" >"$folder/log" &
engine=$!
until address=$(grep -oP '"message":"serving","address":"\K[^"]+' "$folder/log"); do sleep 0.1; done

# The requests as a file for curl: known and unknown by turns.
known=$(cut -d_ -f2 <<<"$token")
od -An -v -tx1 -w34 -N "$((rounds * 34))" /dev/urandom | tr -d ' ' |
    awk -v known="$known" -v address="$address" -v out="$folder/answer" '
    function ask(kind, id) {
        if (asked++) print "next"
        printf "url = \"%s/api/v1/whoami\"\noutput = \"%s\"\n", address, out
        printf "header = \"Authorization: Bearer slu_%s_%s\"\n", id, substr($0, 25, 43)
        printf "write-out = \"%s %%{http_code} %%{time_pretransfer} %%{time_starttransfer}\\n\"\n", kind
    }
    NR % 2 { ask("known", known); ask("unknown", substr($0, 1, 24)) }
    NR % 2 == 0 { ask("unknown", substr($0, 1, 24)); ask("known", known) }' >"$folder/requests"

median() { # <kind>
    awk -v kind="$1" '$1 == kind { print ($4 - $3) * 1000000 }' "$folder/times" | sort -n |
        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

curl --silent --config "$folder/requests" >"$folder/times"
if grep -v ' 401 ' "$folder/times"; then
    echo "token_timing.sh: these were not refused" >&2
    exit 1
fi
awk -v known="$(median known)" -v unknown="$(median unknown)" 'BEGIN {
    printf "known id %.0f µs, unknown id %.0f µs, ratio %.2f\n", known, unknown, unknown / known }'
