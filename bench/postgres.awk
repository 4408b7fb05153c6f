# Writes what was measured on PostgreSQL as Markdown, from figures as figures.awk reads them.
# Variables: see write_postgres in bench/postgres.sh.

function has(name) { return count[name ".rate"] > 0 }

function rate_or_dash(name) { return has(name) ? rate_text(name) : "–" }

# what | SQLite | one node | three nodes | share of N | answers | CPU, the last three of one node
function row(what, point) {
    printf "| %-36s | %-24s | %-24s | %-24s | %.3f | %.2f / %.2f | %.1f / %.1f / %.1f |\n", what,
        rate_or_dash("sqlite." point), rate_text("one." point), rate_or_dash("three." point),
        median("one." point ".rate") / n,
        median("one." point ".answer_p50_ms"), median("one." point ".answer_p99_ms"),
        median("one." point ".server_cpu_us"), median("one." point ".store_cpu_us"),
        median("one." point ".client_cpu_us")
}

function peer_row(what, name, ours) {
    if (has(name))
        printf "| %-44s | %-24s | %.2f |\n", what, rate_text(name), ratio(ours, name)
}

function write_head() {
    print "# Benchmark results: PostgreSQL\n"
    printf "Taken %s with `%s`: %s s a point", day, command, seconds
    if (rounds > 1) printf ", and where a range is given the median of %d", rounds
    print ".\n"
    printf "- Machine: %s, %d cores, Linux %s; load average at the end %s.\n", cpu, cores, kernel,
        load_average
    printf "- Stores on %s; to append 4 kB and fdatasync took %.0f µs.\n", disk,
        median("disk.p50_ms") * 1000
    printf "- %s; %s: shared_buffers 256 MB, max_wal_size 4 GB, all else as it\n", engine, database
    print "  comes, with fsync, full_page_writes and synchronous_commit on."
    print "- Client, nodes and PostgreSQL share the cores. Other programs and the kernel used up to"
    printf "  %.2f cores during a point; ~ marks figures with more than %s.\n", noisiest, noise_max
    print "- N is what one nginx worker answers to `wrk -t1 -c64` (`return 200`, 200 bytes):"
    printf "  %s at the start, %s at the end, mean **%s requests/s**%s.\n\n",
        thousands(values["nginx.rate", 1]), thousands(values["nginx.rate", 2]), thousands(n),
        (most("nginx.noise") > noise_max ? " ~" : "")
}

function write_rates() {
    print "## PostgreSQL\n"
    printf "Jobs/s. A cycle is submit, claim, report. A drain starts with %s jobs queued and has\n",
        thousands(drain_jobs)
    print "two worker processes with four connections each. The last three columns are those of one"
    print "node: its share of N, how long answers took, and CPU time for a job in the node, in PostgreSQL"
    print "and in the client.\n"
    print "| what | SQLite | PostgreSQL, one node | three nodes | of N | p50 / p99 ms |" \
        " CPU µs/job |"
    print "|---|---|---|---|---|---|---|"
    row("submit, 64 connections", "submit.c64")
    row("cycle, 64 connections", "cycle.c64")
    row("cycle, 100 a request, 16 connections", "cycle.batch")
    row("drain, 100 a request", "drain")
}

function write_pickup() {
    print "\nPickup, from just before a submit to the answer of a claim that waits, ms:\n"
    print "| what | p50 | p99 | max |"
    print "|---|---|---|---|"
    pickup_row("SQLite", "sqlite.pickup")
    pickup_row("PostgreSQL, one node", "one.pickup")
    pickup_row("submit on one node, claim on another", "two.pickup")
}

function pickup_row(what, name) {
    printf "| %-36s | %.2f | %.2f | %.2f |\n", what mark(name), median(name ".p50_ms"),
        median(name ".p99_ms"), median(name ".max_ms")
}

function write_deep() {
    printf "\nWith %s jobs queued (filled at %s jobs/s), one node:\n\n", thousands(deep),
        thousands(median("deep.fill.rate"))
    print "| what | jobs/s | with none | ratio |"
    print "|---|---|---|---|"
    printf "| %-36s | %s | %s | %.2f |\n", "cycle, 64 connections", rate_text("deep.cycle.c64"),
        thousands(median("one.cycle.c64.rate")), ratio("deep.cycle.c64", "one.cycle.c64")
    printf "| %-36s | %s | %s | %.2f |\n", "drain, 100 a request", rate_text("deep.drain"),
        thousands(median("one.drain.rate")), ratio("deep.drain", "one.drain")
    printf "\nAn idle node with 100 claims that wait: %.2f transactions a second.\n",
        median("idle.transactions")
}

