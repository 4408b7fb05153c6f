# Writes the results as Markdown, from figures as figures.awk reads them. Variables: see write_results in bench/run.

function rate_row(what, name) {
    printf "| %-50s | %-24s | %.3f | %6.2f / %6.2f | %6.1f | %5.1f |\n",
        what, rate_text(name), median(name ".rate") / n,
        median(name ".answer_p50_ms"), median(name ".answer_p99_ms"),
        median(name ".server_cpu_us"), median(name ".client_cpu_us")
}

function pickup_row(what, name) {
    printf "| %-36s | %.2f | %.2f | %.2f |\n",
        what mark(name), median(name ".p50_ms"), median(name ".p99_ms"), median(name ".max_ms")
}

function write_head() {
    print "# Benchmark results\n"
    printf "Taken %s with `%s`: %s s a point", day, command, seconds
    if (rounds > 1) printf ", and where a range is given the median of %d", rounds
    print ".\n"
    printf "- Machine: %s, %d cores, Linux %s.\n", cpu, cores, kernel
    printf "- Stores on %s; to append 4 kB and fdatasync took %.0f µs before, %.0f µs after.\n",
        disk, values["disk.p50_ms", 1] * 1000, values["disk.p50_ms", 2] * 1000
    printf "- %s with SQLite, each answer after its commit is on disk; nginx %s; beanstalkd %s.\n",
        engine, nginx_version, beanstalkd_version
    print "- Client, engine and store share the cores. Other programs and the kernel used up to"
    printf "  %.2f cores during a point; ~ marks figures with more than %s.\n", noisiest, noise_max
    print "- N is what one nginx worker answers to `wrk -t1 -c64` (`return 200`, 200 bytes):"
    printf "  %s at the start, %s at the end, mean **%s requests/s**%s.\n\n",
        thousands(values["nginx.rate", 1]), thousands(values["nginx.rate", 2]), thousands(n),
        (most("nginx.noise") > noise_max ? " ~" : "")
}

function write_rates() {
    print "## Throughput\n"
    print "A cycle is submit, claim, report. The share of N is jobs/s over requests/s."
    print "beanstalkd flushes every record (`-f 0`).\n"
    printf "| %-50s | jobs/s | of N | answer p50 / p99 ms | server | client CPU µs/job |\n", "what"
    print "|---|---|---|---|---|---|"
    rate_row("submit, 1 connection", "submit.c1")
    rate_row("submit, 8 connections", "submit.c8")
    rate_row("submit, 64 connections", "submit.c64")
    rate_row("submit, 1000 a request, 4 connections", "submit.batch")
    rate_row("cycle, 1 connection", "cycle.c1")
    rate_row("cycle, 8 connections", "cycle.c8")
    rate_row("cycle, 64 connections", "cycle.c64")
    rate_row("cycle, 100 a request, 16 connections", "cycle.batch")
    rate_row("claim, report from a full queue, 64 connections", "drain.c64")
    rate_row("the same, 100 a request, 16 connections", "drain.batch")
    rate_row("beanstalkd: put, 32 connections", "beanstalkd.put.c32")
    rate_row("beanstalkd: put, 100 a write, 4 connections", "beanstalkd.put.batch")
    rate_row("beanstalkd: reserve, delete, 32 connections", "beanstalkd.drain.c32")
    rate_row("beanstalkd: the same, 100 a write, 4 connections", "beanstalkd.drain.batch")
    printf "\nResident memory at start with nothing queued: %.0f MB.\n", median("memory.start")
}

function write_pickup() {
    print "\n## Pickup\n"
    print "From just before a submit to the answer of a claim that waits on another connection;"
    print "idle engine.\n"
    printf "| %-36s | p50 ms | p99 ms | max ms |\n", "what"
    print "|---|---|---|---|"
    pickup_row("nothing queued", "pickup")
    pickup_row(thousands(deep) " jobs in another queue", "deep.pickup")
}

function write_access() {
    print "\n## Access\n"
    print "The same with a token in every request and without, in turns.\n"
    printf "| %-36s | with a token, jobs/s | without | ratio |\n", "what"
    print "|---|---|---|---|"
    deep_row("cycle, 64 connections", "access.token.cycle.c64", "access.open.cycle.c64")
    deep_row("submit, 64 connections", "access.token.submit.c64", "access.open.submit.c64")
}

function write_bars(    put, drain) {
    put = better(median("beanstalkd.put.c32.rate"), median("beanstalkd.put.batch.rate"))
    drain = better(median("beanstalkd.drain.c32.rate"), median("beanstalkd.drain.batch.rate"))
    write_bars_head()
    bar("submits, 64 connections", ">=", 0.22, median("submit.c64.rate") / n, " N",
        "submit.c64 nginx")
    bar("cycles, 64 connections", ">=", 0.065, median("cycle.c64.rate") / n, " N",
        "cycle.c64 nginx")
    bar("cycles, 100 a request", ">=", 0.20, median("cycle.batch.rate") / n, " N",
        "cycle.batch nginx")
    bar("submits to beanstalkd's best", ">=", 4, median("submit.c64.rate") / put, "x",
        "submit.c64 beanstalkd.put.c32 beanstalkd.put.batch")
    bar("drain, 100 a request, to its best", ">=", 3, median("drain.batch.rate") / drain, "x",
        "drain.batch beanstalkd.drain.c32 beanstalkd.drain.batch")
    bar("drain, one a request, to its best", ">=", 3, median("drain.c64.rate") / drain, "x",
        "drain.c64 beanstalkd.drain.c32 beanstalkd.drain.batch")
    bar("pickup p50", "<=", 1, median("pickup.p50_ms"), " ms",
        "pickup")
    bar("pickup p99", "<=", 5, median("pickup.p99_ms"), " ms",
        "pickup")
    bar("cycles with a token to without", ">=", 0.95,
        ratio("access.token.cycle.c64", "access.open.cycle.c64"), "",
        "access.token.cycle.c64 access.open.cycle.c64")
    bar("submits with a token to without", ">=", 0.95,
        ratio("access.token.submit.c64", "access.open.submit.c64"), "",
        "access.token.submit.c64 access.open.submit.c64")
    write_deep_bars(thousands(deep) " queued: ")
    write_misses()
    if (noisiest > noise_max) print "Some points were disturbed (~): run again on a calm machine."
}

END {
    n = (values["nginx.rate", 1] + values["nginx.rate", 2]) / 2
    write_head()
    write_rates()
    write_deep()
    write_pickup()
    write_access()
    write_bars()
}
