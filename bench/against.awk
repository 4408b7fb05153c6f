# Compares two binaries, from figures as figures.awk reads them. Variables: see write_against in
# bench/against.sh. A ratio above 1 is in favour of the new one.

# CPU time of the engine and, where it has a process of its own, of the store.
function cpu(name) {
    return median(name ".server_cpu_us") + (count[name ".store_cpu_us"] ? median(name ".store_cpu_us") : 0)
}

function row(name, text,    old, now, cpu_old, cpu_new) {
    old = median("old." name ".rate")
    now = median("new." name ".rate")
    cpu_old = cpu("old." name)
    cpu_new = cpu("new." name)
    printf "| %-36s | %8.0f | %8.0f | %.3f | %6.1f | %6.1f | %.3f |\n", text, old, now, now / old,
        cpu_old, cpu_new, cpu_old / cpu_new
    if (now / old < 0.97 && cpu_old / cpu_new < 0.97) missed++
}

END {
    printf "Medians of %d turns of %s s each, the binaries alternating.\n\n", rounds, seconds
    print "| what | old jobs/s | new jobs/s | ratio | old CPU µs/job | new | ratio |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= split("sqlite postgres", stores, " "); i++) {
        row(stores[i] ".submit", stores[i] ": submit")
        row(stores[i] ".cycle", stores[i] ": submit, claim, report")
        row(stores[i] ".batch", stores[i] ": the same, 100 a request")
        row(stores[i] ".claim", stores[i] ": claim, report of what waits")
        row(stores[i] ".deploy", stores[i] ": deploy's create, claim, report")
    }
    if (missed) printf "\n%d rows are below 0.97 in rate and in CPU time.\n", missed
    exit missed > 0
}
