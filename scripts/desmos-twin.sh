#!/bin/sh
# Makes the tables of results/desmos-twin from the results of scenarios/desmos, and prints them as Markdown.
#
#   scripts/desmos-twin.sh figures [FOLDER]        what is published of Desmos beside what flitlab gives; FOLDER/figures.csv
#   scripts/desmos-twin.sh sensitivity [FOLDER]    how much each assumed parameter moves that; FOLDER/sensitivity.csv
#   scripts/desmos-twin.sh hosts [FOLDER]          the all-to-all, if hosts take time for each byte
#
# FOLDER (default: results/desmos-twin) has the points.csv of the sweeps, as its README says. Needs awk.
set -eu
LC_ALL=C
export LC_ALL

fail() {
    echo "desmos-twin: $*" >&2
    exit "${2:-1}"
}

case ${1:-} in
figures | sensitivity | hosts) ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
[ $# -le 2 ] || fail "there are at most two arguments, a table and a folder"
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${2:-$root/results/desmos-twin}

# Prints a sweep's points as lines of series, workload, algorithm, completion time in us, parted by tabs. The columns are
# found by name; a series is called after its keys in the grid, too, which are cut off.
points() {
    [ -f "$1" ] || fail "$1 is missing: the README beside it says which sweep writes it"
    awk -v file="$1" '
        # Parts a line of CSV into field[1..n].
        function part(line,    n, c, i, quoted, text) {
            n = 1; text = ""; quoted = 0
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (c == "\"") {
                    if (quoted && substr(line, i + 1, 1) == "\"") { text = text c; i++ }
                    else quoted = !quoted
                } else if (c == "," && !quoted) { field[n++] = text; text = "" }
                else text = text c
            }
            field[n] = text
            return n
        }
        function stop(why) { print "desmos-twin: " file ": " why > "/dev/stderr"; bad = 1; exit 1 }
        NR == 1 {
            n = part($0)
            for (i = 1; i <= n; i++) at[field[i]] = i
            if (!("series" in at) || !("completion_time_us" in at) || !("routing.angara.algorithm" in at))
                stop("no points of a sweep of scenarios/desmos")
            next
        }
        {
            part($0)
            series = field[at["series"]]
            algorithm = field[at["routing.angara.algorithm"]]
            if (field[at["status"]] != "completed") stop("line " NR ": " series " is not completed")
            sub(", " algorithm "$", "", series)
            workload = series
            if ("application.file" in at) {
                sub(", [^,]*$", "", series)
                workload = field[at["application.file"]]
                sub("[.]goal$", "", workload)
            } else if ("application.schedule" in at) {
                workload = field[at["application.schedule"]]
                if (workload ~ /broadcast/) workload = "ping"
                else if (workload ~ /all-to-all/) workload = "all-to-all"
                else { sub(/^.*benchmark = "/, "", workload); sub(/".*$/, "", workload) }
                sub(", (broadcast|all-to-all|npb) .*$", "", series)
                sub(", " algorithm "$", "", series)
            }
            print series "\t" workload "\t" algorithm "\t" field[at["completion_time_us"]]
        }
        END { if (!bad && NR < 2) stop("no points") }' "$1"
}

