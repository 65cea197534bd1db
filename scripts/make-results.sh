#!/usr/bin/env bash
# Makes committed results anew: those whose folders are named, as angara/fig4, or all, those that take minutes first.
# What is interrupted goes on with the next call, in target/results; what it has computed is put into results/unfinished,
# too, so that a commit brings it to another machine. Of a finished result those files are taken over that are committed
# already, and those by which `flitlab verify` knows how it was made.
#
#   scripts/make-results.sh angara/fig4 desmos/uniform
#   THREADS=1 scripts/make-results.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# Folder, then what makes it and, behind a bar, which kinds of figures are drawn if not the usual ones.
results="
desmos/uniform              sweep scenarios/desmos/desmos-uniform.toml | latency,percentiles,cdf,accepted,channel-map,time
desmos/patterns             sweep scenarios/desmos/desmos-loads.toml | latency,cdf,accepted,saturation
desmos/read                 sweep scenarios/desmos/desmos-read.toml | latency,accepted
angara-lossy-links          sweep scenarios/angara/lossy-links.toml
angara-packet-order         sweep scenarios/angara/packet-order.toml | accepted
angara-osu/latency          sweep scenarios/angara/osu-latency.toml
angara-osu/bandwidth        sweep scenarios/angara/osu-bandwidth.toml
angara-osu/bibandwidth      sweep scenarios/angara/osu-bibandwidth.toml
angara-osu/message-rate     sweep scenarios/angara/osu-message-rate.toml
angara-osu/atomics          sweep scenarios/angara/osu-atomics.toml
outflank/applications       sweep scenarios/outflank/applications.toml
outflank/dilation           sweep scenarios/outflank/dilation.toml
outflank/load-following     sweep scenarios/outflank/load-following.toml
outflank/two-phase          sweep scenarios/outflank/two-phase.toml | saturation
outflank/angara-8x8x8       sweep scenarios/outflank/angara-8x8x8.toml
angara-adaptive-failures    sweep scenarios/studies/angara-adaptive-failures.toml
dragonfly-routing           sweep scenarios/studies/dragonfly-routing.toml | latency
hyperx-beside-clos          sweep scenarios/hyperx/beside-clos.toml | latency
angara/table2               reproduce angara-table2
angara/fig4                 reproduce angara-fig4
angara/fig6                 reproduce angara-fig6
angara/day                  reproduce angara-day
angara/fig5                 reproduce angara-fig5
angara/table3               reproduce angara-table3
angara-collectives          reproduce angara-collectives
nue/faults                  reproduce nue-faults
nue/runtime                 reproduce nue-runtime
applications                reproduce ember-torus
bounds                      reproduce bounds
dragonfly-ugal              reproduce dragonfly-ugal
path-selection/table2       reproduce path-selection-table2
path-selection/table3       reproduce path-selection-table3
path-selection/table4       reproduce path-selection-table4
path-selection/runtime      reproduce path-selection-runtime
outflank/fig5-quick         reproduce outflank-fig5 --quick
outflank/table2-quick       reproduce outflank-table2 --quick
slimfly                     reproduce slimfly
outflank/fig5               reproduce outflank-fig5
outflank/fig4-quick         reproduce outflank-fig4 --quick
path-selection/fig7         reproduce path-selection-fig7
path-selection/fig6         reproduce path-selection-fig6
path-selection/fig4         reproduce path-selection-fig4
hyperx-omniwar              reproduce hyperx-omniwar
outflank/table3             reproduce outflank-table3
outflank/table2             reproduce outflank-table2
nue/throughput              reproduce nue-throughput
path-selection/fig5         reproduce path-selection-fig5
outflank/fig4               reproduce outflank-fig4
"

cargo build --release --quiet
names="${*:-$(awk 'NF { print $1 }' <<<"$results")}"
threads=${THREADS:-$(nproc)}

keep_what_is_unfinished() {
    if [ -d "${made:-}/unfinished" ]; then
        mkdir -p results/unfinished
        tar -czf "$begun" -C "$made" unfinished
    fi
}
trap keep_what_is_unfinished EXIT
trap 'exit 130' INT TERM

for name in $names; do
    row=$(awk -v name="$name" '$1 == name { $1 = ""; print }' <<<"$results")
    command=${row%%|*}
    kinds=()
    if [[ $row == *"|"* ]]; then kinds=(--only "$(tr -d ' ' <<<"${row#*|}")"); fi
    [ -n "$command" ] || { echo "no result is called $name" >&2; exit 2; }
    made=target/results/$name
    begun=results/unfinished/${name//\//-}.tar.gz
    if [ ! -e "$made" ] && [ -e "$begun" ]; then
        mkdir -p "$made"
        tar -xzf "$begun" -C "$made"
    fi
    # What was simulated for the committed result is not simulated again.
    if [ ! -e "$made" ] && [ -e "results/$name/simulated.json.gz" ]; then
        mkdir -p "$made"
        cp "results/$name/simulated.json.gz" "$made"
    fi
    mkdir -p "$(dirname "$made")"
    echo "$name:$command"
    case $name in
        # Times are measured: one after another.
        nue/faults | nue/runtime | path-selection/runtime) of_this=1 ;;
        *) of_this=$threads ;;
    esac
    # shellcheck disable=SC2086 # the words of a command
    target/release/flitlab $command --out "$made" --resume --threads "$of_this" --no-figures >"$made.log"
    # Pictures beside a result that has no figures of its own were drawn of something else.
    if [ -e "$made/points.csv" ] || [ -e "$made/figures.json" ]; then drawn=yes; else drawn=no; fi
    if [ $drawn = yes ] && compgen -G "results/$name/*.svg" >/dev/null; then
        target/release/flitlab plot "$made" "${kinds[@]}" --format svg,png,pdf >>"$made.log"
    fi
    for file in results/"$name"/*; do
        case $file in
            *.csv | *.svg | *.png | *.pdf | */figures.json) ;;
            *) continue ;;
        esac
        if [ -e "$made/${file##*/}" ]; then cp "$made/${file##*/}" "$file"; else echo "  not made any more: $file"; fi
    done
    # Of a reproduction `flitlab verify` compares all tables, so new ones are results, too.
    if [ -e "$made/simulated.json.gz" ]; then cp "$made"/*.csv results/"$name"/; fi
    for file in summary.json scenario.toml simulated.json.gz printed.txt; do
        if [ -e "$made/$file" ]; then cp "$made/$file" results/"$name"/; fi
    done
    rm -rf "$made" "$begun"
done
