# shellcheck shell=bash
# Measures workers: the engine's own runner with jobs that do nothing, and a command per job, beside
# the rate at which this machine starts processes at all. Sourced by bench/run.

at_once=8

# keep_units <name> <text> : like keep, for lines "figure value unit".
keep_units() { keep "$1" "$(awk '{print $1, $2}' <<<"$2")"; }

# Drains jobs with `sluice work --exec /bin/true` and notes how many it ran a second.
measure_work() {
    local jobs=$((seconds * 1500)) started ended worker
    fresh_engine
    once work.fill submit --connections 4 --batch 1000 --jobs "$jobs" --queue work
    started=$(date +%s%N)
    "$folder/sluice" work -q --server "http://127.0.0.1:$port" --queue work \
        --concurrency "$at_once" --exec /bin/true 2>"$folder/work.log" &
    worker=$!
    until [[ -z $("$folder/sluice" job list --server "http://127.0.0.1:$port" --queue work \
        --state queued,running --limit 1 -o name) ]]; do
        kill -0 "$worker" 2>/dev/null || die "sluice work ended: $(tail -3 "$folder/work.log")"
        sleep 0.1
    done
    ended=$(date +%s%N)
    kill -TERM "$worker"
    wait "$worker" || die "sluice work did not end well"
    keep work "$(awk -v jobs="$jobs" -v ns="$((ended - started))" \
        'BEGIN {print "rate", jobs / ns * 1e9}')"
    stop_server
}

measure_workers() {
    local round
    keep_units runner "$(build/tests/bench_runner --folder "$folder" --rounds "$rounds")"
    for ((round = 0; round < rounds; round++)); do
        keep_units spawn "$(build/bench/spawn --seconds "$seconds" --at-once "$at_once")"
        measure_work
    done
}

write_workers() {
    awk -f bench/figures.awk -f bench/workers.awk -v command="$command" -v day="$(date -u +%F)" -v cores="$(nproc)" \
        -v at_once="$at_once" -v cpu="$(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo)" \
        "$figures" >"$results/results-workers.md"
    cat "$results/results-workers.md"
    echo "bench: wrote $results/results-workers.md" >&2
}
