#!/usr/bin/env bash
# The long tier: each test that is marked as long, in a process of its own and two at a time, as quickly as a release and
# with every assertion. tests/long-tier.csv has at which commit each passed last, in how many seconds, and which slice: the
# longest take a quarter of what they try, and the next quarter in the next run (tests/common/slice.rs). A test is run if
# what it depends on has changed since, the one that passed longest ago first: a call that was interrupted, or comes a day
# later, goes on with the rest. A word (scripts/long-tier.sh commands) takes the tests of whose program and name it is a
# part. At the end each workload of the benchmark is run once. Exit code 1 if one failed; what it printed is in target/long-tier.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! git diff --quiet HEAD -- . ':!tests/long-tier.csv'; then
    echo "there are changes that are not committed: nobody could tell what has passed" >&2
    exit 2
fi
export CARGO_INCREMENTAL=0
built=$(cargo test --no-run --profile long 2>&1) || { echo "$built" >&2; exit 1; }

RECORD=$PWD/tests/long-tier.csv
LOGS=$PWD/target/long-tier
COMMIT=$(git rev-parse --short=12 HEAD)
export RECORD LOGS COMMIT
mkdir -p "$LOGS"
[ -e "$RECORD" ] || echo "program,test,seconds,slice,commit" >"$RECORD"

run() {
    local program=$1 test=$2 name seconds=$SECONDS slice
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    slice=$(sed -n "s/^$name,$test,[0-9]*,\([0-9]\),.*/\1/p" "$RECORD")
    slice=$(((${slice:-3} + 1) % 4))
    local printed=$LOGS/$name.${test//::/.}.txt
    if FLITLAB_SLICE=$slice "$program" --ignored --exact "$test" --nocapture >"$printed" 2>&1; then
        seconds=$((SECONDS - seconds))
        (
            flock 9
            sed -i "/^$name,$test,/d" "$RECORD"
            echo "$name,$test,$seconds,$slice,$COMMIT" >>"$RECORD"
        ) 9>"$LOGS/lock"
        echo "passed in $seconds s: $name $test"
    else
        echo "FAILED in $((SECONDS - seconds)) s: $name $test: $printed"
        return 1
    fi
}
export -f run

# Whether what a program's tests depend on is as it was at a commit.
unchanged() {
    local paths=(Cargo.lock Cargo.toml crates)
    case $1 in
        # Some of them run the program.
        simulation) paths+=(build.rs src scenarios tests/simulation tests/common ':!crates/papers') ;;
        commands) paths+=(build.rs src scenarios tests/commands tests/common) ;;
        # They compare the pages and the committed results with the program, too.
        results) paths=(. ':!tests/long-tier.csv' ':!tests/simulation' ':!tests/commands' ':!benches' ':!scripts') ;;
    esac
    git diff --quiet "$2" HEAD -- "${paths[@]}" 2>/dev/null
}

sed -n 's/.*Executable.* (\(.*\))$/\1/p' <<<"$built" | while read -r program; do
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    "$program" --ignored --list 2>/dev/null | sed -n 's/: test$//p' | while read -r test; do
        case "$name $test" in *"${1:-}"*) ;; *) continue ;; esac
        passed=$(sed -n "s/^$name,$test,[0-9]*,[0-9],//p" "$RECORD")
        if [ -z "$passed" ] || ! unchanged "$name" "$passed"; then
            echo "$(git show -s --format=%ct "${passed:-no commit}" 2>/dev/null || echo 0) $PWD/$program $test"
        fi
    done
done | sort -n -s -k 1,1 | cut -d ' ' -f 2- | xargs -r -n 2 -P "$(nproc)" bash -c 'run "$0" "$1"' || failed=1
# No test runs the workloads of the benchmark.
cargo test --quiet --profile long --bench engine || failed=1
echo "$(grep -c ",$COMMIT$" "$RECORD") tests passed at this commit, $(($(wc -l <"$RECORD") - 1)) ever"
exit "${failed:-0}"
