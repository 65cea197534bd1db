# Sourced by scripts/compare-caminos.sh: what scripts/compare-peers/adaptive.sh asks of CAMINOS.

# shellcheck disable=SC2034 # compare-peers/adaptive.sh reads them.
peer=caminos peer_name=CAMINOS template=$settings/adaptive.toml

# CAMINOS's routers have a buffer for each virtual channel of an output, and send packets whole on a link. No setting
# of flitlab has both.
series_of() {
    # shellcheck disable=SC2034
    series='whole packets,buffers at outputs'
}

# CAMINOS's own patterns are flitlab's.
pattern_of_row() {
    :
}

keys_of() {
    local network=$1 routing=$2 vcs=$3 series=$6 rule steps diameter=2
    [ "$network" != hyperx-4x4x4 ] || diameter=3
    # How many virtual channels the rule needs: CAMINOS has one a hop, or two where its name says so.
    case $network,${routing%-long} in
    dragonfly-*,min) rule='"dragonfly-minimal"' steps=2 ;;
    dragonfly-*,val) rule='{ valiant = { via = "router" } }' steps=4 ;;
    dragonfly-*,ugal) rule='{ ugal = { via = "router" } }' steps=4 ;;
    dragonfly-*,ugal-t64) rule='{ ugal = { via = "router", threshold = 64 } }' steps=4 ;;
    dragonfly-*,ugalvc) rule='{ ugal = { via = "router", queues = "vc" } }' steps=4 ;;
    dragonfly-*,par) rule='{ par = { via = "router" } }' steps=5 ;;
    tree-*,updown-occ) rule='"minimal"' steps=$vcs ;;
    *,min | *,min-2vc) rule='"minimal-by-hop"' steps=$diameter ;;
    *,val) rule='"valiant"' steps=$((2 * diameter)) ;;
    *,ugal | *,ugal-2vc) rule='"ugal"' steps=$((2 * diameter)) ;;
    *) return 1 ;;
    esac
    [[ $routing != *-2vc* ]] || steps=$((2 * steps))
    keys+=(--set "routing.relation.rule=$rule" --set "routing.relation.lanes=$steps" --set "router.virtual_channels=$vcs")
    case $series in
    'whole packets') keys+=(--set "router.crossbar_speedup=$vcs") ;;
    # A channel's credits are those of the buffer at the output, too, where CAMINOS has 32 flits.
    *) keys+=(--set router.crossbar_speedup=2 --set 'router.buffer="96 flits"' --set 'link.sharing={ flit = { output_buffer = 16 } }') ;;
    esac
}
