# Sourced by scripts/compare-caminos.sh: throughput and latency of scenarios/peers/caminos-*.toml beside those of
# CAMINOS, as means over seeds.

stored=$root/results/peers/caminos-stored.csv
seeds=${SEEDS:-5}
warm_up=5000
measured=10000

# The pattern as CAMINOS's configuration has it.
pattern_of() {
    local pattern=$1 sides=$2
    case $pattern in
    uniform) echo Uniform ;;
    # All tori with these two have 8 nodes a side.
    neighbor) echo "CartesianTransform { sides: [$sides], shift: [${sides//8/1}] }" ;;
    tornado) echo "CartesianTransform { sides: [$sides], shift: [${sides//8/3}] }" ;;
    transpose) echo "CartesianTransform { sides: [$sides], permute: [1,0] }" ;;
    *) fail "CAMINOS is not asked for the pattern $pattern" ;;
    esac
}

# Prints the means of CAMINOS's latency and accepted throughput over the seeds.
caminos_figures() {
    local torus=$1 routing=$2 pattern=$3 offered=$4 seed
    local sides=${torus//x/,}
    : >"$scratch/figures"
    for ((seed = 1; seed <= seeds; seed++)); do
        write_configuration "$sides" "$offered" "$(pattern_of "$pattern" "$sides")" "$seed" "$routing"
        run_caminos >/dev/null
        echo "$(of_caminos average_message_delay) $(of_caminos accepted_load)" >>"$scratch/figures"
    done
    awk '{ latency += $1; accepted += $2 } END { printf "%.4f,%.6f\n", latency / NR, accepted / NR }' \
        "$scratch/figures"
}

# Adds the means of a scenario's points to ours.csv: torus, routing, series, pattern, load, latency, accepted.
sweep_flitlab() {
    local torus=$1 routing=$2 scenario=caminos-$1
    [ "$routing" != adaptive ] || scenario+=-adaptive
    "$flitlab" sweep "$root/scenarios/peers/$scenario.toml" --threads 1 --out "$scratch/$scenario" \
        >"$scratch/log" 2>&1 || fail "flitlab failed: $(tail -n 3 "$scratch/log")"
    awk -F, -v torus="$torus" -v routing="$routing" '
        {
            # Commas in a quoted field, which is a series, part no fields.
            while (match($0, /"[^"]*"/)) {
                quoted = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/,.*/, "", quoted)
                $0 = substr($0, 1, RSTART - 1) quoted substr($0, RSTART + RLENGTH)
            }
        }
        NR == 1 { for (field = 1; field <= NF; field++) place[$field] = field; next }
        {
            # 16 GB/s are a flit a nanosecond.
            pattern = "traffic.pattern" in place ? $place["traffic.pattern"] : "uniform"
            offered = $place["offered_payload_GB_per_s_per_node"] / 16
            # Only adaptive routing has series with names of their own.
            key = (routing == "adaptive" ? $place["series"] : "") "," pattern "," offered
            # Nodes of the diagonal have nothing to send; CAMINOS counts them in its mean, flitlab does not.
            share = pattern == "transpose" ? 1 - 1 / (torus + 0) : 1
            latency[key] += $place["packet_latency_mean_ns"]
            accepted[key] += share * $place["accepted_payload_GB_per_s_per_node"] / 16
            count[key]++
        }
        END {
            for (key in count)
                printf "%s,%s,%s,%.4f,%.6f\n", torus, routing, key, latency[key] / count[key],
                    accepted[key] / count[key]
        }' "$scratch/$scenario/points.csv" | sort >>"$scratch/ours.csv"
}

# Prints the rows of the table as CSV. $1: how rows of the stored file begin that are wanted.
figures() {
    local torus routing pattern offered their_latency their_accepted rows=0 theirs
    echo "torus,routing,flitlab,pattern,offered,latency_caminos,latency_flitlab,latency_deviation_percent,accepted_caminos,accepted_flitlab,accepted_deviation_percent"
    [ -z "${STORE:-}" ] || head -n 1 "$stored" >"$scratch/stored.csv"
    while IFS=, read -r torus routing pattern offered their_latency their_accepted _; do
        [[ $torus,$routing,$pattern,$offered == "$1"* ]] || continue
        rows=$((rows + 1))
        grep -q "^$torus,$routing," "$scratch/ours.csv" || sweep_flitlab "$torus" "$routing"
        if [ -n "$anew" ]; then
            theirs=$(caminos_figures "$torus" "$routing" "$pattern" "$offered") || exit 1
            IFS=, read -r their_latency their_accepted <<<"$theirs"
            [ -z "${STORE:-}" ] || echo "$torus,$routing,$pattern,$offered,$theirs,$seeds" >>"$scratch/stored.csv"
        fi
        # What a load past saturation has for a latency is how long it was simulated.
        awk -F, -v torus="$torus" -v routing="$routing" -v pattern="$pattern" -v offered="$offered" \
            -v latency="$their_latency" -v accepted="$their_accepted" '
            $1 == torus && $2 == routing && $4 == pattern && $5 == offered + 0 {
                found = 1
                steady = accepted >= 0.97 * offered * (pattern == "transpose" ? 1 - 1 / (torus + 0) : 1)
                printf "%s,%s,%s,%s,%s,%s,%.2f,%s,%.4f,%.4f,%.2f\n", torus, routing, $3, pattern, offered,
                    latency == "" ? "" : sprintf("%.2f", latency), $6, steady ? sprintf("%.2f", 100 * ($6 / latency - 1)) : "",
                    accepted, $7, 100 * ($7 / accepted - 1)
            }
            END { if (!found) exit 1 }' "$scratch/ours.csv" ||
            fail "flitlab has no figures of $torus,$routing,$pattern,$offered"
    done < <(tail -n +2 "$stored")
    [ "$rows" -gt 0 ] || fail "no row of $stored begins with $1"
    [ -z "${STORE:-}" ] || cp "$scratch/stored.csv" "$STORE"
}

# Prints the table, and writes it as CSV, too, if a file is named.
print_figures() {
    : >"$scratch/ours.csv"
    figures "$1" >"$scratch/table.csv"
    [ -z "${CSV:-}" ] || cp "$scratch/table.csv" "$CSV"
    if [ -n "$anew" ]; then
        echo "CAMINOS $version, means of $seeds seeds; $("$flitlab" --version), means of five seeds."
    else
        echo "CAMINOS $version, stored figures; $("$flitlab" --version), means of five seeds."
    fi
    echo
    echo "Latency: mean in cycles, from creation to the last flit. Accepted: flits a node and cycle, of all nodes."
    echo "Differences: flitlab against CAMINOS; past saturation none of latency, which grows with the time simulated."
    echo
    echo "| torus | routing | flitlab | pattern | load | latency, CAMINOS | latency, flitlab | difference | accepted, CAMINOS | accepted, flitlab | difference |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    awk -F, 'NR > 1 {
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %+.2f%% |\n", $1, $2, $3 == "" ? "-" : $3, $4,
            $5, $6 == "" ? "-" : $6, $7, $8 == "" ? "-" : sprintf("%+.2f%%", $8), $9, $10, $11
    }' "$scratch/table.csv"
}
