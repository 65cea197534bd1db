# Sourced by scripts/compare-caminos.sh: what single rules move, by a model of CAMINOS's router (model.rs).

stored=$root/results/peers/caminos-adaptive.csv
seeds=${SEEDS:-3}
[[ $seeds =~ ^[1-9][0-9]*$ ]] || fail "SEEDS=$seeds is not a number of seeds"

# Rows of the stored file: network, routing, pattern, load.
rows=(
    dragonfly-72,min,uniform,0.1 dragonfly-72,min,uniform,0.5 dragonfly-72,min,uniform,0.9
    dragonfly-72,val,uniform,0.3 dragonfly-72,val,uniform,1.0 dragonfly-72,val,group-shift,0.2 dragonfly-72,val,group-shift,1.0
    dragonfly-72,ugal,uniform,0.3 dragonfly-72,ugal,uniform,1.0 dragonfly-72,ugal,group-shift,0.1 dragonfly-72,ugal-long,group-shift,0.2
    dragonfly-72,ugal,group-shift,1.0 dragonfly-72,ugal,permutation,0.3
    dragonfly-72,par,uniform,0.3 dragonfly-72,par,uniform,0.7 dragonfly-72,par,uniform,1.0
    hyperx-4x4,min,uniform,0.5 hyperx-4x4,min,uniform,0.9 hyperx-4x4,val,dimension-complement,0.2 hyperx-4x4,val,dimension-complement,1.0
    hyperx-4x4,ugal,dimension-complement,0.2 hyperx-4x4,ugal,dimension-complement,1.0
    hyperx-4x4,ugal-2vc,dimension-complement,0.2 hyperx-4x4,ugal-2vc,dimension-complement,1.0 hyperx-4x4,ugal,uniform,0.7
    hyperx-4x4,omni,dimension-complement,0.2 hyperx-4x4,omni,dimension-complement,1.0 hyperx-4x4,omni,uniform,1.0
    hyperx-4x4,omni8,uniform,1.0 hyperx-4x4,omni8,dimension-shift,1.0 hyperx-4x4,omni-2vc,dimension-complement,0.2 hyperx-4x4,omni-2vc,dimension-complement,1.0
    hyperx-4x4,dimwar,uniform,0.3 hyperx-4x4,dimwar,uniform,1.0 hyperx-4x4,dimwar,permutation,0.3 hyperx-4x4,dimwar,permutation,1.0
    hyperx-4x4,dimwar8,uniform,1.0 hyperx-4x4,dimwar8,dimension-shift,1.0 hyperx-4x4,dimwar8,dimension-complement,1.0
    hyperx-4x4,dimwar-2vc,uniform,1.0 hyperx-4x4x4,dimwar-2vc,dimension-complement,1.0
    hyperx-4x4,pol,dimension-complement,0.2 hyperx-4x4,pol,dimension-complement,1.0 hyperx-4x4,pol,permutation,1.0
    hyperx-4x4,pol8,uniform,1.0 hyperx-4x4,pol-2vc,uniform,1.0
    slim-fly-50,min,uniform,0.3 slim-fly-50,min,uniform,1.0 slim-fly-50,ugal-2vc,router-shift,0.3 slim-fly-50,ugal-2vc,router-shift,1.0
    slim-fly-50,pol,uniform,0.5 slim-fly-50,pol,uniform,1.0 slim-fly-50,pol,router-shift,0.2 slim-fly-50,pol,router-shift,1.0
    tree-4-3,updown-occ,uniform,0.7 tree-4-3,updown-occ,uniform,0.9 tree-4-3,updown-occ,bit-reverse,1.0
    tree-4-3,updown-rnd,uniform,0.7 tree-4-3,updown-rnd,uniform,1.0
)

# The rules of flitlab, with `@` for the number of virtual channels, and the buffer with which compare-caminos/adaptive.sh
# runs it; then all of them; then those of its series of whole packets.
rules=(link=flits speedup=2 output_buffer=16 injection=@ via=others apart=1 decides=once ties=minimal selection=least
    channels=two)
rules+=("${rules[*]}" "output=whole injection=@ ties=minimal selection=least channels=two")

