#!/usr/bin/env bash
# Starts and stops the PostgreSQL server that the tests talk to. Its address is in FOLDER/url, its
# log in FOLDER/log. A start ends a server that a killed run has left behind. A halt is like a
# crash; after a resume the server runs again with all its data. With SLUICE_POSTGRES_CLOCK=own in
# the environment of the start, the file FOLDER/home/clock says how far the server's clock is off,
# as "+7200"; it is read at every look at the clock.
set -euo pipefail

usage="usage: postgres.sh start|halt|resume|stop FOLDER"
command=${1:?$usage}
folder=${2:?$usage}
mkdir -p "$folder"
folder=$(realpath "$folder")

die() {
    echo "postgres.sh: $*" >&2
    exit 1
}

# PostgreSQL refuses to run as root; the package has made a user for it.
unprivileged() {
    if ((EUID == 0)); then
        setpriv --reuid=postgres --regid=postgres --init-groups "$@"
    else
        "$@"
    fi
}

# Prints the folder with the newest server's programs.
find_programs() {
    local programs
    programs=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
    [[ -x $programs ]] || programs=$(command -v postgres || true)
    [[ -n $programs ]] || die "PostgreSQL is missing; ./dev setup installs it"
    dirname "$programs"
}

# Prints the number of the server's process, if it runs. When the server has died, another process
# may have its number; that one runs in another folder.
running_server() {
    local pid
    pid=$(head -n 1 "$folder/data/postmaster.pid" 2>/dev/null) || return 0
    [[ $(readlink "/proc/$pid/cwd") == "$(realpath "$folder/data")" ]] && echo "$pid"
    return 0
}

halt() {
    local pid
    pid=$(running_server)
    [[ -n $pid ]] || return 0
    kill -QUIT "$pid"  # at once
    while [[ -d /proc/$pid ]]; do sleep 0.02; done
}

resume() {
    local port
    port=$(grep -oP ':\K\d+(?=/)' "$folder/url")
    rm -f "$folder/data/postmaster.pid"  # the old one may still say that the server is ready
    try_start "$port" || die "the server has not started: $(cat "$folder/log")"
}

# The files of some hundred databases take long to remove, so they are removed in the background.
stop() {
    local gone home=''
    halt
    gone=$(mktemp -d "$folder/gone.XXXXXX")
    if [[ -e $folder/data ]]; then mv "$folder/data" "$gone"; fi
    if [[ -L $folder/home ]]; then home=$(readlink "$folder/home"); fi
    rm -rf "${folder:?}"/{home,data,url}
    setsid rm -rf "$gone" ${home:+"$home"} </dev/null >/dev/null 2>&1 &
}

# A socket's path may have about 100 bytes, and the user that the server runs as may not be able to
# look into FOLDER; so there is a folder elsewhere, too.
make_home() {
    local home
    home=$(mktemp -d /tmp/sluice-postgres.XXXXXX)
    ln -s "$home" "$folder/home"
    ((EUID != 0)) || chown postgres: "$home"
    if unprivileged test -x "$folder"; then
        mkdir "$folder/data"
        ((EUID != 0)) || chown postgres: "$folder/data"
    else
        unprivileged mkdir "$home/data"
        ln -s "$home/data" "$folder/data"
    fi
}

# fsync and the like stay as they are for users.
write_settings() {
    cat >>"$folder/data/postgresql.conf" <<END
listen_addresses = '127.0.0.1'
unix_socket_directories = '$(readlink "$folder/home")'
max_connections = 200
shared_buffers = 256MB
autovacuum_naptime = 5s
END
}

# Only the wall clock is the server's own.
clock_settings() {
    local library
    library=$(printf '%s\n' /usr/lib/*/faketime/libfaketimeMT.so.1 | head -n 1)
    [[ -e $library ]] || die "faketime is missing; ./dev setup installs it"
    printf '%s\n' "LD_PRELOAD=$library" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 \
        "FAKETIME_TIMESTAMP_FILE=$(realpath "$folder/home/clock")"
}

# Whether the server has come up on this port.
try_start() {
    local port=$1 data pid clock=()
    data=$(realpath "$folder/data")
    if [[ -e $folder/home/clock ]]; then mapfile -t clock < <(clock_settings); fi
    unprivileged env "${clock[@]}" "$programs/postgres" -D "$data" -p "$port" >"$folder/log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        # Its eighth line is the state.
        [[ $(sed -n 8p "$data/postmaster.pid" 2>/dev/null) == ready* ]] && return 0
        sleep 0.05
    done
    return 1
}

start() {
    local port
    stop
    make_home
    unprivileged "$programs/initdb" -D "$(realpath "$folder/data")" --username=sluice --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$folder/log" 2>&1 ||
        die "initdb has failed: $(cat "$folder/log")"
    write_settings
    if [[ ${SLUICE_POSTGRES_CLOCK:-} == own ]]; then echo +0 >"$folder/home/clock"; fi
    for _ in {1..10}; do
        port=$((20000 + RANDOM % 10000))  # below those that the system gives to clients
        if try_start "$port"; then
            echo "postgres://sluice@127.0.0.1:$port/postgres" >"$folder/url"
            return
        fi
        grep -q 'Address already in use' "$folder/log" || break
    done
    die "the server has not started: $(cat "$folder/log")"
}

cd /
case $command in
    start)
        programs=$(find_programs)
        start
        ;;
    halt) halt ;;
    resume)
        programs=$(find_programs)
        resume
        ;;
    stop) stop ;;
    *) die "$usage" ;;
esac
