# Writes what was measured about workers as Markdown, from figures as figures.awk reads them. Variables:
# see write_workers in bench/workers.sh.

END {
    print "# Benchmark results: workers\n"
    printf "Taken %s with `%s`, on %s, %d cores. Medians.\n\n", day, command, cpu, cores
    print "## In the engine's process\n"
    print "Jobs that do nothing, queued before the clock starts: claim, run, report, each commit on disk.\n"
    print "| jobs at once | jobs/s | commits/s | CPU µs/job |"
    print "|---|---|---|---|"
    for (i = 1; i <= 64; i *= 8)
        printf "| %d | %.0f | %.0f | %.0f |\n", i, median("runner.c" i ".rate"),
            median("runner.c" i ".commits"), median("runner.c" i ".cpu")
    print "\n## A command per job\n"
    print "`sluice work --exec /bin/true` against an engine on the same machine, and what plain `posix_spawn`"
    print "and wait of the same program reach there.\n"
    spawned = median("spawn.spawn_rate_" at_once)
    print "| what | a second | of plain posix_spawn |"
    print "|---|---|---|"
    printf "| posix_spawn, one after the other | %.0f | |\n", median("spawn.spawn_rate_1")
    printf "| posix_spawn, %d at once | %.0f | 1 |\n", at_once, spawned
    printf "| `sluice work`, %d at once, engine and store included | %.0f | %.2f |\n", at_once,
        median("work.rate"), median("work.rate") / spawned
}
