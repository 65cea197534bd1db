#!/usr/bin/env bash
# Runs the same torus, traffic, load, packets and buffers on CAMINOS 0.6.3 and on flitlab, and prints CPU
# time a flit-hop, accepted throughput and mean latency side by side.
#
#   scripts/compare-caminos.sh                    time: the default cases, a few minutes
#   scripts/compare-caminos.sh 8x8x8:0.3 8x8:1    time: these tori and loads (flits a node and cycle)
#   scripts/compare-caminos.sh stored             means of five seeds of scenarios/peers/caminos-*.toml, beside those in
#                                                 results/peers/caminos-stored.csv; some minutes
#   scripts/compare-caminos.sh figures            beside those of CAMINOS, which is run; half an hour
#   scripts/compare-caminos.sh figures 8x8,adap   the same, only rows that begin so in the stored file
#   scripts/compare-caminos.sh adaptive           adaptive and non-minimal routing on Dragonflies, HyperX, a Slim Fly and a
#                                                 tree, beside results/peers/caminos-adaptive.csv; ten minutes
#   scripts/compare-caminos.sh adaptive hyp       the same, only rows that begin so in that file
#
# CAMINOS=PATH  a CAMINOS that is installed already; otherwise it is installed under target/
# FLITLAB=PATH  a flitlab that is built already; otherwise it is built
# ROUNDS=N      how often each case is timed, the programs in turn; the least time counts (default 2)
# SEEDS=N       how many seeds `figures` runs CAMINOS with (default 5), and `adaptive` flitlab (default 3)
# SETS=K=V;...  `adaptive` runs flitlab with these settings besides, the last of a key counts
# CSV=PATH      `stored`, `figures` and `adaptive` write their table there, too, as CSV
# STORE=PATH    `figures` writes what CAMINOS gave there, as the stored file has it
#
# What corresponds to what in the two models, and what differs: scripts/compare-caminos/README.md.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "compare-caminos: $*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
settings=$root/scripts/compare-caminos
version=0.6.3
rounds=${ROUNDS:-2}
# The longer run of flitlab, with which its time is measured, has so many times the measured cycles.
longer=10

mode=time
begins=''
case ${1:-} in
stored | figures | adaptive)
    mode=$1
    begins=${2:-}
    [ $# -le 2 ] || fail "$mode takes at most how rows begin"
    cases=()
    ;;
'') cases=(8x8x8:0.1 8x8x8:0.3 8x8x8:0.4 8x8x8:0.7 8x8x8:1.0 8x8:0.3 8x8:1.0) ;;
*) cases=("$@") ;;
esac
for case in ${cases[@]+"${cases[@]}"}; do
    # Load 1 of flitlab is one flit a node and cycle only where the longest ring has 8 nodes.
    # A ring of 2 has one cable in flitlab, two in CAMINOS.
    [[ $case =~ ^[3-8](x[3-8]){0,5}:(0\.[0-9]+|1|1\.0+)$ && $case == *8*:* ]] ||
        fail "$case is not DIMENSIONS:LOAD, such as 8x8x8:0.3, with up to 6 dimensions of 3 to 8 nodes, one" \
            "of them of 8, and a load of at most 1"
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "ROUNDS=$rounds is not a number of rounds"

needs_cargo() {
    command -v cargo >/dev/null || fail "$1 needs cargo, the Rust toolchain: see https://rustup.rs"
}

find_caminos() {
    if [ -n "${CAMINOS:-}" ]; then
        caminos=$CAMINOS
        [ -x "$caminos" ] || fail "CAMINOS=$caminos is not a program"
    else
        caminos=$target/caminos/bin/caminos
        if [ ! -x "$caminos" ]; then
            needs_cargo "installing CAMINOS"
            [ -n "${OPENSSL_DIR:-}" ] || pkg-config --exists openssl 2>/dev/null ||
                fail "CAMINOS needs pkg-config and the headers of OpenSSL to build (Debian: apt-get install" \
                    "pkg-config libssl-dev; Fedora: dnf install pkgconf openssl-devel); or set OPENSSL_DIR"
            # Without --locked it does not build.
            cargo install --locked --version "$version" --root "$target/caminos" caminos >&2 ||
                fail "CAMINOS $version could not be installed"
        fi
    fi
    # The first line that it prints, before its help.
    case $("$caminos" --help 2>/dev/null || true) in
    *"version_number=$version"*) ;;
    *) fail "$caminos is not CAMINOS $version" ;;
    esac
}
case $mode in time | figures) find_caminos ;; esac

