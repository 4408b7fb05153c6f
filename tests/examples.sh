#!/usr/bin/env bash
# Runs the worked examples of the contracts: docs/examples/*/run.sh, each with an engine of its own,
# which is given the example's engine.toml when it has one.
#
#   tests/examples.sh SOURCE_FOLDER BINARY
set -uo pipefail
source_folder=$(realpath "$1")
binary=$(realpath "$2")
folder=$(mktemp -d)
engine=0
failures=0

stop_engine() {
    ((engine)) && kill "$engine" 2>/dev/null && wait "$engine" 2>/dev/null
    engine=0
}
trap 'stop_engine; rm -rf "$folder"' EXIT

# Starts an engine for the example in the current folder, on a free port.
start_engine() {
    local flags=(--listen 127.0.0.1:0 --store memory:)
    [[ -f engine.toml ]] && flags+=(--config engine.toml)
    : >"$folder/log"  # else the address of the engine before may be read
    "$binary" dev "${flags[@]}" >>"$folder/log" 2>&1 &
    engine=$!
    for _ in $(seq 200); do
        SLUICE_URL=$(sed -n 's/^ *API *\(http[^ ]*\).*/\1/p' "$folder/log")
        [[ $SLUICE_URL ]] && return
        sleep 0.05
    done
    sed 's/^/    /' "$folder/log"
    return 1
}

for script in "$source_folder"/docs/examples/*/run.sh; do
    name=$(basename "$(dirname "$script")")
    cd "$(dirname "$script")" || exit 1
    if start_engine && SLUICE_URL=$SLUICE_URL PATH=$(dirname "$binary"):$PATH timeout 120 ./run.sh >"$folder/out" 2>&1; then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        tail -20 "$folder/out" | sed 's/^/    /'
        failures=$((failures + 1))
    fi
    stop_engine
done
((failures == 0))
