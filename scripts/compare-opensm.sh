#!/usr/bin/env bash
# Routes the same fabrics with OpenSM 3.3.23, on ibsim's simulated switches, and with flitlab, each on one CPU,
# and prints edge-forwarding index, lanes and time side by side.
#
#   scripts/compare-opensm.sh                          the five fabrics of [nue], about twenty minutes
#   scripts/compare-opensm.sh torus655 fabric.net      these: scenarios by name or file, or netlists
#
# FLITLAB=PATH  a flitlab that is built already; otherwise it is built
# ENGINES=LIST  which engines of OpenSM to compare (default "minhop updn sssp dfsssp lash nue:1 nue:8")
# ROUNDS=N      how often each is timed, the programs in turn; the least time counts (default 2)
# CPU=N         on which CPU both run (default 0)
# LIMIT=N       seconds after which OpenSM is ended (default 600)
# OUT=FILE      the rows go to this CSV file too
#
# What is measured, and what differs: results/nue/compare-opensm/README.md.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "compare-opensm: $*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
settings=$root/scenarios/nue
rounds=${ROUNDS:-2}
cpu=${CPU:-0}
limit=${LIMIT:-600}
read -r -a engines <<<"${ENGINES:-minhop updn sssp dfsssp lash nue:1 nue:8}"
lanes_of_ibsim=8

[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "ROUNDS=$rounds is not a number of rounds"
[[ $limit =~ ^[1-9][0-9]*$ ]] || fail "LIMIT=$limit is not a number of seconds"
[[ -z ${OUT:-} || ! -e $OUT ]] || fail "$OUT exists: name another file with OUT"
taskset -c "$cpu" true 2>/dev/null || fail "CPU=$cpu is not a CPU that taskset knows"

# Debian keeps opensm where only root's path leads.
PATH=$PATH:/usr/sbin
for program in opensm ibsim; do
    command -v "$program" >/dev/null ||
        fail "there is no $program (Debian: apt-get install opensm ibsim-utils)"
done
[[ $(opensm --version 2>/dev/null || true) == *3.3.23* ]] ||
    echo "compare-opensm: this was written for OpenSM 3.3.23; here is another" >&2
preload=
for library in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so; do
    [ -e "$library" ] && preload=$library
done
[ -n "$preload" ] || fail "there is no libumad2sim.so, which belongs to ibsim (Debian: ibsim-utils)"

if [ -n "${FLITLAB:-}" ]; then
    flitlab=$(realpath "$FLITLAB")
else
    command -v cargo >/dev/null || fail "building flitlab needs cargo, the Rust toolchain: see https://rustup.rs"
    flitlab=$target/release/flitlab
    (cd "$root" && CARGO_TARGET_DIR=$target cargo build --release --bin flitlab >&2) ||
        fail "flitlab could not be built"
fi
[ -x "$flitlab" ] || fail "$flitlab is not a program"

scratch=$(mktemp -d)
simulator='' manager=''
clean_up() {
    [ -z "$manager" ] || pkill -KILL -P "$manager" || true
    [ -z "$simulator" ] || kill "$simulator" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The scenario of a fabric that was named on the command line.
scenario_of() {
    case $1 in
    *.net)
        [ -f "$1" ] || fail "there is no netlist $1"
        printf '[topology.netlist]\npath = "%s"\n' "$(realpath "$1")" >"$scratch/netlist.toml"
        echo "$scratch/netlist.toml"
        ;;
    *.toml)
        [ -f "$1" ] || fail "there is no scenario $1"
        realpath "$1"
        ;;
    *)
        [ -f "$settings/$1.toml" ] || fail "$1 is no scenario of scenarios/nue and no file"
        echo "$settings/$1.toml"
        ;;
    esac
}

# Prints the value of a key in the JSON of flitlab.
value_of() {
    awk -F'[:,]' -v key="\"$1\"" '
        { name = $1; gsub(/ /, "", name) }
        name == key { gsub(/ /, "", $2); print $2; exit }' "$2"
}

# The lesser of two times, of which the first may be empty.
least() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b + 0 < a + 0 ? b : a }'
}

# How long OpenSM took from one line of its log to another, in seconds, by their time stamps.
between() {
    awk -v begin="$1" -v end="$2" '
        function seconds() { split($3, clock, ":"); return clock[1] * 3600 + clock[2] * 60 + clock[3] + $4 / 1e6 }
        from == "" && index($0, begin) { from = seconds() }
        from != "" && $0 ~ end { took = seconds() - from; printf "%.4f", took < 0 ? took + 86400 : took; exit }
    ' "$scratch/opensm/log"
}

