#!/usr/bin/env bash
# A newcomer's first minutes, on a fresh clone with the binary in build/: every command that README,
# `sluice dev` and the examples of --help print must work as printed, and the first job must have
# succeeded within a minute.
#
#   tests/first_minutes.sh SOURCE_FOLDER BINARY
set -uo pipefail
source_folder=$1
binary=$(realpath "$2")
folder=$(mktemp -d)
clone=$folder/sluice
engine=0
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

cleanup() {
    ((engine)) && kill "$engine" 2>/dev/null && wait "$engine" 2>/dev/null
    rm -rf "$folder"
}
trap cleanup EXIT

# The files that are in the repository, and new ones that are not ignored.
mkdir -p "$clone/build"
(cd "$source_folder" && git ls-files -z --cached --others --exclude-standard 2>/dev/null |
    xargs -0 -r cp --parents -t "$clone" 2>/dev/null)
[[ -f $clone/README.md ]] || cp -r "$source_folder"/{README.md,docs,examples} "$clone"
ln -s "$binary" "$clone/build/sluice"
cd "$clone" || exit 1

# A port of its own, which is none that the system hands out to tests beside this one, and a home
# without history. Commands find the engine by SLUICE_SERVER.
port=$((30000 + RANDOM % 2700))
export SLUICE_LISTEN=127.0.0.1:$port SLUICE_SERVER=http://127.0.0.1:$port
export HOME=$folder/home PATH=$clone/build:$PATH NO_COLOR=1
unset XDG_STATE_HOME SLUICE_CONFIG SLUICE_STORE SLUICE_TOKEN
mkdir -p "$HOME"

now_ms() { date +%s%3N; }

# Runs one line as a newcomer would paste it. A command that serves or works until it is stopped
# must still run after a moment, and end with 0 when it is asked to.
try() {
    local line=$1 code pid
    case $line in
        "sluice dev"* | "sluice serve"* | "sluice work"* | "build/sluice work"*)
            # An engine beside the one that runs would want its port and its store.
            env SLUICE_LISTEN=127.0.0.1:0 SLUICE_STORE=memory: bash -c "exec ${line%&}" >"$folder/out" 2>&1 &
            pid=$!
            sleep 1
            kill -TERM "$pid" 2>/dev/null
            wait "$pid"
            code=$?
            ;;
        *)
            timeout 60 bash -c "$line" >"$folder/out" 2>&1 </dev/null
            code=$?
            ;;
    esac
    if ((code != 0)); then
        fail "\"$line\" ended with $code:"
        sed 's/^/    /' "$folder/out" | tail -5 >&2
    else
        echo "ok    $line"
    fi
}

# ── sluice dev, and the commands that it says to try next ──
started=$(now_ms)
build/sluice dev >"$folder/log" 2>"$folder/welcome" &
engine=$!
until build/sluice job list >/dev/null 2>&1; do
    (($(now_ms) - started < 30000)) ||
        { fail "sluice dev is not ready after 30 s: $(tail -n 5 "$folder/log" "$folder/welcome")"; exit 1; }
    sleep 0.05
done
ready=$(now_ms)
mapfile -t printed < <(sed -n 's/^    \([^ ].*\)$/\1/p' "$folder/welcome")
((${#printed[@]} >= 3)) || fail "sluice dev prints ${#printed[@]} commands, not three"
for line in "${printed[@]}"; do try "$line"; done
[[ $(build/sluice job list --type demo.hello --state succeeded -o name | wc -l) == 1 ]] ||
    fail "no job has succeeded"
first_job=$(($(now_ms) - started))
((first_job < 60000)) || fail "the first jobs took $first_job ms"

# ── README: every command in its blocks, but for those that set up and build ──
mapfile -t printed < <(sed -n 's/^    \(\((umask 077; \)\?\(build\/sluice\|sluice\|curl\) .*\)$/\1/p' README.md)
((${#printed[@]} >= 3)) || fail "README has ${#printed[@]} commands"
for line in "${printed[@]}"; do try "${line/localhost:7070/127.0.0.1:$port}"; done

# ── the examples of every --help ──
examples() {
    local command=$1 help subcommand subcommands
    help=$(eval "$command --help") || fail "$command --help"
    sed -n '/^Examples:/,$ s/^  \(sluice .*\)$/\1/p' <<<"$help"
    mapfile -t subcommands < <(sed -n '/^Subcommands:/,/^$/ s/^  \([a-z-]*\) .*$/\1/p' <<<"$help")
    for subcommand in "${subcommands[@]}"; do
        examples "$command $subcommand"
    done
}
mapfile -t printed < <(examples sluice)
((${#printed[@]} >= 20)) || fail "--help has only ${#printed[@]} examples"
for line in "${printed[@]}"; do try "$line"; done

echo "ready in $((ready - started)) ms; the first jobs had ended after $first_job ms; $failures failures"
((failures == 0))
