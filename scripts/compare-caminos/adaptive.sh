# Sourced by scripts/compare-caminos.sh: what scripts/compare-peers/adaptive.sh asks of CAMINOS.

# shellcheck disable=SC2034 # compare-peers/adaptive.sh reads them.
peer=caminos peer_name=CAMINOS template=$settings/adaptive.toml

# CAMINOS's own patterns are flitlab's.
pattern_of_row() {
    :
}

keys_of() {
    local network=$1 routing=$2 vcs=$3 rule name cost steps diameter=2
    [ "$network" != hyperx-4x4x4 ] || diameter=3
    # What a label costs in flits, and whether queues are multiplied with hops.
    case ${routing%-long} in
    *8) cost='penalty = 8' ;;
    *w) cost='penalty = 16, weights = "product"' ;;
    *-2vc) cost='penalty = 16' ;;
    *) cost='penalty = 32' ;;
    esac
    # The rule, and how many virtual channels it needs. CAMINOS has one for each hop, or two where the name says so.
    name=${routing%-long}
    name=${name%-2vc}
    case $network,$name in
    dragonfly-*,min) rule='"dragonfly-minimal"' steps=2 ;;
    dragonfly-*,val) rule='{ valiant = { via = "router-elsewhere" } }' steps=4 ;;
    dragonfly-*,ugal) rule='{ ugal = { via = "router-elsewhere", equal = "drawn" } }' steps=4 ;;
    dragonfly-*,ugal-t64) rule='{ ugal = { via = "router-elsewhere", equal = "drawn", threshold = 64 } }' steps=4 ;;
    dragonfly-*,ugalvc)
        rule='{ ugal = { via = "router-elsewhere", equal = "drawn", queues = "vc", minimal_channels = "shared" } }'
        steps=4
        ;;
    dragonfly-*,par) rule='{ par = { via = "router-elsewhere", equal = "drawn" } }' steps=5 ;;
    tree-*,updown-occ) rule='{ nearest-ancestor = { up = "least" } }' steps=$vcs ;;
    tree-*,updown-rnd) rule='{ nearest-ancestor = { up = "random" } }' steps=$vcs ;;
    *,min) rule='"minimal-by-hop"' steps=$diameter ;;
    *,val) rule='{ valiant = { via = "router-or-end" } }' steps=$((2 * diameter)) ;;
    *,ugal) rule='{ ugal = { via = "router-or-end", equal = "drawn" } }' steps=$((2 * diameter)) ;;
    *,omni | *,omni8 | *,omniw) rule="{ omniwar = { deroutes = $diameter, $cost } }" steps=$((2 * diameter)) ;;
    *,dimwar | *,dimwar8 | *,dimwarw) rule="{ dimwar = { $cost, channels = \"by-hop\" } }" steps=$((2 * diameter)) ;;
    *,pol | *,pol8) rule="{ polarized = { $cost } }" steps=6 ;;
    *) return 1 ;;
    esac
    local width=1
    [[ $routing != *-2vc* && $network != tree-* ]] || width=2
    [ "$name" = "${routing%-long}" ] || steps=$((2 * steps))
    ((steps <= vcs)) || fail "$network,$routing needs $steps virtual channels"
    # A terminal has one queue into its router.
    keys+=(--set "routing.relation.rule=$rule" --set "routing.relation.lanes=$steps"
        --set 'routing.relation.injection_lanes=1'
        --set "router.virtual_channels=$vcs" --set "router.crossbar_speedup=$vcs")
    [ "$6" = 1 ] || keys+=(--set "topology.dragonfly.latencies={ local = \"${6%/*} ns\", global = \"${6#*/} ns\" }")
    # CAMINOS draws among hops with room, but for those by whose queues it decides, which it does in each cycle.
    case $name in
    min | val) keys+=(--set 'routing.relation.preference="random"') ;;
    updown-rnd) ;;
    # UGAL keeps to a way that has room.
    ugal*) keys+=(--set 'routing.relation.decides_again=1 ns' --set 'routing.relation.decides_until="room"') ;;
    *) keys+=(--set 'routing.relation.decides_again=1 ns') ;;
    esac
}