if [ -n "${FLITLAB:-}" ]; then
    flitlab=$FLITLAB
else
    needs_cargo "building flitlab"
    flitlab=$target/release/flitlab
    (cd "$root" && CARGO_TARGET_DIR=$target cargo build --release --bin flitlab >&2) ||
        fail "flitlab could not be built"
fi
[ -x "$flitlab" ] || fail "$flitlab is not a program"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT=%U

# Prints the value of a key in a result of CAMINOS, which stands on the line below the key's.
of_caminos() {
    awk -v key="$1:" '$1 == key { getline; gsub(/[ \t,]/, ""); print; exit }' "$scratch/caminos.result"
}

# Prints the value of a key in the JSON of flitlab. Where a key also describes the scenario, the simulation's
# value comes last.
of_flitlab() {
    awk -F'[:,]' -v key="\"$1\"" '
        { name = $1; gsub(/ /, "", name) }
        name == key { value = $2 }
        END { gsub(/ /, "", value); print value }' "$scratch/$2.json"
}

# Runs a command with its output put away and prints its user time in seconds.
time_of() {
    local output=$1
    shift
    { time "$@" >"$output" 2>"$scratch/complaints"; } 2>&1 || {
        cat "$scratch/complaints" >&2
        return 1
    }
}

# The lesser of two times, of which the first may be empty.
least() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b + 0 < a + 0 ? b : a }'
}

# Runs flitlab for so many measured cycles after a warm-up of $warm_up cycles, and prints its user time.
run_flitlab() {
    local name=$1 measured=$2
    rm -rf "$scratch/out"
    time_of "$scratch/$name.json" "$flitlab" run "$settings/torus.toml" --json --threads 1 \
        --out "$scratch/out" --set "topology.torus.dimensions=[$sides]" --set "traffic.load=$load" \
        --set "routing.direction_order.order=[$directions]" \
        --set "measure.window=\"$window ns\"" --set "measure.warm_up=\"$warm_up ns\"" \
        --set "measure.minimum_windows=$((measured / window))" \
        --set "measure.maximum_windows=$((measured / window))" || fail "flitlab failed"
}

# Runs CAMINOS on the settings of the case and prints its user time.
run_caminos() {
    rm -f "$scratch/caminos.result"
    time_of "$scratch/caminos.log" "$caminos" "$scratch/case.cfg" "--results=$scratch/caminos.result" ||
        fail "CAMINOS failed"
    # It ends with code 0 in any case.
    [ -s "$scratch/caminos.result" ] || fail "CAMINOS gave no result: $(tail -n 3 "$scratch/complaints")"
}

