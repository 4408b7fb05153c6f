# Reads figures ("name value" a line; a name with several values stands for their median) and writes
# the results as Markdown. Variables: see write_results in bench/run.

{ values[$1, ++count[$1]] = $2 }

function median(name,    i, j, n, v, sorted) {
    n = count[name]
    if (n == 0) return -1
    for (i = 1; i <= n; i++) {
        v = values[name, i]
        for (j = i - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = v + 0
    }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function most(name,    i, found) {
    for (i = 1; i <= count[name]; i++) if (values[name, i] + 0 > found) found = values[name, i] + 0
    return found + 0
}

function better(a, b) { return a > b ? a : b }

function thousands(x,    text, out) {
    text = sprintf("%.0f", x)
    while (length(text) > 3) {
        out = "," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}

function range(name,    i, low, high) {
    if (count[name] < 2) return ""
    low = high = values[name, 1] + 0
    for (i = 2; i <= count[name]; i++) {
        if (values[name, i] + 0 < low) low = values[name, i] + 0
        if (values[name, i] + 0 > high) high = values[name, i] + 0
    }
    return " (" thousands(low) " – " thousands(high) ")"
}

# One line of the table of rates.
function rate_row(what, name,    rate) {
    rate = median(name ".rate")
    printf "| %-51s | %s | %.3f | %.2f / %.2f | %.1f | %.1f |\n", what,
        thousands(rate) range(name ".rate"), rate / n, median(name ".answer_p50_ms"),
        median(name ".answer_p99_ms"), median(name ".server_cpu_us"), median(name ".client_cpu_us")
}

function deep_row(what, name, empty) {
    printf "| %-44s | %s | %s | %.2f |\n", what, thousands(median(name ".rate")) range(name ".rate"),
        thousands(median(empty ".rate")), median(name ".rate") / median(empty ".rate")
}

function pickup_row(what, name) {
    printf "| %-44s | %.2f | %.2f | %.2f |\n", what, median(name ".p50_ms"), median(name ".p99_ms"),
        median(name ".max_ms")
}

function bar(what, wanted, measured, passes) {
    printf "| %-58s | %-9s | %-9s | %s |\n", what, wanted, measured, passes ? "pass" : "**miss**"
    if (!passes) misses++
}

function at_least(what, wanted, measured, unit) {
    bar(what, sprintf(">= %g%s", wanted, unit), sprintf("%.3g%s", measured, unit), measured >= wanted)
}

function at_most(what, wanted, measured, unit) {
    bar(what, sprintf("<= %g%s", wanted, unit), sprintf("%.3g%s", measured, unit), measured <= wanted)
}

function write_head() {
    print "# Benchmark results\n"
    printf "Taken %s with `%s`: %s s a point", day, command, seconds
    if (rounds > 1) printf ", where a range is given the median of %d", rounds
    print ".\n"
    printf "- machine: %s, %d cores, Linux %s; stores on %s, fdatasync of 4 kB %.0f µs (median of 1 s)\n",
        cpu, cores, kernel, disk, median("disk.p50_ms") * 1000
    printf "- %s, store SQLite, every answer after its commit is on disk; nginx %s; beanstalkd %s\n",
        engine, nginx_version, beanstalkd_version
    printf "- client, engine and store share the cores; other work kept %.2f cores busy before and %.2f after the run\n",
        values["noise", 1], values["noise", 2]
    printf "- N, what one nginx worker answers with `return 200` and 200 bytes to `wrk -t1 -c64`: "
    printf "%s at the start, %s at the end, mean **%s requests/s**\n\n",
        thousands(values["nginx", 1]), thousands(values["nginx", 2]), thousands(n)
}

function write_rates() {
    print "## Throughput\n"
    print "A cycle is submit, claim, report. Jobs have a payload of about 150 bytes. The share of N is jobs/s over requests/s.\n"
    printf "| %-51s | jobs/s | of N | answer p50 / p99 ms | engine CPU µs/job | client CPU µs/job |\n", "what"
    print "|---|---|---|---|---|---|"
    rate_row("submit, 1 connection", "submit.c1")
    rate_row("submit, 8 connections", "submit.c8")
    rate_row("submit, 64 connections", "submit.c64")
    rate_row("submit, 1000 a request, 4 connections", "submit.batch")
    rate_row("cycle, 1 connection", "cycle.c1")
    rate_row("cycle, 8 connections", "cycle.c8")
    rate_row("cycle, 64 connections", "cycle.c64")
    rate_row("cycle, 100 a request, 16 connections", "cycle.batch")
    rate_row("drain (claim, report), 64 connections", "drain.c64")
    rate_row("drain, 100 a request, 16 connections", "drain.batch")
    rate_row("beanstalkd, fsync each: put, 32 connections", "beanstalkd.put.c32")
    rate_row("beanstalkd: put, 100 a write, 4 connections", "beanstalkd.put.batch")
    rate_row("beanstalkd: reserve, delete, 32 connections", "beanstalkd.drain.c32")
    rate_row("beanstalkd: reserve, delete, 100 a write, 4 conn.", "beanstalkd.drain.batch")
}

function write_deep() {
    printf "\n## With %s jobs queued\n\n", thousands(deep)
    printf "| %-44s | jobs/s | empty engine | ratio |\n", "what"
    print "|---|---|---|---|"
    deep_row("submit, 64 connections, same queue", "deep.submit.c64", "submit.c64")
    deep_row("cycle, 64 connections, same queue", "deep.cycle.c64", "cycle.c64")
    deep_row("cycle, 100 a request, same queue", "deep.cycle.batch", "cycle.batch")
    deep_row("cycle, 64 connections, another queue", "deep.other.c64", "cycle.c64")
    printf "\nFilled at %s jobs/s. From exec to ready: %.2f s after a clean stop, %.2f s after a kill. ",
        thousands(median("deep.fill.rate")), median("start.deep"), median("start.killed")
    print "Files were in the page cache."
    printf "Resident memory: %.0f MB at start; %.0f MB after filling, %.0f MB after a restart, %.0f MB after all of the above.\n",
        median("memory.start"), median("memory.filled"), median("memory.deep"), median("memory.worked")
    print "\n## Pickup\n"
    print "From just before the submit to the answer of a claim that waits on another connection, idle engine.\n"
    printf "| %-44s | p50 ms | p99 ms | max ms |\n", "what"
    print "|---|---|---|---|"
    pickup_row("nothing queued", "pickup")
    pickup_row(thousands(deep) " jobs in another queue", "deep.pickup")
}

function write_bars(    put, drain) {
    put = better(median("beanstalkd.put.c32.rate"), median("beanstalkd.put.batch.rate"))
    drain = better(median("beanstalkd.drain.c32.rate"), median("beanstalkd.drain.batch.rate"))
    print "\n## Bars\n"
    printf "| %-58s | wanted    | measured  | |\n", "what"
    print "|---|---|---|---|"
    at_least("submits, 64 connections", 0.22, median("submit.c64.rate") / n, " N")
    at_least("cycles, 64 connections", 0.065, median("cycle.c64.rate") / n, " N")
    at_least("cycles, 100 a request", 0.20, median("cycle.batch.rate") / n, " N")
    at_least("submits over beanstalkd's best", 4, median("submit.c64.rate") / put, "x")
    at_least("drain, 100 a request, over beanstalkd's best", 3, median("drain.batch.rate") / drain, "x")
    at_least("drain, one at a time, over beanstalkd's best", 3, median("drain.c64.rate") / drain, "x")
    at_most("pickup p50", 1, median("pickup.p50_ms"), " ms")
    at_most("pickup p99", 5, median("pickup.p99_ms"), " ms")
    deep_bars()
    printf "\n%s\n", misses ? misses " missed." : "All passed."
}

function deep_bars(    many) {
    many = thousands(deep) " queued: "
    at_least(many "submits, 64 connections, to empty", 0.9, ratio("deep.submit.c64", "submit.c64"), "")
    at_least(many "cycles, 64 connections, to empty", 0.9, ratio("deep.cycle.c64", "cycle.c64"), "")
    at_least(many "cycles, 100 a request, to empty", 0.9, ratio("deep.cycle.batch", "cycle.batch"), "")
    at_most(many "pickup p50", 1, median("deep.pickup.p50_ms"), " ms")
    at_most(many "pickup p99", 5, median("deep.pickup.p99_ms"), " ms")
    at_most(many "start", 3, median("start.deep"), " s")
    at_most(many "memory, the most seen", 250, better(most("memory.deep"), most("memory.filled")), " MB")
}

function ratio(name, empty) { return median(name ".rate") / median(empty ".rate") }

END {
    n = (values["nginx", 1] + values["nginx", 2]) / 2
    write_head()
    write_rates()
    write_deep()
    write_bars()
}
