#!/usr/bin/env bash
# Runs the example against the engine at SLUICE_URL, which must have the demo executors.
set -euo pipefail
cd "$(dirname "$0")"
: "${SLUICE_URL:?say where the engine is, such as http://127.0.0.1:7070}"

said=$(./follow.py demo.hello '{"name":"Ada"}')
echo "$said"
grep -q '^  info  Hello, Ada!$' <<<"$said"
grep -q '^success {"greeting": "Hello, Ada!"}$' <<<"$said"

# One attempt, so this one fails: a retry would be a new job.
if said=$(./follow.py demo.flaky); then
    echo "demo.flaky must fail in its only attempt" >&2
    exit 1
fi
echo "$said"
grep -q '^failed null$' <<<"$said"
