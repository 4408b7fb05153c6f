# shellcheck shell=bash disable=SC2154,SC2034
# What rules about which jobs may run cost, and whether they are kept, on SQLite and on PostgreSQL.
# What a rule costs is measured in turns with the same engine without it. Sourced by bench/run.

turn_seconds=$((seconds < 4 ? 1 : seconds / 4))
kept_seconds=$((seconds < 2 ? 3 : seconds * 5 / 2))
tenants=10000
active_max=8 hold_ms=50     # of the limit of jobs at once, and how long each job takes
rate_wanted=1000            # starts a second, and the bucket: one second's worth
kind=''                     # of store that is measured now: sqlite or postgres
declare -A engine_ports=() engine_pids=()

# start_beside <name> : an engine beside those that run, on the store of that name.
start_beside() {
    local store=${postgres_url%/*}/bench_$1
    if [[ $kind == sqlite ]]; then store=sqlite:$folder/$1/db; fi
    start_engine "$store"
    engine_ports[$1]=$port engine_pids[$1]=$server
    nodes+=("$server")
}

fresh_beside() {
    if [[ $kind == sqlite ]]; then
        rm -rf "${folder:?}/$1"
        mkdir "$folder/$1"
    else
        fresh_database "bench_$1"
    fi
    start_beside "$1"
}

# copy_store <from> <to> : no engine runs on either.
copy_store() {
    if [[ $kind == sqlite ]]; then
        rm -rf "${folder:?}/$2"
        cp -r "$folder/$1" "$folder/$2"
    else
        ask "DROP DATABASE IF EXISTS bench_$2 WITH (FORCE)" 2>/dev/null
        ask "CREATE DATABASE bench_$2 TEMPLATE bench_$1"
        ask "CHECKPOINT"
    fi
}

# govern <path> <members> : a change of the rules.
govern() {
    curl -sf --max-time 60 "http://127.0.0.1:$port/api/v1/$1" -H 'Content-Type: application/json' \
        -d "{\"reason\":\"bench\",$2}" >/dev/null || die "$1 has refused: $2"
}

# in_turns <points> <engine>... : runs <points> for one engine after the other, in turns too short
# for the machine to change in between. The one that has the first turn changes.
in_turns() {
    local points=$1 round place names=("${@:2}")
    for ((round = 0; round < 4 * rounds; round++)); do
        for ((place = 0; place < ${#names[@]}; place++)); do
            use_engine "${names[(round + place) % ${#names[@]}]}"
            "$points" "${names[(round + place) % ${#names[@]}]}"
        done
    done
}

# turn <point> <mode> [options]
turn() { once "$kind.$1" "${@:2}" --seconds "$turn_seconds" --warm-up 0.3; }

# ── what a rule costs that never binds ──

# cycle_points <name> [options] : ends with nothing queued.
cycle_points() {
    turn "$1.cycle" cycle --connections 64 "${@:2}"
    turn "$1.batch" cycle --connections 16 --batch 100 "${@:2}"
    turn "$1.submit" submit --connections 64 "${@:2}"
    once "$kind.$1.claim" drain --connections 64 "${@:2}"
}

limit_cover() {
    fresh_beside open
    fresh_beside all
    govern limits '"max_active":1000000'
    fresh_beside tenant
    govern limits '"per":["tenant"],"max_active":1000000'
    fresh_beside type
    govern limits '"per":["tenant","type"],"max_active":1000000'
    fresh_beside rate
    govern limits '"rate":{"count":1000000}'
    in_turns cycle_points open all tenant type rate
}

tenant_points() { cycle_points "$1" --tenants "$tenants"; }

# add_quotas <members> : one for each tenant.
add_quotas() {
    once "$kind.quotas.add" quotas --tenants "$tenants" --connections 16 --bounds "$1"
}

limit_quotas() {
    fresh_beside tenants
    fresh_beside quotas
    add_quotas '"max_active":1000'
    fresh_beside hourly
    add_quotas '"max_active":1000,"max_per_hour":1000000'
    in_turns tenant_points tenants quotas hourly
}

# ── whether limits are kept and used ──

limit_active() {
    fresh_beside active
    govern limits '"max_active":'"$active_max"
    once fill submit --connections 4 --batch 100 \
        --jobs "$(((kept_seconds + 4) * active_max * 1000 / hold_ms))"
    once "$kind.active" hold --connections 64 --hold-ms "$hold_ms" --seconds "$((kept_seconds + 1))"
    once "$kind.active" times --skip 0.5 --seconds "$kept_seconds"
}

limit_rate() {
    fresh_beside rate
    govern limits '"rate":{"count":'"$rate_wanted"'}'
    once fill submit --connections 4 --batch 100 --jobs "$(((kept_seconds + 6) * rate_wanted))"
    once "$kind.rate_kept" hold --connections 64 --seconds "$((kept_seconds + 3))"
    once "$kind.rate_kept" times --skip 2 --seconds "$kept_seconds" --rate "$rate_wanted" \
        --burst "$rate_wanted"
}

# ── jobs in closed lanes ──

# fill_lanes <jobs in all> : four sources and four types, in the queue of the open lane.
fill_lanes() {
    local lane
    for lane in 0 1 2 3; do
        once closed.fill submit --connections 4 --batch 1000 --jobs "$(($1 / 8))" \
            --source "source-$lane"
        once closed.fill submit --connections 4 --batch 1000 --jobs "$(($1 / 8))" --type "type-$lane"
    done
}

# Pauses the sources, and lets one job of each type run, for an hour.
close_lanes() {
    local lane
    for lane in 0 1 2 3; do
        govern "sources/source-$lane/pause" '"tenant":"default"'
        govern quotas '"tenant":"default","type":"type-'"$lane"'","max_active":1'
        client submit --jobs 1 --type "type-$lane" >/dev/null
        curl -sf "http://127.0.0.1:$port/api/v1/leases" -H 'Content-Type: application/json' \
            -d '{"worker_id":"bench","types":["type-'"$lane"'"],"lease_ms":3600000}' |
            grep -q lease_id || die "no job of type-$lane started"
    done
}

# "elsewhere" has the same jobs, but no rules, and its claims do not ask for them.
closed_points() {
    local options=()
    if [[ $1 == elsewhere ]]; then options=(--queue elsewhere); fi
    turn "$1.cycle" cycle --connections 64 "${options[@]}"
    turn "$1.batch" cycle --connections 16 --batch 100 "${options[@]}"
}

limit_closed() {
    fresh_beside closed
    fill_lanes "$deep"
    stop_beside
    copy_store closed elsewhere
    start_beside elsewhere
    start_beside closed
    close_lanes
    fresh_beside none_closed
    close_lanes
    in_turns closed_points none_closed closed elsewhere
}

# ── an idle engine ──

# idle_counts : what an engine and its store have done so far.
idle_counts() {
    curl -sf "http://127.0.0.1:$port/metrics" |
        awk '$1 == "sluice_commit_seconds_count" {print "commits", $2}'
    awk -v hz="$(getconf CLK_TCK)" '{print "cpu_ms", ($14 + $15) / hz * 1000}' "/proc/$server/stat"
    [[ $kind == postgres ]] || return 0
    ask "SELECT 'statements ' || sum(calls) FROM pg_stat_statements s
         JOIN pg_database d ON d.oid = dbid WHERE datname = 'bench_$1'"
    ask "SELECT 'transactions ' || xact_commit + xact_rollback FROM pg_stat_database
         WHERE datname = 'bench_$1'"
}

# Connections report their transactions up to ten seconds after they have become idle.
idle_point() {
    local before parked
    client park --connections 100 --queue bench --seconds "$((idle_seconds + 16))" &
    parked=$!
    sleep 12
    before=$(idle_counts "$1")
    sleep "$idle_seconds"
    keep "$kind.$1" "$(awk -v seconds="$idle_seconds" 'NR == FNR {before[$1] = $2; next}
        {print $1, ($2 - before[$1]) / seconds}' <(echo "$before") <(idle_counts "$1"))"
    wait "$parked" || die "a claim was answered though its lane is closed"
}

limit_idle() {
    if [[ $kind == postgres ]]; then count_statements; fi
    fresh_beside idle_open
    idle_point idle_open
    stop_beside
    fresh_beside idle_closed
    fill_lanes 8000
    close_lanes
    idle_point idle_closed
    if [[ $kind == postgres ]]; then set_option autovacuum on; fi
}

# PostgreSQL's own vacuum would count as well: it is off.
count_statements() {
    set_option shared_preload_libraries pg_stat_statements
    set_option autovacuum off
    tests/postgres.sh halt "$folder/postgres"
    tests/postgres.sh resume "$folder/postgres"
    postmaster=$(head -n 1 "$folder/postgres/data/postmaster.pid")
    ask "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"
}

# ── all of it ──

stop_beside() {
    stop_nodes
    engine_ports=() engine_pids=()
}

measure_limits() {
    local part
    start_postgres
    once disk fsync --folder "$folder"
    for kind in "${limit_stores[@]}"; do
        for part in "${limit_parts[@]}"; do
            echo "$kind: $part" >&2
            "limit_$part"
            stop_beside
        done
    done
    stop_postgres
}

write_limits() {
    awk -f bench/figures.awk -f bench/limits.awk -v turn_seconds="$turn_seconds" \
        -v stores_measured="${limit_stores[*]}" -v turns="$((4 * rounds))" -v tenants="$tenants" -v deep="$deep" \
        -v active_max="$active_max" -v hold_ms="$hold_ms" -v rate_wanted="$rate_wanted" \
        -v kept_seconds="$kept_seconds" -v idle_seconds="$idle_seconds" \
        -v command="$command" -v day="$(date -u +%F)" -v cores="$(nproc)" \
        -v cpu="$(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo)" \
        -v kernel="$(uname -r)" -v noise_max="$noise_max" -v disk="$(stat -f -c %T "$folder")" \
        -v load_average="$(cut -d ' ' -f 1-3 /proc/loadavg)" \
        -v engine="$("$folder/sluice" --version)" -v database="$(psql --version)" \
        "$figures" >"$results/results-limits.md"
    cat "$results/results-limits.md"
    echo "bench: wrote $results/results-limits.md" >&2
}