figures() {
    table2=$root/results/angara/table2/table.csv
    table3=$root/results/angara/table3/table.csv
    for sweep in twin patterns; do
        points "$folder/$sweep/points.csv"
    done >"$scratch/times"
    awk -v times="$scratch/times" -v table2="$table2" -v table3="$table3" '
        function row(source, what, published, ours, deviation, role) {
            printf "\"%s\",\"%s\",%s,%s,%s,%s\n", source, what, published, ours, deviation, role
        }
        function off(published, ours) {
            return published == 0 ? (ours == 0 ? 0 : "") : sprintf("%.2f", 100 * (ours / published - 1)) + 0
        }
        # A gain in percent, whose deviation is that of the ratio of times.
        function gain(source, what, published, ours) {
            row(source, what, published, sprintf("%.2f", ours) + 0, off(100 + published, 100 + ours), "predicted")
        }
        function over(workload, algorithm, baseline) {
            return 100 * (time[workload, baseline] / time[workload, algorithm] - 1)
        }
        function best(workload,    one, other) {
            one = over(workload, "genetic", "bfs"); other = over(workload, "sssp", "bfs")
            return one > other ? one : other
        }
        BEGIN {
            FS = "\t"
            # Of the patterns, those of the machine as the twin has it.
            while ((getline < times) > 0) time[$1 == "as assumed" ? $2 : $1, $3] = $4
            FS = ","
            print "source,figure,published,ours,deviation_percent,role"
            row("section 1", "MPI latency between neighbours, ns", 850, 1000 * time["ping", "bfs"],
                off(850, 1000 * time["ping", "bfs"]), "set")
            while ((getline < table2) > 0) {
                split("maximum load|minimum load|sigma(4)|diameter", meaning, "|")
                if ($1 != "algorithm" && $8 != "")
                    for (i = 1; i <= 4; i++)
                        row("Table 2", $1 " on " $2 " nodes: " meaning[i], $(7 + i) + 0, sprintf("%.4g", $(3 + i)) + 0,
                            off($(7 + i), $(3 + i)), i == 4 ? "follows" : $1 == "bfs" ? "chosen" : "predicted")
            }
            gain("Figure 6", "transpose: genetic over BFS, %", -3.9, over("transpose", "genetic", "bfs"))
            gain("Figure 6", "neighbor: the better one over BFS, %", 11.6, best("neighbor"))
            gain("Figure 6", "tornado: the better one over BFS, %", 52.9, best("tornado"))
            gain("Figure 6", "all-to-all: SSSP over BFS, %", 11.1, over("all-to-all", "sssp", "bfs"))
            gain("Figure 6", "all-to-all: genetic over SSSP, %", 1.1, over("all-to-all", "genetic", "sssp"))
            # [angara-routing] says that these are approximately the same.
            gain("Figure 6", "all-to-all on 8 nodes (about the same): SSSP over BFS, %", 0, over("all-to-all on 8 nodes", "sssp", "bfs"))
            gain("Figure 6", "all-to-all on 8 nodes (about the same): genetic over BFS, %", 0,
                over("all-to-all on 8 nodes", "genetic", "bfs"))
            while ((getline < table3) > 0) {
                if ($1 == "benchmark" || $8 == "") continue
                # Operations of its time steps, which are those of the scenario.
                if (!($1 in operations)) { operations[$1] = $6 * $5; base[$1] = $8 }
                ours = operations[$1] / time[$1, $3]
                row("Table 3", toupper($1) " under " $3 ", Mop/s", $8 + 0, sprintf("%.0f", ours) + 0, off($8, ours),
                    $3 == "bfs" ? "set" : "predicted")
                if ($3 != "bfs")
                    gain("Table 3", toupper($1) ": " $3 " over BFS, %", sprintf("%.2f", 100 * ($8 / base[$1] - 1)) + 0,
                        over($1, $3, "bfs"))
            }
        }' >"$folder/figures.csv"
    awk -F, '
        NR == 1 { print "| source | figure | published | ours | deviation | |\n|---|---|---|---|---|---|"; next }
        {
            # What is quoted may have commas.
            split($0, part, "\"")
            split(part[5], value, ",")
            deviation = value[4] == "" ? "-" : value[4] == 0 ? "none" : sprintf("%+.2f%%", value[4])
            # The loads of one table on one set of nodes are one row; their diameter follows from the topology.
            if (part[2] == "Table 2") {
                if (value[5] == "follows") next
                if (++loads == 1) { published = ours = off = ""; what = part[4]; sub(/:.*/, "", what) }
                published = published (loads > 1 ? ", " : "") value[2]
                ours = ours (loads > 1 ? ", " : "") value[3]
                off = off (loads > 1 ? ", " : "") deviation
                if (loads < 3) next
                loads = 0
                print "| Table 2 | " what ": maximum, minimum load, sigma(4) | " published " | " ours " | " off " | " value[5] " |"
                next
            }
            print "| " part[2] " | " part[4] " | " value[2] " | " value[3] " | " deviation " | " value[5] " |"
        }' "$folder/figures.csv"
}

