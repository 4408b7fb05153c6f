# Figures: "name value" a line; a name with several values stands for their median. What is written
# of them, and the bars, are the same for all pages of results.

{ values[$1, ++count[$1]] = $2 + 0 }

function median(name,    i, j, n, v, sorted) {
    n = count[name]
    if (n == 0) return -1
    for (i = 1; i <= n; i++) {
        v = values[name, i]
        for (j = i - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = v
    }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

$1 ~ /\.noise$/ && $2 > noisiest { noisiest = $2 }

function least(name,    i, found) {
    found = values[name, 1]
    for (i = 2; i <= count[name]; i++) if (values[name, i] < found) found = values[name, i]
    return found
}

function most(name,    i, found) {
    found = values[name, 1]
    for (i = 2; i <= count[name]; i++) if (values[name, i] > found) found = values[name, i]
    return found
}

function better(a, b) { return a > b ? a : b }

function ratio(name, other) { return median(name ".rate") / median(other ".rate") }

function thousands(x,    text, out) {
    text = sprintf("%.0f", x)
    while (length(text) > 3) {
        out = "," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}

# A mark for what was measured while other programs were at work.
function mark(name) { return median(name ".noise") > noise_max ? " ~" : "" }

# The rate and, when it was measured several times, between what it was.
function rate_text(name,    text) {
    text = thousands(median(name ".rate")) mark(name)
    name = name ".rate"
    if (count[name] < 2) return text
    return text " (" thousands(least(name)) " – " thousands(most(name)) ")"
}

# `from` names what was measured for it.
function bar(what, sign, wanted, measured, unit, from,    passes, names, i, doubt) {
    split(from, names, " ")
    for (i in names) if (mark(names[i])) doubt = " ~"
    passes = sign == ">=" ? measured >= wanted : measured <= wanted
    if (!passes) misses++
    printf "| %-50s | %-10s | %-9s | %s |\n", what, sprintf("%s %g%s", sign, wanted, unit),
        sprintf("%.3g%s", measured, unit), (passes ? "pass" : "**miss**") doubt
}

function write_bars_head() {
    print "\n## Bars\n"
    printf "| %-50s | wanted     | measured  | |\n", "what"
    print "|---|---|---|---|"
}

function write_misses() { printf "\n%s\n", misses ? misses " missed." : "All passed." }
