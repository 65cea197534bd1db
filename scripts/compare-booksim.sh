#!/usr/bin/env bash
# Runs flitlab on the tori of scenarios/peers/booksim-*.toml and prints mean latency and accepted throughput beside
# those of BookSim 2, as means of five seeds.
#
#   scripts/compare-booksim.sh                    beside the figures in results/peers/booksim-stored.csv, two minutes
#   scripts/compare-booksim.sh PROGRAM            beside a BookSim 2 that is installed, on the same rows, half an hour
#   scripts/compare-booksim.sh PROGRAM k8n2,tor   the same, only rows that begin so in the stored file
#   scripts/compare-booksim.sh adaptive           adaptive and non-minimal routing on Dragonflies, a HyperX and a tree,
#                                                 beside results/peers/booksim-adaptive.csv; five minutes
#   scripts/compare-booksim.sh adaptive hyp       the same, only rows that begin so in that file
#
# FLITLAB=PATH  a flitlab that is built already; otherwise it is built
# SEEDS=N       how many seeds BookSim is run with (default 5), and flitlab for `adaptive` (default 3)
# SETS=K=V;...  `adaptive` runs flitlab with these settings besides, the last of a key counts
# CSV=PATH      the table is also written there, as CSV
#
# BookSim 2 is built from https://github.com/booksim/booksim2 with make in src; it needs flex and bison.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "compare-booksim: $*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
stored=$root/results/peers/booksim-stored.csv
seeds=${SEEDS:-5}
booksim=${1:-}
begins=${2:-}

[ $# -le 2 ] || fail "there are at most two arguments, a program and how rows begin"
[[ $seeds =~ ^[1-9][0-9]*$ ]] || fail "SEEDS=$seeds is not a number of seeds"
[ -z "$booksim" ] || [ "$booksim" = adaptive ] || [ -x "$booksim" ] || fail "$booksim is not a program"

if [ -n "${FLITLAB:-}" ]; then
    flitlab=$FLITLAB
else
    command -v cargo >/dev/null ||
        fail "building flitlab needs cargo, the Rust toolchain: see https://rustup.rs"
    flitlab=$target/release/flitlab
    (cd "$root" && CARGO_TARGET_DIR=$target cargo build --release --bin flitlab >&2) ||
        fail "flitlab could not be built"
fi
[ -x "$flitlab" ] || fail "$flitlab is not a program"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ "$booksim" = adaptive ]; then
    # shellcheck source=scripts/compare-booksim/adaptive.sh
    source "$root/scripts/compare-booksim/adaptive.sh"
    # shellcheck source=scripts/compare-peers/adaptive.sh
    source "$root/scripts/compare-peers/adaptive.sh"
    print_adaptive "$begins"
    exit
fi

# The scenario of a row, and BookSim's sample period in cycles, of which the scenario measures as many as BookSim.
scenario_of() {
    case $1,$2 in
    k4n4,uniform) echo "4x4x4x4 1000" ;;
    k8n2,uniform) echo "8x8-uniform 3000" ;;
    k8n2,transpose) echo "8x8-transpose 5000" ;;
    k8n2,neighbor | k8n2,tornado) echo "8x8-patterns 5000" ;;
    *) fail "no scenario has the row $1,$2" ;;
    esac
}

# Adds the means of a scenario's points to ours.csv: its name, pattern, flits, virtual channels, load, latency, accepted.
run_flitlab() {
    "$flitlab" sweep "$root/scenarios/peers/booksim-$1.toml" --out "$scratch/$1" >"$scratch/log" 2>&1 ||
        fail "flitlab failed: $(tail -n 3 "$scratch/log")"
    awk -F, -v scenario="$1" '
        {
            # Commas in a quoted field, which is a series, part no fields.
            while (match($0, /"[^"]*"/)) {
                quoted = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/,/, "", quoted)
                $0 = substr($0, 1, RSTART - 1) quoted substr($0, RSTART + RLENGTH)
            }
        }
        NR == 1 { for (field = 1; field <= NF; field++) place[$field] = field; next }
        {
            # The series is "16 flits on 2 virtual channels"; 16 GB/s are a flit a nanosecond.
            split($place["series"], words, " ")
            pattern = "traffic.pattern" in place ? $place["traffic.pattern"] : "-"
            key = pattern "," words[1] "," words[4] "," $place["traffic.load"] / 16
            latency[key] += $place["packet_latency_mean_ns"]
            accepted[key] += $place["accepted_payload_GB_per_s_per_node"] / 16
            count[key]++
        }
        END {
            for (key in count)
                printf "%s,%s,%.4f,%.6f\n", scenario, key, latency[key] / count[key], accepted[key] / count[key]
        }' "$scratch/$1/points.csv" >>"$scratch/ours.csv"
}

