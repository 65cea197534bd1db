#!/usr/bin/env bash
# Runs a fuzz target of tests/fuzz, or all of them one after the other, for a number of minutes each:
#
#     scripts/fuzz.sh [TARGET|all] [MINUTES]        all, 10
#     scripts/fuzz.sh shrink [TARGET]               merges what was found into the corpus, as little as covers most
#
# Inputs that are worth keeping are gathered in tests/fuzz/new/TARGET, findings in tests/fuzz/artifacts/TARGET.
# docs/testing.md says what to do with them.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzz=tests/fuzz

missing() {
    echo "error: $1" >&2
    echo "help: $2" >&2
    exit 1
}
command -v cargo >/dev/null || missing "there is no cargo" "install a Rust toolchain: https://rustup.rs"
cargo +nightly --version >/dev/null 2>&1 ||
    missing "fuzzing needs a nightly compiler, and there is none" "rustup toolchain install nightly"
cargo fuzz --version >/dev/null 2>&1 || missing "cargo-fuzz is missing" "cargo install cargo-fuzz"

mapfile -t targets < <(cd "$fuzz/targets" && ls -- *.rs | sed 's/\.rs$//')
known() {
    local target
    for target in "${targets[@]}"; do [ "$target" = "$1" ] && return; done
    missing "there is no target $1" "targets are: ${targets[*]}"
}

# Input and output go through files where the program reads files: in memory, where that is to be had.
if [ -z "${TMPDIR:-}" ] && [ -d /dev/shm ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

# flitlab has no unsafe code, so that a sanitizer would only take time; so does tracing the comparisons of a
# simulator, and dictionaries do as much for the readers.
build=(--fuzz-dir "$fuzz" --sanitizer none --no-trace-compares)

# Limits of one input: seconds, megabytes, bytes.
limits=(-timeout=20 -rss_limit_mb=2048 -max_len=8192)
dictionary() {
    if [ -f "$fuzz/dictionaries/$1.dict" ]; then echo "-dict=$fuzz/dictionaries/$1.dict"; fi
}

if [ "${1:-all}" = shrink ]; then
    [ $# -lt 2 ] || { known "$2"; targets=("$2"); }
    for target in "${targets[@]}"; do
        corpus=$fuzz/corpus/$target
        shrunk=$(mktemp -d)
        mkdir -p "$fuzz/new/$target"
        cargo +nightly fuzz run "${build[@]}" "$target" "$shrunk" "$corpus" "$fuzz/new/$target" -- \
            "${limits[@]}" -set_cover_merge=1
        # Inputs with a name stay. Of the others the smallest, since all are committed and replayed by a test.
        find "$corpus" -regextype egrep -regex '.*/[0-9a-f]{40}' -delete
        (cd "$shrunk" && find . -regextype egrep -regex './[0-9a-f]{40}' -printf '%s %f\n') | sort -n |
            awk '(size += $1) < 32768 && NR <= 100 { print $2 }' |
            while read -r file; do cp "$shrunk/$file" "$corpus"; done
        rm -r "$shrunk"
    done
    exit
fi

minutes=${2:-10}
[ "${1:-all}" = all ] || { known "$1"; targets=("$1"); }
failed=0
for target in "${targets[@]}"; do
    mkdir -p "$fuzz/new/$target"
    echo "== $target, $minutes minutes"
    cargo +nightly fuzz run "${build[@]}" "$target" "$fuzz/new/$target" "$fuzz/corpus/$target" -- \
        "${limits[@]}" $(dictionary "$target") -max_total_time=$((60 * minutes)) -print_final_stats=1 ||
        failed=1
done
exit $failed
