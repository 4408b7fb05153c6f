# An engine with very many jobs queued beside an empty one, from figures as figures.awk reads them. A
# part of the whole report; with deep_only all that is written.

function deep_row(what, name, empty) {
    printf "| %-36s | %-24s | %-8s | %.2f |\n",
        what, rate_text(name), thousands(median(empty ".rate")), ratio(name, empty)
}

function write_deep() {
    printf "\n## With %s jobs queued\n\n", thousands(deep)
    printf "| %-36s | jobs/s | empty engine | ratio |\n", "what"
    print "|---|---|---|---|"
    deep_row("submit, 64 connections, same queue", "deep.submit.c64", "empty.submit.c64")
    deep_row("cycle, 64 connections, same queue", "deep.cycle.c64", "empty.cycle.c64")
    deep_row("cycle, 100 a request, same queue", "deep.cycle.batch", "empty.cycle.batch")
    deep_row("cycle, 64 connections, another queue", "deep.other.c64", "empty.other.c64")
    printf "\nFilled at %s jobs/s. ", thousands(median("deep.fill.rate"))
    printf "From exec to ready, files in the page cache: %.2f s after a clean stop,\n",
        median("start.deep")
    printf "%.2f s after a kill. Resident memory: %.0f MB after filling,\n",
        median("start.killed"), median("memory.filled")
    printf "%.0f MB after a restart, %.0f MB after all of the above.\n",
        median("memory.deep"), median("memory.worked")
}

function write_deep_bars(many) {
    bar(many "submits to empty", ">=", 0.92, ratio("deep.submit.c64", "empty.submit.c64"), "",
        "empty.submit.c64 deep.submit.c64")
    bar(many "cycles to empty", ">=", 0.92, ratio("deep.cycle.c64", "empty.cycle.c64"), "",
        "empty.cycle.c64 deep.cycle.c64")
    bar(many "batch cycles to empty", ">=", 0.92, ratio("deep.cycle.batch", "empty.cycle.batch"), "",
        "empty.cycle.batch deep.cycle.batch")
    bar(many "cycles of another queue to empty", ">=", 0.92,
        ratio("deep.other.c64", "empty.other.c64"), "", "empty.other.c64 deep.other.c64")
    bar(many "pickup p50", "<=", 1, median("deep.pickup.p50_ms"), " ms",
        "deep.pickup")
    bar(many "pickup p99", "<=", 5, median("deep.pickup.p99_ms"), " ms",
        "deep.pickup")
    bar(many "start", "<=", 3, median("start.deep"), " s", "")
    bar(many "memory", "<=", 250, better(most("memory.deep"), most("memory.filled")), " MB", "")
}

END {
    if (!deep_only) exit
    write_deep()
    write_bars_head()
    write_deep_bars(thousands(deep) " queued: ")
    write_misses()
}
