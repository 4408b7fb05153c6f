#!/usr/bin/env bash
# Prints the part of ctest's log about failed tests, short enough to read: of test programs the
# failures with their names, and the test that was cut off; of scripts their last lines.
set -euo pipefail
log=${1:?usage: failures.sh build/Testing/Temporary/LastTest.log}

awk -v all_max=150 -v program_max=60 -v start_max=4 -v case_max=25 -v script_max=30 '
    function say(text) {
        if (++said > program_max || ++said_in_all > all_max) return
        print said == program_max || said_in_all == all_max ? "    and more" : substr(text, 1, 400)
    }

    # The first lines, then those from the first failure on, or the closing ones if none is named.
    function say_lines(first, last,    i, from) {
        for (from = first; from < last && lines[from] !~ /: Failure$/; ++from) {}
        if (from == last && last - case_max > first) from = last - case_max
        else if (from == last) from = first
        for (i = first; i < from && i - first < start_max; ++i) say(lines[i])
        if (i < from) say("    ...")
        for (i = from; i < last && i - from < case_max; ++i) say(lines[i])
        if (i < last) say("    ...")
        say(lines[last])
    }

    # Lines between the start of a test and its end belong to that test.
    function say_cases(    i, line, start) {
        for (i = 1; i <= count; ++i) {
            line = lines[i]
            if (line ~ /^\[ RUN  |Global test environment tear-down/) start = i
            if (line ~ /^\[  FAILED  \].*ms\)$/) say_lines(start + 1, i)
            if (line ~ /^\[==========\].* ran\./ && start && i > start + 1) say_lines(start + 1, i - 1)
            if (line ~ /^\[       OK|^\[  SKIPPED|^\[  FAILED|^\[==========\]/) start = 0
        }
        if (start) say_lines(start, count)
    }

    /^[0-9]+\/[0-9]+ Testing: / { name = $3 }
    /^<end of output>$/ { inside = 0 }
    inside { lines[++count] = $0; if ($0 ~ /^\[==========\]/) is_gtest = 1 }
    /^Output:$/ { getline; inside = 1; count = is_gtest = 0 }
    /^Test Failed\.$/ {
        said = 0
        say("── " name)
        if (is_gtest) say_cases()
        else for (i = count > script_max ? count - script_max + 1 : 1; i <= count; ++i) say(lines[i])
    }
' "$log"
