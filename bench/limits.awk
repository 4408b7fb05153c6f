# Writes what was measured about rules as Markdown, from figures as figures.awk reads them. Variables:
# see write_limits in bench/limits.sh.

function has(name) { return count[name] > 0 }

# The median of the ratios of each turn to that of the other engine in the same round.
function paired(name, other,    i, list) {
    list = name "/" other
    if (!has(list))
        for (i = 1; i <= count[name] && i <= count[other]; i++)
            if (values[other, i] > 0) values[list, ++count[list]] = values[name, i] / values[other, i]
    return median(list)
}

# CPU time of the engine and of PostgreSQL for a job.
function cpu_time(name) {
    if (!has(name ".store_cpu_us")) return median(name ".server_cpu_us")
    return median(name ".server_cpu_us") + median(name ".store_cpu_us")
}

function cost_row(what, name, base) {
    printf "| %-52s | %8s | %8s | %.3f | %6.1f | %6.1f |\n", what, thousands(median(base ".rate")),
        thousands(median(name ".rate")), paired(name ".rate", base ".rate"), cpu_time(base), cpu_time(name)
}

function cost_rows(what, name, base) {
    cost_row(what ": submit", name ".submit", base ".submit")
    cost_row(what ": submit, claim, report", name ".cycle", base ".cycle")
    cost_row(what ": the same, 100 a request", name ".batch", base ".batch")
    cost_row(what ": claim, report of what waits", name ".claim", base ".claim")
}

function cost_head(title, text, base) {
    print "\n### " title "\n\n" text "\n"
    print "| what | " base " jobs/s | jobs/s | ratio | " base " CPU µs/job | CPU µs/job |"
    print "|---|---|---|---|---|---|"
}

function write_head() {
    print "# Benchmark results: limits\n"
    printf "Taken %s with `%s`.\n\n", day, command
    printf "- Machine: %s, %d cores, Linux %s; load average at the end %s.\n", cpu, cores, kernel,
        load_average
    printf "- Stores on %s; appending 4 kB and fdatasync took %.0f µs.\n", disk,
        median("disk.p50_ms") * 1000
    printf "- %s; %s with the settings of\n", engine, database
    print "  [results-postgres.md](results-postgres.md)."
    printf "- Costs were measured in %d turns of %s s, the engines alternating; the ratio is the median of the\n",
        turns, turn_seconds
    print "  ratios of each round. CPU time is that of the engine and of PostgreSQL."
    printf "- Client, engines and PostgreSQL share the cores. Other programs and the kernel used up to %.2f cores\n",
        noisiest
    print "  during a turn."
}

function write_cover(store) {
    if (!has(store ".open.cycle.rate")) return
    cost_head("A rule that never binds", "Without rules, and with one that covers all jobs.", "without")
    cost_rows("`max_active`, `per: []`", store ".all", store ".open")
    cost_rows("`per: [tenant]`", store ".tenant", store ".open")
    cost_rows("`per: [tenant, type]`", store ".type", store ".open")
    cost_rows("`rate`, `per: []`", store ".rate", store ".open")
}

function write_quotas(store) {
    if (!has(store ".tenants.cycle.rate")) return
    cost_head(thousands(tenants) " tenants with a quota each", "Each turn of a connection is for the" \
        " next tenant, with quotas and without.\nOne by one, 16 connections added quotas at " \
        thousands(values[store ".quotas.add.rate", 1]) " a second, then for another engine\nat " \
        thousands(values[store ".quotas.add.rate", 2]) ".", "without")
    cost_rows("`max_active`", store ".quotas", store ".tenants")
    cost_rows("`max_active`, `max_per_hour`", store ".hourly", store ".tenants")
}

function write_kept(store) {
    if (has(store ".active.mean_active")) {
        print "\n### Jobs at once\n"
        printf "A limit of %d, 64 connections with jobs of %d ms, and always more jobs that wait.\n\n",
            active_max, hold_ms
        print "| leases open, mean | most at once | jobs/s | at most |"
        print "|---|---|---|---|"
        printf "| %.2f | %d | %.1f | %.1f |\n", median(store ".active.mean_active"),
            median(store ".active.most_held"), median(store ".active.start_rate"),
            active_max * 1000 / hold_ms
    }
    if (has(store ".rate_kept.start_rate")) {
        print "\n### Starts a second\n"
        printf "A rate of %s a second, 64 connections, over %d s, after the bucket was used up.\n\n",
            thousands(rate_wanted), kept_seconds
        print "| starts/s | most starts above what the bucket permits |"
        print "|---|---|"
        printf "| %.1f | %.1f |\n", median(store ".rate_kept.start_rate"),
            median(store ".rate_kept.above_bucket")
    }
}

