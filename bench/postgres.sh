# shellcheck shell=bash disable=SC2154,SC2034
# Engines on PostgreSQL: one node and three, beside SQLite and beside peers in the same run. Sourced
# by bench/run.

postmaster=''  # PostgreSQL's first process, once it runs
nodes=()       # processes of the nodes that run now

# ask <SQL> [database]
ask() {
    psql -XAtq -v ON_ERROR_STOP=1 "${postgres_url%/*}/${2:-postgres}" -c "$1"
}

# set_option <name> <value> : for the whole server, from now on.
set_option() {
    ask "ALTER SYSTEM SET $1 = '$2'"
    ask "SELECT pg_reload_conf()" >/dev/null
}

# A server as the package makes it, durability included, but with a larger max_wal_size: otherwise
# there are a few checkpoints a minute at full load, and all figures depend on when they happen.
start_postgres() {
    tests/postgres.sh start "$folder/postgres"
    postgres_url=$(<"$folder/postgres/url")
    postmaster=$(head -n 1 "$folder/postgres/data/postmaster.pid")
    set_option max_wal_size 4GB
    set_option autovacuum_naptime 1min
}

stop_postgres() {
    tests/postgres.sh stop "$folder/postgres"
    postmaster=''
}

# fresh_database <name>
fresh_database() {
    ask "DROP DATABASE IF EXISTS $1 WITH (FORCE)" 2>/dev/null
    ask "CREATE DATABASE $1"
    ask "CHECKPOINT"
}

# start_nodes <how many>
start_nodes() {
    local node ports=()
    nodes=()
    for ((node = 0; node < $1; node++)); do
        start_engine "${postgres_url%/*}/bench"
        ports+=("$port")
        nodes+=("$server")
    done
    port=$(IFS=,; echo "${ports[*]}")
    server=$(IFS=,; echo "${nodes[*]}")
}

stop_nodes() {
    for server in "${nodes[@]}"; do stop_server; done
    nodes=() server=0
}

# fresh_nodes <how many> : on an empty database.
fresh_nodes() {
    stop_nodes
    fresh_database bench
    start_nodes "$1"
}

# two_workers <name> [options] : drains by two processes at once, and notes what they did together.
two_workers() {
    local name=$1 worker pids=()
    shift
    for worker in 1 2; do
        client drain --connections 4 --batch 100 --alone 0 "$@" >"$folder/worker.$worker" &
        pids+=($!)
    done
    for worker in "${pids[@]}"; do wait "$worker" || die "$name: a worker failed"; done
    keep "$name" "$(awk '
        $1 == "jobs" {jobs[FILENAME] = $2; all += $2}
        $1 == "seconds" && $2 > longest {longest = $2}
        $1 == "client_cpu_us" {own[FILENAME] = $2 * jobs[FILENAME]; clients += own[FILENAME]}
        $1 == "server_cpu_us" && $2 * jobs[FILENAME] > engine {engine = $2 * jobs[FILENAME]}
        $1 == "store_cpu_us" && $2 * jobs[FILENAME] > store {store = $2 * jobs[FILENAME]}
        $1 ~ /^answer_/ {if ($2 > answer[$1]) answer[$1] = $2}
        $1 == "noise" {noise = $2 - (clients - own[FILENAME]) / 1e6 / longest}
        END {
            print "jobs", all; print "seconds", longest; print "rate", all / longest
            for (name in answer) print name, answer[name]
            print "client_cpu_us", clients / all; print "server_cpu_us", engine / all
            print "store_cpu_us", store / all; print "noise", noise < 0 ? 0 : noise
        }' "$folder/worker.1" "$folder/worker.2")"
}

# drain_all <name> : what was queued must have ended, each job once, when the workers find no more.
drain_all() {
    local ended table
    once fill submit --connections 4 --batch 1000 --jobs "$drain_jobs"
    two_workers "$1"
    [[ -n $store_pid ]] || return 0
    # Versions differ in the name of their schema.
    table=$(ask "SELECT schemaname || '.done' FROM pg_tables WHERE tablename = 'done'" bench)
    ended=$(ask "SELECT count(*) FROM $table" bench)
    [[ $ended == "$drain_jobs" ]] || die "$1: $ended of $drain_jobs jobs have ended"
}

