#!/bin/sh
# What parts of the 10-ary 3-tree of scenarios/nue pass under uniform traffic if they are always fed: a bound of what the whole
# tree can pass (results/nue). Prints a table as Markdown, in GB/s of payload a terminal.
#
#   scripts/tree-bounds.sh [FLITLAB]        the program; by default what `cargo build --release` makes. Seconds
#
# Parts are netlists whose destinations have numbers divisible by 8: the virtual channel on which a source injects follows from
# the destination, so each source has one queue.
set -eu
LC_ALL=C
export LC_ALL

case ${1:-} in
-*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
flitlab=${1:-}
if [ -z "$flitlab" ]; then
    cargo build --release --quiet --manifest-path "$root/Cargo.toml"
    flitlab=${CARGO_TARGET_DIR:-$root/target}/release/flitlab
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Reads `switch NAME`, `cable NAME NAME` and `terminal NAME KIND` (a source, a destination, or local: a source for the
# destinations of its switch; or idle), numbered as they come. Writes part.net and weights.csv; prints how many destinations and
# sources there are.
part() {
    awk -v folder="$folder" '
        BEGIN { switches = terminals = 0 }
        function port(of, to) { ports[of, ++count[of]] = to; return count[of] }
        $1 == "switch" { name[switches++] = $2 }
        $1 == "cable" {
            there = count[$3] + 1
            here = port($2, "\"" $3 "\"[" there "]")
            port($3, "\"" $2 "\"[" here "]")
        }
        $1 == "terminal" {
            at[terminals] = $2; kind[terminals] = $3
            place[terminals] = port($2, "\"H" terminals "\"[1]")
            terminals++
        }
        END {
            net = folder "/part.net"; weights = folder "/weights.csv"
            for (number = 0; number < switches; number++) {
                own = name[number]
                printf "switchguid=0x%x\nSwitch\t%d \"%s\"\n", 1048576 + number, count[own], own > net
                for (p = 1; p <= count[own]; p++) printf "[%d]\t%s\n", p, ports[own, p] > net
                printf "\n" > net
            }
            for (h = 0; h < terminals; h++) printf "Hca\t1 \"H%d\"\n[1]\t\"%s\"[%d]\n\n", h, at[h], place[h] > net
            print "source,destination,weight" > weights
            for (s = 0; s < terminals; s++) for (d = 0; d < terminals; d++) {
                if (kind[d] != "destination" || kind[s] == "destination" || kind[s] == "idle") continue
                if (kind[s] == "source" || at[s] == at[d]) printf "H%d,H%d,1\n", s, d > weights
            }
            for (h = 0; h < terminals; h++) {
                destinations += kind[h] == "destination"
                sources += kind[h] == "source" || kind[h] == "local"
            }
            print destinations, sources
        }'
}

# A switch with so many inputs, each of another switch whose sources feed it, and so many destinations.
last_switch() {
    awk -v inputs="$1" -v destinations="$2" 'BEGIN {
        for (i = 0; i <= inputs; i++) print "switch S" i
        for (i = 1; i <= inputs; i++) print "cable S0 S" i
        for (d = 0; d < destinations; d++) {
            print "terminal S0 destination"
            for (i = 0; i < 7; i++) print "terminal S" 1 + k++ % inputs " source"
        }
    }'
}

# Ten edge switches of eleven terminals under ten others, each of which has ten switches above that feed it with what comes
# from other pods, and five with what comes from its own; at each edge switch one terminal has what stays there.
pod() {
    awk 'BEGIN {
        for (i = 0; i < 10; i++) print "switch E" i
        for (i = 0; i < 10; i++) print "switch M" i
        for (i = 0; i < 100; i++) print "switch F" i
        for (i = 0; i < 50; i++) print "switch G" i
        for (m = 0; m < 10; m++) for (e = 0; e < 10; e++) print "cable E" e " M" m
        for (i = 0; i < 100; i++) print "cable M" int(i / 10) " F" i
        for (i = 0; i < 50; i++) print "cable M" int(i / 5) " G" i
        for (e = 0; e < 10; e++) for (d = 0; d < 11; d++) {
            print "terminal E" e " destination"
            for (i = 0; i < 15; i++) {
                if (d == 0 && i == 0) print "terminal E" e " local"
                else if (k < 50) print "terminal G" k++ " source"
                else if (k < 950) print "terminal F" (k++ - 50) % 100 " source"
                else print "terminal F0 idle"
            }
        }
    }'
}

# A row of the table: how a part is called, the load, windows, and for how many lanes; the part is there.
row() {
    title=$1 load=$2 window=$3 warm=$4 windows=$5 destinations=$6 sources=$7
    shift 7
    printf '| %s |' "$title"
    for lanes in "$@"; do
        cat >"$folder/part.toml" <<TOML
topology.netlist.path = "part.net"
routing.relation = { rule = "minimal", lanes = $lanes, unproved = true }
router.preset = "infiniband-4xqdr"
traffic = { pattern.matrix.file = "weights.csv", message = "2 KiB", load = $load }
measure = { window = "$window", warm_up_windows = $warm, minimum_windows = $windows, maximum_windows = $windows }
TOML
        "$flitlab" run "$folder/part.toml" --threads 1 --json >"$folder/part.json" 2>"$folder/part.err" ||
            [ -s "$folder/part.json" ] || { cat "$folder/part.err" >&2; exit 1; }
        awk -v sources="$sources" -v destinations="$destinations" '
            /"accepted_payload_GB_per_s_per_node"/ { gsub(/[^0-9.]/, "", $2); rate = $2 }
            END { printf " %.3f |", rate * sources / destinations }' "$folder/part.json"
    done
    printf '\n'
}

echo "| GB/s a terminal | 1 lane | 2 lanes | 4 lanes |"
echo "|---|---|---|---|"
set -- $(last_switch 10 10 | part)
row "a switch of 10 inputs and 10 terminals" 1.0 "50 us" 10 40 "$1" "$2" 1 2 4
set -- $(last_switch 10 11 | part)
row "a switch of 10 inputs and 11 terminals" 1.0 "50 us" 10 40 "$1" "$2" 1 2 4
set -- $(pod | part)
row "the lower two levels of a pod" 0.14 "20 us" 50 50 "$1" "$2" 1 2 4