function write_closed(store) {
    if (!has(store ".closed.cycle.rate")) return
    cost_head(thousands(deep) " jobs in closed lanes", "Four paused sources and four types whose quota" \
        " is used up; claims ask for the queue of these jobs. Without:\nthe same rules and no such" \
        " jobs. Elsewhere: the same jobs without rules, and claims ask for another queue.", "without")
    cost_row("submit, claim, report", store ".closed.cycle", store ".none_closed.cycle")
    cost_row("the same, 100 a request", store ".closed.batch", store ".none_closed.batch")
    cost_row("elsewhere: submit, claim, report", store ".elsewhere.cycle", store ".none_closed.cycle")
    cost_row("elsewhere: the same, 100 a request", store ".elsewhere.batch", store ".none_closed.batch")
}

function idle_row(what, name) {
    if (has(name)) printf "| %s | %.2f | %.2f |\n", what, median(name), median(other_idle(name))
}
function other_idle(name) { sub("idle_open", "idle_closed", name); return name }

function write_idle(store) {
    if (!has(store ".idle_open.cpu_ms")) return
    print "\n### An idle engine\n"
    printf "With 100 claims that wait, a second, over %d s.\n\n", idle_seconds
    print "| what | nothing queued | 8,000 jobs in closed lanes |"
    print "|---|---|---|"
    idle_row("commits of the engine", store ".idle_open.commits")
    idle_row("CPU time of the engine, ms", store ".idle_open.cpu_ms")
    idle_row("statements to PostgreSQL", store ".idle_open.statements")
    idle_row("transactions of PostgreSQL", store ".idle_open.transactions")
}

# The worst of what was measured of an engine, to the other one.
function worst(name, base,    i, points, share, found) {
    found = 1e9
    split("submit cycle batch claim", points, " ")
    for (i in points) {
        if (!has(name "." points[i] ".rate")) continue
        share = paired(name "." points[i] ".rate", base "." points[i] ".rate")
        if (share < found) found = share
    }
    return found
}

function cost_bar(what, wanted, store, name, base) {
    name = store "." name
    base = store "." base
    if (has(name ".cycle.rate"))
        bar(title[store] ": " what, ">=", wanted, worst(name, base), "", name ".cycle " base ".cycle")
}

function write_cost_bars(store) {
    cost_bar("`per: []`", 0.95, store, "all", "open")
    cost_bar("`per: [tenant]`", 0.95, store, "tenant", "open")
    cost_bar("`per: [tenant, type]`", 0.95, store, "type", "open")
    cost_bar(thousands(tenants) " quotas", 0.9, store, "quotas", "tenants")
    cost_bar(thousands(tenants) " quotas with `max_per_hour`", 0.9, store, "hourly", "tenants")
    cost_bar(thousands(deep) " jobs in closed lanes", 0.97, store, "closed", "none_closed")
}

function write_kept_bars(store) {
    if (has(store ".active.mean_active")) {
        bar(title[store] ": mean of " active_max " at once", ">=", store == "sqlite" ? 7.9 : 7.5,
            median(store ".active.mean_active"), "", store ".active")
        bar(title[store] ": most at once", "<=", active_max, median(store ".active.most_held"), "", "")
    }
    if (has(store ".rate_kept.start_rate")) {
        bar(title[store] ": starts/s, of " rate_wanted, ">=", 0.97,
            median(store ".rate_kept.start_rate") / rate_wanted, "", store ".rate_kept")
        bar(title[store] ": starts above the bucket", "<=", 1,
            median(store ".rate_kept.above_bucket"), "", "")
    }
}

function idle_bar(store, what, allowed,    name) {
    name = store ".idle_open." what
    if (has(name))
        bar(title[store] ": idle, closed lanes, " what "/s more", "<=", allowed,
            median(other_idle(name)) - median(name), "", "")
}

function write_store(store) {
    print "\n## " title[store]
    write_cover(store)
    write_quotas(store)
    write_kept(store)
    write_closed(store)
    write_idle(store)
}

END {
    title["sqlite"] = "SQLite"
    title["postgres"] = "PostgreSQL"
    write_head()
    stores_count = split(stores_measured, stores, " ")
    for (i = 1; i <= stores_count; i++) write_store(stores[i])
    write_bars_head()
    for (i = 1; i <= stores_count; i++) {
        write_cost_bars(stores[i])
        write_kept_bars(stores[i])
        idle_bar(stores[i], "commits", 0.1)
        idle_bar(stores[i], "statements", 0.5)
    }
    print "\nOf costs, the worst ratio counts."
    write_misses()
    if (noisiest > noise_max) print "Some points were disturbed (~): run again on a calm machine."
}