# Prints the means of BookSim's latency and accepted throughput over the seeds.
run_booksim() {
    local torus=$1 pattern=$2 flits=$3 channels=$4 offered=$5 period=$6 seed buffer=8
    [ "$flits" = 1 ] || buffer=$flits
    : >"$scratch/figures"
    for ((seed = 1; seed <= seeds; seed++)); do
        sed -e "s/@K@/${torus:1:1}/; s/@N@/${torus:3:1}/; s/@PATTERN@/$pattern/; s/@FLITS@/$flits/" \
            -e "s/@LOAD@/$offered/; s/@CHANNELS@/$channels/; s/@BUFFER@/$buffer/" \
            -e "s/@PERIOD@/$period/; s/@SEED@/$seed/" \
            "$root/scripts/compare-booksim/torus.cfg" >"$scratch/case.cfg"
        # It ends with code 255 when all went well. The last figures of a kind are those of the whole run.
        "$booksim" "$scratch/case.cfg" >"$scratch/booksim.log" 2>&1 || true
        awk '
            /^Packet latency average = / { latency = $5 }
            /^Accepted flit rate average = / { accepted = $6 }
            END { if (latency == "" || accepted == "") exit 1; print latency, accepted }' \
            "$scratch/booksim.log" >>"$scratch/figures" ||
            fail "BookSim gave no result: $(tail -n 3 "$scratch/booksim.log")"
    done
    awk '{ latency += $1; accepted += $2 } END { printf "%.4f,%.6f\n", latency / NR, accepted / NR }' \
        "$scratch/figures"
}

: >"$scratch/ours.csv"
rows=0
{
    echo "torus,pattern,packet_flits,virtual_channels,offered,latency_booksim,latency_flitlab,latency_deviation_percent,accepted_booksim,accepted_flitlab,accepted_deviation_percent"
    while IFS=, read -r torus pattern flits channels offered their_latency their_accepted; do
        [[ $torus,$pattern,$flits,$channels,$offered == "$begins"* ]] || continue
        rows=$((rows + 1))
        assigned=$(scenario_of "$torus" "$pattern") || exit 1
        read -r scenario period <<<"$assigned"
        grep -q "^$scenario," "$scratch/ours.csv" || run_flitlab "$scenario"
        if [ -n "$booksim" ]; then
            theirs=$(run_booksim "$torus" "$pattern" "$flits" "$channels" "$offered" "$period") || exit 1
            IFS=, read -r their_latency their_accepted <<<"$theirs"
        fi
        column=-
        [ "$scenario" != 8x8-patterns ] || column=$pattern
        ours=$(awk -F, -v scenario="$scenario" -v pattern="$column" -v flits="$flits" \
            -v channels="$channels" -v offered="$offered" '
            $1 == scenario && $2 == pattern && $3 == flits && $4 == channels && $5 == offered + 0 {
                print $6 "," $7
            }' "$scratch/ours.csv")
        [ -n "$ours" ] || fail "flitlab has no figures of $torus,$pattern,$flits,$channels,$offered"
        # What a load past saturation has for a latency is how long it was simulated.
        awk -v row="$torus,$pattern,$flits,$channels,$offered" -v offered="$offered" \
            -v latency="$their_latency" -v accepted="$their_accepted" -v ours="$ours" '
            BEGIN {
                split(ours, of, ",")
                steady = accepted >= 0.97 * offered
                printf "%s,%.2f,%.2f,%s,%.4f,%.4f,%.2f\n", row, latency, of[1],
                    steady ? sprintf("%.2f", 100 * (of[1] / latency - 1)) : "",
                    accepted, of[2], 100 * (of[2] / accepted - 1)
            }'
    done < <(tail -n +2 "$stored" | sort -t, -u -k1,1 -k2,2 -k3,3n -k4,4n -k5,5n)
    [ "$rows" -gt 0 ] || fail "no row of $stored begins with $begins"
} >"$scratch/table.csv"

[ -z "${CSV:-}" ] || cp "$scratch/table.csv" "$CSV"
if [ -n "$booksim" ]; then
    echo "BookSim: $booksim, means of $seeds seeds; $("$flitlab" --version), means of five seeds."
else
    echo "BookSim: stored figures; $("$flitlab" --version), means of five seeds."
fi
echo
echo "Latency: mean in cycles, from creation to the last flit. Accepted: flits a node and cycle. Differences: flitlab"
echo "against BookSim; past saturation none of latency, which grows with the time simulated."
echo
echo "| torus | pattern | flits | virtual channels | load | latency, BookSim | latency, flitlab | difference | accepted, BookSim | accepted, flitlab | difference |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
awk -F, 'NR > 1 {
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %+.2f%% |\n", $1, $2, $3, $4, $5, $6, $7,
        $8 == "" ? "-" : sprintf("%+.2f%%", $8), $9, $10, $11
}' "$scratch/table.csv"
