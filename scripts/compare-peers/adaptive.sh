# Sourced by scripts/compare-booksim.sh and scripts/compare-caminos.sh: throughput and latency of adaptive and non-minimal
# routing beside the stored figures of a peer, as means over seeds.
#
# They have set $root, $scratch, $flitlab and fail, and these:
#   peer, peer_name    booksim or caminos, and how tables name it
#   template           a scenario of flitlab without topology, routing, traffic and windows
#   keys_of            appends to `keys` what a row has other than the template, `--set` by `--set`, for
#                      network, routing, virtual channels, flits of a packet, buffer and cycles of cables,
#                      local/global if they differ; returns 1 if flitlab has no such rule
#   pattern_of_row     prints the pattern of a row as TOML, if it is not flitlab's pattern of that name

most_seeds=${SEEDS:-3}
[[ $most_seeds =~ ^[1-9][0-9]*$ ]] || fail "SEEDS=$most_seeds is not a number of seeds"

# The topology of a network, as a scenario has it.
topology_of() {
    case $1 in
    dragonfly-72) printf '[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\nterminals = 2\n' ;;
    dragonfly-1056) printf '[topology.dragonfly]\ngroups = 33\ngroup_size = 8\nglobal_cables = 4\nterminals = 4\n' ;;
    hyperx-4x4) printf '[topology.hyperx]\ndimensions = [4, 4]\nterminals = 4\n' ;;
    hyperx-4x4x4) printf '[topology.hyperx]\ndimensions = [4, 4, 4]\nterminals = 4\n' ;;
    slim-fly-50) printf '[topology.slim_fly]\nprime = 5\nterminals = 4\n' ;;
    tree-4-3) printf '[topology.tree]\narity = 4\nlevels = 3\nterminals = 4\n' ;;
    *) fail "there is no network $1" ;;
    esac
}

# Writes pairs of nodes as a matrix of flitlab, by an awk expression of the source, and prints the pattern.
pairs_by() {
    local file=$1 nodes=$2 destination=$3
    awk -v nodes="$nodes" 'BEGIN {
        print "source,destination,weight"
        for (source = 0; source < nodes; source++) print source "," '"$destination"' ",1"
    }' >"$scratch/$file"
    echo "{ matrix = { file = \"$file\" } }"
}

# The pattern of a row, as TOML.
pattern_of() {
    local network=$1 pattern=$2 own
    own=$(pattern_of_row "$network" "$pattern") || exit 1
    if [ -n "$own" ]; then
        echo "$own"
        return
    fi
    case $pattern in
    router-shift) echo '{ router-shift = { by = 7 } }' ;;
    permutation)
        cp "$root/results/peers/permutation-$network.csv" "$scratch"
        echo "{ matrix = { file = \"permutation-$network.csv\" } }"
        ;;
    *) echo "\"$pattern\"" ;;
    esac
}

# The values of a key in the results of flitlab's runs, as a mean.
mean_of() {
    awk -F'[:,]' -v key="\"$1\"" '
        FNR == 1 { points = 0 }
        { name = $1; gsub(/ /, "", name) }
        # Before its points a result describes the scenario.
        name == "\"points\"" { points = 1 }
        points && name == key { sum += $2; files++ }
        END { if (files + 0 != '"$seeds"') exit 1; printf "%.6f", sum / files }' "$scratch"/run-*.json ||
        fail "flitlab gave no $1"
}

# Prints the rows as CSV. $1: how rows of the stored file begin that are wanted.
adaptive_figures() {
    local network routing pattern flits vcs buffer cables offered accepted latency hops warm_up measured rows=0
    local least most seed ours key keys sets window=500 share name
    echo "network,routing,pattern,packet_flits,virtual_channels,offered,accepted_$peer,accepted_flitlab,accepted_deviation_percent,latency_$peer,latency_flitlab,latency_deviation_percent,hops_$peer,hops_flitlab,latency_least_$peer,latency_most_$peer"
    : >"$scratch/left-out"
    while IFS=, read -r network routing pattern flits vcs buffer cables offered accepted latency hops warm_up measured _ least most; do
        [[ $network,$routing,$pattern,$offered == "$1"* ]] || continue
        rows=$((rows + 1))
        name=$network
        [ "$cables" = 1 ] || name+=" with cables of $cables cycles"
        # Means over as many nodes are as good.
        seeds=$most_seeds
        [ "$network" != dragonfly-1056 ] || seeds=1
        # At low loads so few packets are drawn that their number alone moves what is accepted.
        if awk -v load="$offered" 'BEGIN { exit !(load <= 0.1) }'; then seeds=$((3 * seeds)); fi
        keys=()
        if ! keys_of "$network" "$routing" "$vcs" "$flits" "$buffer" "$cables"; then
            echo "$network,$routing" >>"$scratch/left-out"
            continue
        fi
        IFS=';' read -ra sets <<<"${SETS:-}"
        for key in ${sets[@]+"${sets[@]}"}; do
            keys+=(--set "$key")
        done
        {
            echo "title = \"$network, $routing\""
            topology_of "$network"
            cat "$template"
            printf '[traffic]\npattern = %s\nload = "%s GB/s"\n' "$(pattern_of "$network" "$pattern")" \
                "$(awk -v load="$offered" 'BEGIN { print 16 * load }')"
            printf '[measure]\nwindow = "%s ns"\nwarm_up = "%s ns"\n' "$window" "$warm_up"
            printf 'minimum_windows = %s\nmaximum_windows = %s\n' $((measured / window)) $((measured / window))
        } >"$scratch/row.toml"
        rm -rf "$scratch"/run-*
        for ((seed = 1; seed <= seeds; seed++)); do
            "$flitlab" run "$scratch/row.toml" --json --threads 1 --no-figures --out "$scratch/out-$seed" \
                --set "seed=$seed" "${keys[@]}" >"$scratch/run-$seed.json" 2>"$scratch/log" ||
                fail "flitlab failed on $network,$routing,$pattern,$offered: $(tail -n 3 "$scratch/log")"
            rm -rf "$scratch/out-$seed"
        done
        # What nodes would send to themselves is silent in CAMINOS; flitlab counts only nodes that send.
        share=1
        [ "$peer,$pattern" != caminos,bit-reverse ] || share=0.875
        ours=''
        for key in accepted_payload_GB_per_s_per_node packet_latency_mean_ns hops_mean; do
            ours+="$(mean_of "$key") " || exit 1
        done
        awk -v row="$name,$routing,$pattern,$flits,$vcs,$offered" -v offered="$offered" -v share="$share" \
            -v accepted="$accepted" -v latency="$latency" -v hops="$hops" -v spread="$least,$most" -v ours="$ours" '
            BEGIN {
                split(ours, of, " ")
                # 16 GB/s are a flit a nanosecond.
                own = share * of[1] / 16
                # What a load past saturation has for a latency is how long it was simulated.
                steady = accepted >= 0.97 * share * offered
                printf "%s,%.4f,%.4f,%.2f,%.2f,%.2f,%s,%.3f,%.3f,%s\n", row, accepted, own, 100 * (own / accepted - 1),
                    latency, of[2], steady ? sprintf("%.2f", 100 * (of[2] / latency - 1)) : "", hops, of[3], spread
            }'
    done < <(tail -n +2 "$root/results/peers/$peer-adaptive.csv")
    [ "$rows" -gt 0 ] || fail "no row of results/peers/$peer-adaptive.csv begins with $1"
}

