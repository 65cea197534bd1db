# Sourced by scripts/compare-booksim.sh: what scripts/compare-peers/adaptive.sh asks of BookSim.

# shellcheck disable=SC2034 # compare-peers/adaptive.sh reads them.
peer=booksim peer_name=BookSim template=$root/scripts/compare-booksim/adaptive.toml

# BookSim sends through the router what a node sends to itself.
pattern_of_row() {
    case $2 in
    uniform) echo '{ uniform = { include_self = true } }' ;;
    transpose) pairs_by transpose.csv 64 '(int(source / 4) % 4 * 4 + int(source / 16)) * 4 + source % 4' ;;
    bit-reverse)
        pairs_by bit-reverse.csv 64 'source % 2 * 32 + int(source / 2) % 2 * 16 + int(source / 4) % 2 * 8 + int(source / 8) % 2 * 4 + int(source / 16) % 2 * 2 + int(source / 32)'
        ;;
    esac
}

keys_of() {
    local network=$1 routing=$2 vcs=$3 flits=$4 buffer=$5 rule
    case $network,$routing in
    dragonfly-*,min) rule='"dragonfly-minimal"' ;;
    # BookSim draws a node, and shares three virtual channels where flitlab needs four.
    dragonfly-*,ugal) rule='{ ugal = { via = "router", threshold = 30, minimal_channels = "apart" } }' vcs=4 ;;
    # BookSim goes x first on both legs, whatever waits.
    hyperx-*,valiant)
        rule='{ valiant = { via = "router-or-end" } }'
        keys+=(--set 'routing.relation.preference="random"')
        ;;
    hyperx-*,ugal)
        rule='{ ugal = { via = "router-or-end", weights = "hops", threshold = 2, minimal_channels = "apart" } }'
        ;;
    hyperx-*,xyyx) rule='"hyperx-order"' ;;
    hyperx-*,adaptive_xyyx) rule='{ hyperx-order = { order = "adaptive" } }' ;;
    tree-*,nca) rule='{ nearest-ancestor = { up = "random" } }' ;;
    tree-*,anca) rule='{ nearest-ancestor = { up = "two" } }' ;;
    *) return 1 ;;
    esac
    keys+=(--set "routing.relation.rule=$rule" --set "router.virtual_channels=$vcs"
        --set "router.maximum_payload=\"$((16 * flits)) B\"" --set "router.buffer=\"$buffer flits\""
        --set "adapter.injection_buffer=\"$buffer flits\"")
    [[ $network != dragonfly-* ]] || keys+=(--set topology.dragonfly.cabling=absolute)
    # A flit is written to the channel in one cycle.
    [ "$6" = 1 ] || keys+=(--set
        "topology.dragonfly.latencies={ local = \"$((${6%/*} + 1)) ns\", global = \"$((${6#*/} + 1)) ns\" }")
}