sensitivity() {
    for sweep in all-to-all patterns npb; do
        points "$folder/$sweep/points.csv"
    done >"$scratch/times"
    awk -F '\t' -v csv="$folder/sensitivity.csv" '
        function over(series, workload, algorithm, baseline) {
            return 100 * (time[series, workload, baseline] / time[series, workload, algorithm] - 1)
        }
        function signed(value, digits) {
            value = sprintf("%." digits "f", value) + 0
            return value == 0 ? "0" : sprintf("%+." digits "f", value)
        }
        # Change of the time under BFS, in percent.
        function moved(series, workload) {
            if (!((series, workload, "bfs") in time)) return "-"
            return signed(100 * (time[series, workload, "bfs"] / time[base, workload, "bfs"] - 1), 1)
        }
        # A gain: its change in percentage points; of the scenario itself the gain.
        function gain(series, workload, algorithm, baseline,    ours) {
            if (!((series, workload, algorithm) in time) || !((series, workload, baseline) in time)) return "-"
            ours = over(series, workload, algorithm, baseline)
            return series == base ? sprintf("%.1f", ours) + 0 : signed(ours - over(base, workload, algorithm, baseline), 1)
        }
        {
            if (!($1 in seen)) { seen[$1] = 1; order[++many] = $1 }
            time[$1, $2, $3] = $4
        }
        END {
            base = "as assumed"
            if (!(base in seen)) { print "desmos-twin: no series is called " base > "/dev/stderr"; exit 1 }
            all = split("ping all-to-all transpose neighbor tornado lu mg cg ft is", names, " ")
            for (j = 1; j <= all; j++) if ((base, names[j], "bfs") in time) name[++workloads] = names[j]
            print "parameter,value,workload,bfs_us,bfs_moved_percent,genetic_over_bfs_percent,sssp_over_bfs_percent" > csv
            for (i = 1; i <= many; i++) {
                series = order[i]
                at = match(series, /, [^,]*$/)
                parameter[i] = at ? substr(series, 1, at - 1) : series
                value[i] = at ? substr(series, at + 2) : "all"
                for (j = 1; j <= workloads; j++)
                    if ((series, name[j], "sssp") in time)
                        printf "\"%s\",\"%s\",%s,%s,%.3f,%s,%.3f\n", parameter[i], value[i], name[j],
                            time[series, name[j], "bfs"],
                            100 * (time[series, name[j], "bfs"] / time[base, name[j], "bfs"] - 1),
                            (series, name[j], "genetic") in time ? sprintf("%.3f", over(series, name[j], "genetic", "bfs")) : "",
                            over(series, name[j], "sssp", "bfs") > csv
            }
            printf "Time under BFS: us in the first row, then its change in percent.\n\n| parameter | value |"
            for (j = 1; j <= workloads; j++) printf " %s |", name[j]
            printf "\n|---|---|"
            for (j = 1; j <= workloads; j++) printf "---|"
            for (i = 1; i <= many; i++) {
                printf "\n| %s | %s |", parameter[i], value[i]
                for (j = 1; j <= workloads; j++)
                    printf " %s |", order[i] == base ? sprintf("%.6g", time[base, name[j], "bfs"]) : moved(order[i], name[j])
            }
            printf "\n\nGains: percent in the first row, then their change in percentage points. G, S and B are the tables of "
            printf "Genetic, SSSP and BFS.\n\n| parameter | value | all-to-all S/B | G/S |"
            printf " transpose G/B | neighbor G/B | S/B | tornado G/B | S/B |"
            for (j = 6; j <= workloads; j++) printf " %s S/B |", name[j]
            printf "\n|---|---|---|---|---|---|---|---|---|"
            for (j = 6; j <= workloads; j++) printf "---|"
            for (i = 1; i <= many; i++) {
                series = order[i]
                printf "\n| %s | %s | %s | %s | %s |", parameter[i], value[i],
                    gain(series, "all-to-all", "sssp", "bfs"), gain(series, "all-to-all", "genetic", "sssp"),
                    gain(series, "transpose", "genetic", "bfs")
                for (j = 4; j <= workloads; j++) {
                    if (j < 6) printf " %s |", gain(series, name[j], "genetic", "bfs")
                    printf " %s |", gain(series, name[j], "sssp", "bfs")
                }
            }
            printf "\n"
        }' "$scratch/times"
}

hosts() {
    points "$folder/hosts/points.csv" >"$scratch/times"
    awk -F '\t' '
        function over(series, algorithm, baseline) {
            return sprintf("%.1f", 100 * (time[series, baseline] / time[series, algorithm] - 1)) + 0
        }
        {
            if (!(($1, "bfs") in time)) order[++many] = $1
            time[$1, $3] = $4
        }
        END {
            print "| series | S/B | G/B | G/S |\n|---|---|---|---|"
            for (i = 1; i <= many; i++)
                print "| " order[i] " | " over(order[i], "sssp", "bfs") " | " over(order[i], "genetic", "bfs") " | " \
                    over(order[i], "genetic", "sssp") " |"
        }' "$scratch/times"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1"