# Prints accepted flits and latency of the model, as means over the seeds. The arguments are keys.
model_figures() {
    local seed
    for ((seed = 1; seed <= seeds; seed++)); do
        "$scratch/model" "$@" "seed=$seed" || fail "the model failed with $*"
    done | awk '{ accepted += $1; latency += $2 } END { printf "%.6f %.4f", accepted / NR, latency / NR }'
}

# Prints the table. $1: how rows begin that are wanted.
print_rules() {
    local row network routing pattern flits vcs buffer cables offered accepted latency hops warm_up measured file
    local rule base ours keys
    command -v rustc >/dev/null || fail "the model needs rustc, the Rust compiler: see https://rustup.rs"
    rustc --edition 2024 -O -o "$scratch/model" "$settings/model.rs" >&2 || fail "the model could not be built"
    echo "CAMINOS: stored figures. Model: of CAMINOS's router, means of $seeds seeds. Accepted in flits a node and cycle, latency in"
    echo "cycles. With a rule of flitlab in place of CAMINOS's: differences to the model in percent, accepted and latency; past"
    echo "saturation accepted alone."
    echo
    echo "| network, routing, pattern, load | CAMINOS | model | ${rules[*]:0:${#rules[@]}-2} | all | whole packets |" | sed 's/ \([a-z_]*\)=/ | \1=/g; s/| | /| /; s/=@/=V/'
    echo "|---|---|---|$(printf -- '---|%.0s' "${rules[@]}")"
    for row in "${rows[@]}"; do
        [[ $row == "$1"* ]] || continue
        IFS=, read -r network routing pattern flits vcs buffer cables offered accepted latency hops warm_up measured _ < <(
            awk -F, -v row="$row" '$1 "," $2 "," $3 "," $8 == row && $7 == 1' "$stored"
        ) || fail "$stored has no row $row"
        file=$pattern
        [ "$pattern" != permutation ] || file=$root/results/peers/permutation-$network.csv
        keys=("network=$network" "pattern=$file" "vcs=$vcs" "load=$offered" "warm_up=$warm_up" "measured=$measured")
        case $routing in
        *-2vc) keys+=(width=2 penalty=16) ;;
        *8) keys+=(penalty=8) ;;
        esac
        routing=${routing%-long}
        routing=${routing%-2vc}
        routing=${routing%8}
        keys+=("routing=$routing")
        base=$(model_figures "${keys[@]}") || exit 1
        printf '| %s | %s, %s | %s |' "${row//,/, }" "$accepted" "$latency" "$(awk -v base="$base" 'BEGIN { split(base, of, " "); printf "%.4f, %.2f", of[1], of[2] }')"
        for rule in "${rules[@]}"; do
            # Which rules have to do with which routings.
            case $network,$routing,$rule in
            *' '* | *,link=* | *,speedup=* | *,output_buffer=* | *,injection=*) ;;
            *,val,via=* | *,ugal,via=* | *,par,via=* | *,ugal,apart=* | *,ugal,ties=* | *,par,ties=* | *,dimwar,channels=*) ;;
            *,ugal,decides=* | *,par,decides=* | *,omni,decides=* | *,dimwar,decides=* | *,pol,decides=* | *,updown-*,decides=*) ;;
            hyperx-*,min,selection=* | hyperx-*,val,selection=* | slim-fly-*,min,selection=* | slim-fly-*,val,selection=*) ;;
            *)
                printf ' |'
                continue
                ;;
            esac
            read -ra keys_of_rule <<<"${rule//@/$vcs}"
            # flitlab is run with CAMINOS's detours on Dragonflies.
            [[ $rule != output=whole* || $network == dragonfly-* ]] || keys_of_rule+=(via=others)
            ours=$(model_figures "${keys[@]}" "${keys_of_rule[@]}") || exit 1
            awk -v base="$base" -v ours="$ours" -v saturated="$(awk -v a="$accepted" -v o="$offered" 'BEGIN { print (a < 0.97 * o) }')" 'BEGIN {
                split(base, of, " ")
                split(ours, own, " ")
                printf " %+.1f%s |", 100 * (own[1] / of[1] - 1), saturated ? "" : sprintf(", %+.1f", 100 * (own[2] / of[2] - 1))
            }'
        done
        echo
    done
}
