# Starts and stops the servers that are measured. Sourced by bench/run, which sets load (the client)
# and folder (for everything that a run writes, with a copy of the engine).
# shellcheck shell=bash disable=SC2154,SC2034

server=0      # the process that is measured now; 0: none; of several nodes: all, parted by commas
port=0        # the port of that process; of several nodes: all, parted by commas
admin_token='' # of the engine; empty: it asks for no token
store_pid=''  # PostgreSQL's first process when engines are on it

die() {
    echo "bench: $*" >&2
    exit 1
}

# wait_for_exit <pid> : its exit status, or 124 when it has not ended after 30 s.
wait_for_exit() {
    local tries
    for ((tries = 0; tries < 3000; tries++)); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.01
    done
    kill -0 "$1" 2>/dev/null && return 124
    wait "$1"
}

# start_engine <store> : sets port, server and start_seconds, the time from exec to the first 200 of
# /readyz. With admin_token it asks for tokens.
start_engine() {
    local began log
    port=$("$load" port)
    log=$folder/engine.$port.log
    store_pid=''
    if [[ $1 == postgres:* ]]; then store_pid=$postmaster; fi
    began=$EPOCHREALTIME
    local access=(--no-auth)
    if [[ -n $admin_token ]]; then access=(); fi
    SLUICE_ADMIN_TOKEN=$admin_token "$folder/sluice" serve --listen "127.0.0.1:$port" \
        --store "$1" "${access[@]}" >"$log" 2>&1 &
    server=$!
    "$load" ready --port "$port" || {
        tail -n 20 "$log" >&2
        die "the engine did not start"
    }
    start_seconds=$(awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN {printf "%.4f", to - from}')
}

# stop_server [signal] : TERM unless told.
stop_server() {
    local signal=${1:-TERM} status=0 pid=$server
    server=0
    ((pid > 0)) || return 0
    kill -s "$signal" "$pid" 2>/dev/null || true
    wait_for_exit "$pid" 2>/dev/null || status=$?
    [[ $signal == TERM && $status != 0 && $status != 143 ]] || return 0
    tail -n 20 "$folder"/*.log >&2
    die "a server ended with status $status"
}

# Memory of the measured process in MB.
resident_mb() { awk '/^VmRSS:/ {printf "%.1f", $2 * 1024 / 1e6}' "/proc/$server/status"; }

# await_port : until something listens at $port.
await_port() {
    local tries
    for ((tries = 0; tries < 500; tries++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        sleep 0.01
    done
    tail -n 20 "$folder"/*.log >&2
    die "a server did not start"
}

# start_nginx : one worker that answers 200 with a JSON text of 200 bytes.
start_nginx() {
    local text kind
    text=$(printf '{"id":"%024d","state":"queued","pad":"%0145d"}' 1 0)
    port=$("$load" port)
    mkdir -p "$folder/nginx"
    {
        echo "daemon off; worker_processes 1; pid nginx.pid; error_log stderr;"
        echo "events { worker_connections 1024; }"
        echo "http { access_log off; default_type application/json; keepalive_requests 100000000;"
        for kind in client_body proxy fastcgi uwsgi scgi; do
            echo "${kind}_temp_path $kind;"
        done
        echo "server { listen 127.0.0.1:$port; location / { return 200 '$text'; } } }"
    } >"$folder/nginx/nginx.conf"
    nginx -p "$folder/nginx" -c nginx.conf >"$folder/nginx.log" 2>&1 &
    server=$!
    await_port
}

# start_beanstalkd : with an fsync after every record.
start_beanstalkd() {
    port=$("$load" port)
    rm -rf "$folder/beanstalkd"
    mkdir -p "$folder/beanstalkd"
    beanstalkd -l 127.0.0.1 -p "$port" -b "$folder/beanstalkd" -f 0 >"$folder/beanstalkd.log" 2>&1 &
    server=$!
    await_port
}
