#!/bin/sh
# Installs what BUILD_DIR has, builds the example project outside of this tree against it, by CMake
# and by pkg-config, and has its two programs do a job on a real engine.
#
#     client_install_test.sh BUILD_DIR
set -eu

if [ $# -ne 1 ] || [ ! -f "$1/cmake_install.cmake" ]; then
    echo "usage: $0 BUILD_DIR" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
example=$(cd "$(dirname "$0")/../examples/cpp" && pwd)
work=$(mktemp -d)
pids=
clean_up() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    for pid in $pids; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

fail() {
    echo "client_install_test: $*" >&2
    for log in "$work"/*.log; do
        [ -s "$log" ] && { echo "--- ${log##*/}"; tail -n 40 "$log"; } >&2
    done
    exit 1
}

prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 || fail "install"
library=$(find "$prefix" -name 'libsluice-client.so.0')
[ -n "$library" ] || fail "libsluice-client.so.0 was not installed"

# Nothing but the public names is shown.
nm -D --defined-only -C "$library" >"$work/names.log"
strangers=$(grep -v -e ' sluice::client::' -e 'for sluice::client::' -e ' SLUICE_CLIENT_0' \
    "$work/names.log" || true)
[ -z "$strangers" ] || fail "the library shows more than sluice::client: $strangers"
if grep -q -e EngineLink -e HttpConnection -e JsonReader "$work/names.log"; then
    fail "the library shows its insides"
fi

# Every header stands alone, with what is installed and nothing else.
for header in "$prefix"/include/sluice/*.hpp; do
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only \
        -I "$prefix/include" -include "$header" -x c++ /dev/null >"$work/header.log" 2>&1 ||
        fail "${header##*/} does not compile alone"
done

cp -R "$example" "$work/by_cmake"
cp -R "$example" "$work/by_make"
cmake -S "$work/by_cmake" -B "$work/by_cmake/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_FLAGS="-O0" >"$work/configure.log" 2>&1 || fail "find_package(sluice)"
cmake --build "$work/by_cmake/build" >"$work/cmake.log" 2>&1 || fail "build with CMake"
pc_folder=$(dirname "$(find "$prefix" -name sluice-client.pc)")
PKG_CONFIG_PATH=$pc_folder make -C "$work/by_make" CXXFLAGS="-O0 -Wall -Wextra" \
    >"$work/make.log" 2>&1 || fail "build with pkg-config"

"$prefix/bin/sluice" serve --no-auth --listen 127.0.0.1:0 --store memory: >"$work/engine.log" 2>&1 &
pids="$pids $!"
server=
tries=0
while [ -z "$server" ]; do
    address=$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$work/engine.log" | head -n 1)
    [ -z "$address" ] || server=http://${address#http://}
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || fail "the engine does not come up"
    [ -n "$server" ] || sleep 0.05
done

"$work/by_cmake/build/worker" "$server" >"$work/worker.log" 2>&1 &
worker=$!
pids="$pids $worker"
for submit in "$work/by_cmake/build/submit" "$work/by_make/submit"; do
    result=$("$submit" '"to be or not to be"' "$server" 2>"$work/submit.log") || fail "$submit"
    [ "$result" = '{"words":6}' ] || fail "the result is $result"
    grep -q counting "$work/submit.log" || fail "the log line is missing"
done
kill "$worker"
wait "$worker" || fail "the worker did not end cleanly"

# The other worker, and a job that fails for good.
"$work/by_make/worker" "$server" >"$work/worker.log" 2>&1 &
pids="$pids $!"
if "$work/by_make/submit" '""' "$server" >"$work/submit.log" 2>&1; then
    fail "a job without words must fail"
fi
grep -q 'empty_text: there is nothing to count' "$work/submit.log" || fail "the error is missing"
echo "client_install_test: ok"