# Prints the table, and writes it as CSV, too, if a file is named.
print_adaptive() {
    adaptive_figures "$1" >"$scratch/table.csv"
    [ -z "${CSV:-}" ] || cp "$scratch/table.csv" "$CSV"
    echo "$peer_name: stored figures; $("$flitlab" --version), means of $most_seeds seeds, one with 1,056 nodes; three times as many at loads up to 0.1."
    echo
    echo "Latency: mean in cycles, from creation to the last flit. Accepted: flits a node and cycle. Differences: flitlab"
    echo "against $peer_name; past saturation none of latency, which grows with the time simulated. Within: accepted 3% and"
    echo "latency 5% up to 80% of saturation, the most that $peer_name accepts in the rows of this rule and pattern; 5% and 10% beyond;"
    echo "or, as \"seeds\", a latency among those of $peer_name's own seeds."
    echo
    echo "| network | routing | pattern | flits | virtual channels | load | accepted, $peer_name | accepted, flitlab | difference | latency, $peer_name | latency, flitlab | difference | within |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    awk -F, '
        function widen(key, value) {
            if (!((key) in least) || value < least[key]) least[key] = value
            if (!((key) in greatest) || value > greatest[key]) greatest[key] = value
        }
        function span(key) {
            return (key) in least ? sprintf("%+.0f to %+.0f", least[key], greatest[key]) : "-"
        }
        NR == FNR {
            name = $1 ($7 == 1 ? "" : " with cables of " $7 " cycles")
            if ($9 > most[name, $2, $3, $4, $5]) most[name, $2, $3, $4, $5] = $9
            next
        }
        FNR > 1 {
            beyond = $6 > 0.8 * most[$1, $2, $3, $4, $5]
            fits = $9 * $9 <= (beyond ? 25 : 9)
            near = fits && ($12 == "" || $12 * $12 <= (beyond ? 100 : 25)) ? "yes" : fits && $15 != "" && $15 <= $11 && $11 <= $16 ? "seeds" : "no"
            count[near]++
            rule = $1 " | " $2
            if (!(rule in of)) rules[++different] = rule
            of[rule]++
            by_rule[rule, near]++
            widen(rule SUBSEP "accepted" SUBSEP beyond, $9)
            if ($12 != "") widen(rule SUBSEP "latency" SUBSEP beyond, $12)
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %+.2f%% | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6,
                $7, $8, $9, $10, $11, $12 == "" ? "-" : sprintf("%+.2f%%", $12), near
        }
        END {
            print ""
            printf "Within the limits: %d of %d rows, and %d among the seeds.\n", count["yes"], FNR - 1, count["seeds"]
            print ""
            print "By network and rule, how many rows are within the limits and among the seeds, and differences in percent, as the"
            print "least and the greatest of the rows:"
            print ""
            print "| network | routing | within | seeds | of | accepted, up to 80% | latency | accepted, beyond | latency |"
            print "|---|---|---|---|---|---|---|---|---|"
            for (number = 1; number <= different; number++) {
                rule = rules[number]
                printf "| %s | %d | %d | %d | %s | %s | %s | %s |\n", rule, by_rule[rule, "yes"], by_rule[rule, "seeds"], of[rule],
                    span(rule SUBSEP "accepted" SUBSEP 0), span(rule SUBSEP "latency" SUBSEP 0),
                    span(rule SUBSEP "accepted" SUBSEP 1), span(rule SUBSEP "latency" SUBSEP 1)
            }
        }' "$root/results/peers/$peer-adaptive.csv" "$scratch/table.csv"
    if [ -s "$scratch/left-out" ]; then
        echo
        echo "Left out, as flitlab has no such rule:" \
            "$(sort "$scratch/left-out" | uniq -c | awk '{ sub(/,/, " ", $2); printf "%s%s %s (%s rows)", (NR > 1 ? "; " : ""), $2, $3, $1 }' | sed 's/  / /g')."
    fi
}