# Runs OpenSM once on the netlist. Leaves its dumps in $scratch/opensm; sets took, user, their_lanes and reason.
run_opensm() {
    local engine=${1%:*} vls=${1#*:} waited=0 begun
    [ "$vls" != "$1" ] || vls=$lanes_of_ibsim
    rm -rf "$scratch/opensm"
    mkdir "$scratch/opensm"
    took='' user='' reason='' their_lanes=''
    # A socket of its own, so that any number of simulators can run on a machine.
    export IBSIM_SOCKNAME=compare-opensm-$$-$RANDOM
    ibsim -s -n -N 16384 -S 4096 -P 262144 "$scratch/fabric/fabric.net" >"$scratch/ibsim.log" 2>&1 &
    simulator=$!
    sleep 1
    # Verbose logs of this module alone say when an engine begins.
    printf 'osm_ucast_mgr.c 0x07\n' >"$scratch/opensm/modules"
    printf 'per_module_logging_file %s\nmax_wire_smps 32\n' "$scratch/opensm/modules" >"$scratch/opensm/options"
    (
        TIMEFORMAT=%U
        # ibsim's library leaves folders behind where it runs.
        cd "$scratch/opensm"
        export OSM_CACHE_DIR=$scratch/opensm OSM_TMP_DIR=$scratch/opensm
        # -d 2: lines are in the log as soon as they are written. 0x40: tables are dumped.
        time env LD_PRELOAD="$preload" taskset -c "$cpu" opensm -F "$scratch/opensm/options" \
            -R "$engine,no_fallback" --nue_max_num_vls "$vls" -Q -d 2 -D 0x43 -o \
            -f "$scratch/opensm/log" --dump_files_dir "$scratch/opensm/" >"$scratch/opensm/output" 2>&1
    ) 2>"$scratch/opensm/user" &
    manager=$!
    while kill -0 "$manager" 2>/dev/null; do
        # It begins anew for ever if an engine has no table.
        begun=$(grep -c 'building routing with' "$scratch/opensm/log" 2>/dev/null || true)
        if ((${begun:-0} > 1)); then
            reason="no table"
        elif ((waited > 10 * limit)); then
            reason="no table after $limit s"
        fi
        if [ -n "$reason" ]; then
            pkill -KILL -P "$manager" || true
            break
        fi
        sleep 0.1
        waited=$((waited + 1))
    done
    wait "$manager" 2>/dev/null || true
    manager=''
    kill "$simulator" 2>/dev/null || true
    wait "$simulator" 2>/dev/null || true
    simulator=''
    if [ -n "$reason" ]; then
        took=$(between 'building routing with' 'ERR')
        reason=$(sed -n 's/.*Not enough VLs available (avail=\([0-9]*\), needed=\([0-9]*\)).*/needs \2 lanes of \1/p' \
            "$scratch/opensm/log" | head -n 1 | grep . || echo "$reason")
        return
    fi
    [ -f "$scratch/opensm/opensm-lfts.dump" ] || fail "OpenSM left no tables: $(tail -n 3 "$scratch/opensm/log")"
    took=$(between 'building routing with' 'tables configured on all switches')
    user=$(tail -n 1 "$scratch/opensm/user")
    their_lanes=$(sed -n 's/.*\(Lanes needed: \|Virtual Lanes needed: \)\([0-9]*\).*/\2/p' "$scratch/opensm/log" | head -n 1)
    case $engine in nue) their_lanes=$vls ;; minhop | updn | sssp) their_lanes=1 ;; esac
}

# Figures of the table that OpenSM has left, counted by flitlab. Whether it can deadlock is another matter: its
# paths' lanes are not in its dumps.
index_of_opensm() {
    "$flitlab" route --check "$scratch/opensm" --netlist "$scratch/fabric/fabric.net" --json \
        >"$scratch/opensm.json" 2>"$scratch/complaints" || [ $? = 4 ] || fail "$(cat "$scratch/complaints")"
    value_of maximum_load "$scratch/opensm.json"
}

# Runs flitlab once; sets its_seconds and its_cpu, or reason if it has no table.
run_flitlab() {
    local lanes=()
    reason=''
    case $2 in '' | 0) ;; *) lanes=(--lanes "$2") ;; esac
    local code=0
    taskset -c "$cpu" "$flitlab" route "$scenario" --algorithm "$1" "${lanes[@]}" --threads 1 --json \
        >"$scratch/flitlab.json" 2>"$scratch/complaints" || code=$?
    case $code in
    0 | 4) ;;
    *)
        reason=$(head -n 1 "$scratch/complaints" | sed 's/^error: //; s/,/;/g')
        return
        ;;
    esac
    its_seconds=$(printf '%.4f' "$(value_of seconds "$scratch/flitlab.json")")
    its_cpu=$(printf '%.4f' "$(value_of cpu_seconds "$scratch/flitlab.json")")
}