# key_points <prefix> [cycle options] : the points that decide; submits last, for they stay queued.
key_points() {
    local prefix=$1
    shift
    timed "$prefix.cycle.c64" cycle --connections 64 "$@"
    timed "$prefix.submit.c64" submit --connections 64
}

measure_sqlite_beside() {
    fresh_engine
    timed sqlite.cycle.batch cycle --connections 16 --batch 100
    key_points sqlite
    fresh_engine
    drain_all sqlite.drain
    stop_server
}

measure_one_node() {
    fresh_nodes 1
    timed one.cycle.batch cycle --connections 16 --batch 100
    key_points one
    fresh_nodes 1
    drain_all one.drain
}

# Claims may wait a moment: jobs that a node is about to take are hidden from the others.
measure_three_nodes() {
    fresh_nodes 3
    key_points three --wait-ms 5000
    fresh_nodes 3
    drain_all three.drain
    stop_nodes
}

measure_postgres_pickup() {
    fresh_engine
    point sqlite.pickup pickup --samples "$samples"
    stop_server
    fresh_nodes 1
    point one.pickup pickup --samples "$samples"
    fresh_nodes 2
    point two.pickup pickup --samples "$samples"
    stop_nodes
}

# Cycles first: they leave the queue as deep as it was.
measure_postgres_deep() {
    local round
    fresh_nodes 1
    once deep.fill submit --connections 4 --batch 1000 --jobs "$deep"
    for ((round = 0; round < rounds; round++)); do
        timed deep.cycle.c64 cycle --connections 64
    done
    for ((round = 0; round < rounds; round++)); do
        two_workers deep.drain --seconds "$seconds" --warm-up 0.3
    done
    stop_nodes
}

transactions() {
    ask "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname = 'bench'"
}

# The cost to PostgreSQL of an idle node with waiting claims. Its own vacuum would count: it is off.
# Connections report their transactions up to ten seconds after they have become idle.
measure_idle() {
    local before parked
    fresh_nodes 1
    set_option autovacuum off
    client park --connections 100 --seconds "$((idle_seconds + 16))" &
    parked=$!
    sleep 12
    before=$(transactions)
    sleep "$idle_seconds"
    note idle.transactions "$(awk -v before="$before" -v after="$(transactions)" \
        -v seconds="$idle_seconds" 'BEGIN {print (after - before) / seconds}')"
    wait "$parked" || die "a claim was answered though there was no job for it"
    set_option autovacuum on
    stop_nodes
}

# Notes the sizes of tables in MB.
note_sizes() {
    local table
    for table in ready lease seat; do
        note "steady.size.$table" \
            "$(ask "SELECT pg_total_relation_size('orchestrator.$table') / 1e6" bench)"
    done
    note steady.size.whole "$(ask "SELECT pg_database_size('bench') / 1e6" bench)"
}

watch_sizes() {
    while sleep 60; do note_sizes; done
}

# The run ends before the watcher's last minute does, so the sizes are noted once more at the end.
measure_steady() {
    local watcher
    fresh_nodes 1
    watch_sizes &
    watcher=$!
    once steady cycle --connections 64 --seconds "$((steady_minutes * 60 - 1))" --slice 10
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    note_sizes
    stop_nodes
}

measure_postgres() {
    local round
    start_postgres
    once disk fsync --folder "$folder"
    measure_nginx
    for ((round = 0; round < rounds; round++)); do
        measure_sqlite_beside
        measure_one_node
        measure_three_nodes
        measure_peers
    done
    measure_postgres_pickup
    measure_postgres_deep
    measure_idle
    measure_nginx
    ((steady_minutes == 0)) || measure_steady
    stop_postgres
}

write_postgres() {
    awk -f bench/figures.awk -f bench/postgres.awk -v seconds="$seconds" -v rounds="$rounds" \
        -v deep="$deep" -v drain_jobs="$drain_jobs" -v command="$command" -v day="$(date -u +%F)" \
        -v cores="$(nproc)" \
        -v cpu="$(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo)" \
        -v kernel="$(uname -r)" -v noise_max="$noise_max" -v disk="$(stat -f -c %T "$folder")" \
        -v load_average="$(cut -d ' ' -f 1-3 /proc/loadavg)" \
        -v engine="$("$folder/sluice" --version)" -v database="$(psql --version)" \
        "$figures" >"$results/results-postgres.md"
    cat "$results/results-postgres.md"
    echo "bench: wrote $results/results-postgres.md" >&2
}
