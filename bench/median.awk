# Figures: "name value" a line; a name with several values stands for their median.

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