# Writes the configuration of CAMINOS: sides, load, pattern, seed, routing.
write_configuration() {
    local sides=$1 load=$2 pattern=$3 seed=$4 template=torus
    [ "$5" != adaptive ] || template=adaptive
    local commas=${sides//[^,]/} nodes=$((${sides//,/*}))
    local order link_classes
    order=$(seq -s, 0 ${#commas})
    link_classes=$(seq 0 $((${#commas} + 1)) | sed 's/.*/LinkClass { delay: 1 },/' | tr '\n' ' ')
    sed -e "s/@WARM_UP@/$warm_up/; s/@MEASURED@/$measured/; s/@SIDES@/$sides/; s/@NODES@/$nodes/" \
        -e "s/@LOAD@/$load/; s/@ORDER@/$order/; s/@LINK_CLASSES@/$link_classes/" \
        -e "s/@PATTERN@/$pattern/; s/@SEED@/$seed/" "$settings/$template.cfg" >"$scratch/case.cfg"
}

if [ "$mode" = adaptive ]; then
    # shellcheck source=scripts/compare-caminos/adaptive.sh
    source "$settings/adaptive.sh"
    # shellcheck source=scripts/compare-peers/adaptive.sh
    source "$root/scripts/compare-peers/adaptive.sh"
    print_adaptive "$begins"
    exit
fi
if [ "$mode" != time ]; then
    anew=''
    [ "$mode" = stored ] || anew=yes
    # shellcheck source=scripts/compare-caminos/figures.sh
    source "$settings/figures.sh"
    print_figures "$begins"
    exit
fi

# What is running beside this makes both programs slower, not always by as much.
echo "CAMINOS $version, $("$flitlab" --version); load average at the start:" \
    "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
echo
echo "Uniform traffic, packets of 16 flits. CPU time: user time in ns a flit-hop between routers. Accepted:"
echo "flits a node and cycle. Latency: mean, from creation to the last flit, in cycles. Differences: flitlab"
echo "against CAMINOS."
echo
echo "| torus | load | CPU, CAMINOS | CPU, flitlab | times faster | accepted, CAMINOS | accepted, flitlab | difference | latency, CAMINOS | latency, flitlab | difference |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for case in "${cases[@]}"; do
    sides=${case%:*}
    sides=${sides//x/,}
    load=${case#*:}
    nodes=$((${sides//,/*}))
    commas=${sides//[^,]/}
    window=$((256000 / nodes))
    ((window >= 100)) || window=100
    measured=$((10 * window))
    warm_up=$((2 * window))
    directions=''
    for axis in $(echo x y z k l m | cut -d' ' -f"1-$((${#commas} + 1))"); do
        directions+="${directions:+, }\"+$axis\", \"-$axis\""
    done
    write_configuration "$sides" "$load" Uniform 1 direction-order

    theirs='' short='' long=''
    for ((round = 0; round < rounds; round++)); do
        seconds=$(run_flitlab short "$measured")
        short=$(least "$short" "$seconds")
        seconds=$(run_flitlab long $((longer * measured)))
        long=$(least "$long" "$seconds")
        seconds=$(run_caminos)
        theirs=$(least "$theirs" "$seconds")
    done
    awk -v torus="${case%:*}" -v offered="$load" -v nodes="$nodes" \
        -v their_seconds="$theirs" -v short_seconds="$short" -v long_seconds="$long" \
        -v cycles="$((warm_up + measured))" -v more="$(((longer - 1) * measured))" \
        -v their_accepted="$(of_caminos accepted_load)" -v their_hops="$(of_caminos average_packet_hops)" \
        -v their_latency="$(of_caminos average_message_delay)" \
        -v payload="$(of_flitlab accepted_payload_GB_per_s_per_node short)" \
        -v long_payload="$(of_flitlab accepted_payload_GB_per_s_per_node long)" \
        -v hops="$(of_flitlab hops_mean long)" -v latency="$(of_flitlab packet_latency_mean_ns short)" '
        BEGIN {
            # 16 GB/s are a flit a nanosecond.
            accepted = payload / 16
            if (their_accepted <= 0 || accepted <= 0 || their_latency <= 0 || latency <= 0) {
                print "compare-caminos: nothing was accepted at " torus ":" offered >"/dev/stderr"
                exit 1
            }
            their_cost = their_seconds * 1e9 / (their_accepted * nodes * cycles * their_hops)
            # What more cycles cost: the set-up, the warm-up and the figures, the same in both runs, cancel out.
            cost = (long_seconds - short_seconds) * 1e9 / (long_payload / 16 * nodes * more * hops)
            printf "| %s | %s | %.0f | %.1f | %.0f | %.4f | %.4f | %+.1f%% | %.1f | %.1f | %+.1f%% |\n",
                torus, offered, their_cost, cost, their_cost / cost,
                their_accepted, accepted, 100 * (accepted / their_accepted - 1),
                their_latency, latency, 100 * (latency / their_latency - 1)
        }'
done
