#!/usr/bin/env bash
# Attacks by clients that are slow on purpose, while an honest client measures how long its requests
# take. Their 99th percentile must stay under twice its value without the attack. A time below the
# floor passes: it is the noise of the machine.
#
#   tests/slow_clients.sh BINARY [CONNECTIONS] [SECONDS_PER_ATTACK]
#
# With more connections than the engine accepts (2,048), honest clients get one only because the
# engine cuts slow clients.
set -euo pipefail
binary=$(realpath "$1")
connections=${2:-1000}
seconds=${3:-4}
floor_ms=5
folder=$(mktemp -d)
engine=0

# shellcheck disable=SC2317  # the trap calls it
cleanup() {
    ((engine)) && kill "$engine" 2>/dev/null && wait "$engine" 2>/dev/null
    rm -rf "$folder"
}
trap cleanup EXIT

if ! command -v slowhttptest >/dev/null || ! command -v curl >/dev/null || ! command -v ss >/dev/null; then
    echo "slow_clients: slowhttptest, curl and ss are needed: ./dev setup" >&2
    exit 77
fi
ulimit -n "$(ulimit -H -n)"

"$binary" serve --no-auth --store memory: --listen 127.0.0.1:0 >"$folder/log" 2>&1 &
engine=$!
for _ in $(seq 100); do
    port=$(sed -n 's/.*"address":"http:\/\/127\.0\.0\.1:\([0-9]*\)".*/\1/p' "$folder/log")
    [[ -n $port ]] && break
    sleep 0.1
done
server=http://127.0.0.1:$port

# honest FILE SECONDS: reads and submits, each on a connection of its own, one after the other.
# Writes the status and the seconds of each.
honest() {
    local file=$1 until=$((SECONDS + $2))
    : >"$file"
    while ((SECONDS < until)); do
        curl -s -o /dev/null -m 10 -H 'Connection: close' -w '%{http_code} %{time_total}\n' \
            "$server/api/v1/jobs?limit=[1-50]" >>"$file" || true
        curl -s -o /dev/null -m 10 -H 'Connection: close' -H 'Content-Type: application/json' \
            -d '{"type":"honest"}' -w '%{http_code} %{time_total}\n' \
            "$server/api/v1/jobs#[1-50]" >>"$file" || true
    done
}

# p99 FILE: in milliseconds.
p99() {
    awk '{print $2 * 1000}' "$1" | sort -n | awk '{all[NR] = $1} END {print all[int((NR * 99 + 99) / 100)]}'
}

refused() {
    awk '$1 != 200 && $1 != 202 {count++} END {print count + 0}' "$1"
}

# A large job, to be read slowly.
large=$(printf '{"type":"large","payload":"%0200000d"}' 0 |
    curl -s -H 'Content-Type: application/json' -d @- "$server/api/v1/jobs" |
    sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p')

honest "$folder/warm" 1
honest "$folder/baseline" "$seconds"
baseline=$(p99 "$folder/baseline")
limit=$(awk -v base="$baseline" -v floor="$floor_ms" 'BEGIN {print (base * 2 > floor ? base * 2 : floor)}')
echo "without attack: p99 $baseline ms of $(wc -l <"$folder/baseline") requests; the limit is $limit ms"

# How many connections the engine has open.
open_connections() {
    ss -Htn state established "( sport = :$port )" | wc -l
}

# An attack that holds connections must have half of those that it asks for, or half of the engine's
# 2,048, when the measurement begins; else nothing was measured.
held_min=$(((connections < 2048 ? connections : 2048) / 2))

failures=0
# attack NAME CONNECTIONS_HELD OPTIONS… : up to three times, since others may use the machine, too.
attack() {
    for _ in 1 2 3; do
        attack_once "$@" && return
    done
    echo "FAIL: honest clients feel the attack \"$1\", or it did not run" >&2
    failures=$((failures + 1))
}

attack_once() {
    local name=$1 least=$2 measured before after lost
    shift 2
    slowhttptest -c "$connections" -r "$connections" -l $((seconds + 2)) -i 1 -p 10 "$@" \
        >"$folder/attack" 2>&1 &
    local attacker=$!
    sleep 1.5
    before=$(open_connections)
    honest "$folder/measured" "$seconds"
    after=$(open_connections)
    kill "$attacker" 2>/dev/null || true
    wait "$attacker" 2>/dev/null || true
    measured=$(p99 "$folder/measured")
    lost=$(refused "$folder/measured")
    echo "$name: p99 $measured ms of $(wc -l <"$folder/measured") requests, $lost failed," \
        "$before connections open before it and $after after it"
    if ((before < least)); then
        echo "the attack did not run: $least connections should be open" >&2
        return 1
    fi
    ((lost == 0)) && awk -v p="$measured" -v limit="$limit" 'BEGIN {exit p > limit}'
}

attack "slow headers" "$held_min" -H -u "$server/api/v1/jobs" -x 24
attack "slow body" "$held_min" -B -u "$server/api/v1/jobs" -s 8192 -x 10 -f application/json
attack "slow read" "$held_min" -X -u "$server/api/v1/jobs/$large" -k 3 -w 1 -y 2 -n 5 -z 1
attack "ranges" 0 -R -u "$server/api/v1/jobs" -t HEAD -a 10 -b 3000

kill -0 "$engine" || failures=$((failures + 1))
exit $((failures > 0))
