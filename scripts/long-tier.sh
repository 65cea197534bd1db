#!/usr/bin/env bash
# The long tier: each test that is marked as long, in a process of its own and two at a time, as quickly as a release and
# with every assertion. What has passed at this commit stands in target/long-tier/COMMIT.csv with its seconds and is not
# run again: a call that was interrupted is gone on with by the next one. A word (scripts/long-tier.sh commands) takes the
# tests of whose program and name it is a part. Exit code 1 if one failed; what it printed is beside the record.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_INCREMENTAL=0
built=$(cargo test --no-run --profile long 2>&1) || { echo "$built" >&2; exit 1; }

commit=$(git describe --always --dirty --abbrev=12)
record=$PWD/target/long-tier/$commit.csv
mkdir -p "${record%.csv}"
# What holds of files that nobody else has says nothing tomorrow.
case $commit in *-dirty) rm -f "$record" ;; esac
touch "$record"

run() {
    local program=$1 test=$2 name seconds=$SECONDS
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    local printed=$LOGS/$name.${test//::/.}.txt
    if "$program" --ignored --exact "$test" --nocapture >"$printed" 2>&1; then
        echo "$name,$test,$((SECONDS - seconds))" >>"$RECORD"
        echo "passed in $((SECONDS - seconds)) s: $name $test"
    else
        echo "FAILED in $((SECONDS - seconds)) s: $name $test: $printed"
        return 1
    fi
}
export -f run
export RECORD=$record LOGS=${record%.csv}

sed -n 's/.*Executable.* (\(.*\))$/\1/p' <<<"$built" | while read -r program; do
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    "$program" --ignored --list 2>/dev/null | sed -n 's/: test$//p' | while read -r test; do
        case "$name $test" in *"${1:-}"*) ;; *) continue ;; esac
        grep -q "^$name,$test," "$record" || printf '%s\0%s\0' "$PWD/$program" "$test"
    done
done | xargs -0 -r -n 2 -P "$(nproc)" bash -c 'run "$0" "$1"' || failed=1
echo "$(wc -l <"$record") tests of the long tier have passed at $commit"
exit "${failed:-0}"
