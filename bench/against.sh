# shellcheck shell=bash disable=SC2154,SC2034
# The hot path of two binaries in one run: the machine is too noisy to compare figures of two runs.
# Sourced by bench/run.

# against_points <prefix> : on an engine with nothing queued.
against_points() {
    once "$1.cycle" cycle --connections 64 --seconds "$seconds" --warm-up 0.3
    once "$1.batch" cycle --connections 16 --batch 100 --seconds "$seconds" --warm-up 0.3
    once "$1.deploy" deploy --connections 16 --seconds "$seconds" --warm-up 0.3
    once "$1.submit" submit --connections 64 --seconds "$seconds" --warm-up 0.3
    once "$1.claim" drain --connections 64 --seconds "$seconds" --warm-up 0.3
}

# against_turn <old|new> : one turn of a binary on both stores.
against_turn() {
    cp -f "$folder/$1" "$folder/sluice"
    fresh_engine
    against_points "$1.sqlite"
    stop_server
    fresh_nodes 1
    against_points "$1.postgres"
    stop_nodes
}

# The binary that has the first turn changes from round to round.
measure_against() {
    local round
    cp "$folder/sluice" "$folder/new"
    cp "$against" "$folder/old"
    start_postgres
    for ((round = 0; round < 2 * rounds; round++)); do
        if ((round % 2 == 0)); then against_turn old && against_turn new
        else against_turn new && against_turn old
        fi
    done
    stop_postgres
}

write_against() {
    awk -f bench/figures.awk -f bench/against.awk -v seconds="$seconds" -v rounds="$((2 * rounds))" \
        "$figures"
}