row() {
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$@"
    [ -z "${OUT:-}" ] || (IFS=, && echo "$*" >>"$OUT")
}

ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { if (a != "" && b > 0) printf "%.1f", a / b }'
}

if [ $# -gt 0 ]; then
    fabrics=("$@")
else
    fabrics=(torus655 kautz random125 dragonfly tree10_3)
fi
for fabric in "${fabrics[@]}"; do
    scenario_of "$fabric" >/dev/null
done

echo "OpenSM $(opensm --version 2>/dev/null | grep -o '[0-9.]*[0-9]' | head -n 1 || true), $("$flitlab" --version); load" \
    "average at the start: $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
echo
echo "Index: pairs of terminals whose path takes the fullest channel. Lanes: used. Seconds on the clock, of making"
echo "the table. CPU: OpenSM's user time beyond that of its run with minhop, if that took over a second; flitlab's of"
echo "making the table."
echo
[ -z "${OUT:-}" ] || echo "fabric,routing,index_opensm,index_flitlab,lanes_opensm,lanes_flitlab,seconds_opensm,seconds_flitlab,times_faster,cpu_seconds_opensm,cpu_seconds_flitlab,times_faster_cpu" >"$OUT"
echo "| fabric | routing | index, OpenSM | index, flitlab | lanes, OpenSM | lanes, flitlab | s, OpenSM | s, flitlab | times faster | CPU s, OpenSM | CPU s, flitlab | times faster |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
for fabric in "${fabrics[@]}"; do
    scenario=$(scenario_of "$fabric")
    name=$(basename "${fabric%.*}")
    rm -rf "$scratch/fabric"
    # The fabric as ibsim reads it, beside a table that nobody needs.
    "$flitlab" route "$scenario" --algorithm min-hop --save "$scratch/fabric" >/dev/null 2>"$scratch/complaints" ||
        [ $? = 4 ] || fail "$(cat "$scratch/complaints")"
    [ -f "$scratch/fabric/fabric.net" ] || fail "flitlab wrote no netlist"
    base=''
    for ((round = 0; round < rounds; round++)); do
        run_opensm minhop
        base=$(least "$base" "$user")
    done
    for engine in "${engines[@]}"; do
        lanes=''
        case ${engine%:*} in
        minhop) algorithm=min-hop ;;
        updn) algorithm=up-down ;;
        dfsssp | lash) algorithm=${engine%:*} lanes=$lanes_of_ibsim ;;
        nue) algorithm=nue lanes=${engine#*:} ;;
        *) algorithm=${engine%:*} ;;
        esac
        theirs='' their_user='' ours='' our_cpu='' their_index='' our_index='' their_reason='' our_reason=''
        for ((round = 0; round < rounds; round++)); do
            if [ -z "$their_reason" ]; then
                run_opensm "$engine"
                their_reason=$reason
                if [ -z "$reason" ]; then
                    theirs=$(least "$theirs" "$took")
                    their_user=$(least "$their_user" "$user")
                    [ -n "$their_index" ] || their_index=$(index_of_opensm)
                fi
            fi
            run_flitlab "$algorithm" "$lanes"
            our_reason=$reason
            [ -z "$reason" ] || break
            ours=$(least "$ours" "$its_seconds")
            our_cpu=$(least "$our_cpu" "$its_cpu")
        done
        beyond=''
        if [ -n "$their_reason" ]; then
            their_index=$their_reason theirs=$took their_lanes=''
        else
            # In shorter runs more of the difference is in what engines do besides.
            beyond=$(awk -v took="$theirs" -v a="$their_user" -v b="$base" \
                'BEGIN { if (took >= 1) printf "%.3f", a - b }')
        fi
        our_lanes=''
        if [ -n "$our_reason" ]; then
            our_index=$our_reason
        else
            our_index=$(value_of maximum_load "$scratch/flitlab.json")
            our_lanes=$(value_of lanes_used "$scratch/flitlab.json")
        fi
        row "$name" "$engine" "$their_index" "$our_index" "$their_lanes" "$our_lanes" "$theirs" "$ours" \
            "$(ratio "$theirs" "$ours")" "$beyond" "$our_cpu" "$(ratio "$beyond" "$our_cpu")"
    done
done