function write_peers() {
    if (!has("graphile.drain")) return
    print "\nOthers on the same server, and one node over them:\n"
    print "| what | jobs/s | ratio |"
    print "|---|---|---|"
    peer_row("graphile-worker's fast preset, 2 processes: drain", "graphile.drain", "one.drain")
    peer_row("pg-boss, batches of 1000, 2 processes: drain", "pgboss.drain", "one.drain")
    peer_row("graphile-worker: 32 submits outstanding", "graphile.submit", "one.submit.c64")
    peer_row("pg-boss: 32 submits outstanding", "pgboss.submit", "one.submit.c64")
}

# The mean of a minute, from parts of ten seconds; the very last part may be missing.
function minute_mean(name, minute,    i, sum, parts) {
    for (i = (minute - 1) * 6 + 1; i <= minute * 6 && i <= count["steady." name]; i++) {
        sum += values["steady." name, i]
        parts++
    }
    return parts ? sum / parts : 0
}

function write_steady(    minute, slices) {
    slices = count["steady.slice_rate"]
    minutes = int((slices + 1) / 6)
    if (minutes < 2) return
    printf "\n%d minutes of whole cycles, 64 connections, one node:\n\n", minutes
    print "| minute | jobs/s | CPU µs/job | `ready` MB | `lease` MB | `seat` MB | database MB |"
    print "|---|---|---|---|---|---|---|"
    for (minute = 1; minute <= minutes; minute++)
        printf "| %d | %s | %.0f | %.1f | %.1f | %.2f | %s |\n", minute,
            thousands(minute_mean("slice_rate", minute)), minute_mean("slice_cpu_us", minute),
            values["steady.size.ready", minute], values["steady.size.lease", minute],
            values["steady.size.seat", minute], thousands(values["steady.size.whole", minute])
}

function write_bars(    best) {
    write_bars_head()
    if (has("graphile.drain")) {
        bar("drain to graphile-worker's fast preset", ">=", 1.1,
            ratio("one.drain", "graphile.drain"), "x", "one.drain graphile.drain")
        bar("drain to pg-boss", ">=", 1.6, ratio("one.drain", "pgboss.drain"), "x",
            "one.drain pgboss.drain")
        best = better(median("graphile.submit.rate"), median("pgboss.submit.rate"))
        bar("submits, 64 connections, to the best of them", ">=", 8,
            median("one.submit.c64.rate") / best, "x", "one.submit.c64")
    }
    bar("cycles, 64 connections", ">=", 0.04, median("one.cycle.c64.rate") / n, " N",
        "one.cycle.c64 nginx")
    bar("pickup, one node, p50", "<=", 3, median("one.pickup.p50_ms"), " ms", "one.pickup")
    bar("pickup, one node, p99", "<=", 10, median("one.pickup.p99_ms"), " ms", "one.pickup")
    bar("pickup, from node to node, p50", "<=", 3, median("two.pickup.p50_ms"), " ms", "two.pickup")
    bar("pickup, from node to node, p99", "<=", 10, median("two.pickup.p99_ms"), " ms",
        "two.pickup")
    bar(thousands(deep) " queued: cycles to none", ">=", 0.8,
        ratio("deep.cycle.c64", "one.cycle.c64"), "", "deep.cycle.c64 one.cycle.c64")
    bar(thousands(deep) " queued: drain to none", ">=", 0.8, ratio("deep.drain", "one.drain"), "",
        "deep.drain one.drain")
    bar("idle node, 100 claims wait, transactions/s", "<=", 1, median("idle.transactions"), "", "")
    if (minutes >= 3)
        bar("steady load, last minute to the second", ">=", 0.85,
            minute_mean("slice_rate", minutes) / minute_mean("slice_rate", 2), "", "steady")
    write_misses()
    if (noisiest > noise_max) print "Some points were disturbed (~): run again on a calm machine."
}

END {
    n = (values["nginx.rate", 1] + values["nginx.rate", 2]) / 2
    write_head()
    write_rates()
    write_pickup()
    write_deep()
    write_peers()
    write_steady()
    write_bars()
}
