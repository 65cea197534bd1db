#!/bin/sh
# Counts the lines of src, of the root and of each crate but that of the tests, that are neither blank, comment nor test:
#
#     scripts/count-lines.sh            the working tree
#     scripts/count-lines.sh REVISION   what git has there
#     scripts/count-lines.sh -f [REVISION]   a line a file, the longest last
#
# A line counts as comment if nothing but a comment stands in it: `//`, `///` or `//!`, or a line of a block comment.
# A line counts as test if it belongs to an item under `#[cfg(test)]`, or stands in a file called tests.rs, in a folder
# called tests, or in a file whose module is declared under `#[cfg(test)]`. The end of an item is found by its
# indentation, since all code is formatted by rustfmt. Lines of strings count, whatever is in them.
set -eu
cd "$(dirname "$0")/.."
each=no
if [ "${1:-}" = -f ]; then
    each=yes
    shift
fi
if [ $# -gt 0 ]; then
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    git archive "$1" | tar -x -C "$unpacked"
    cd "$unpacked"
fi
find src crates/*/src -name '*.rs' ! -path 'crates/reference/*' ! -path 'crates/random/*' ! -name tests.rs ! -path '*/tests/*' | LC_ALL=C sort | xargs awk -v each="$each" '
    FNR == 1 { test = 0; block = 0 }
    { text = $0; sub(/^[ \t]+/, "", text); indent = length($0) - length(text) }
    block { if (text ~ /\*\//) block = 0; next }
    text == "" || text ~ /^\/\// { next }
    text ~ /^\/\*/ { if (text !~ /\*\//) block = 1; next }
    # Within an item that is a test: 1 before its first line, 2 from there to its closing brace.
    test == 1 {
        if (text ~ /^#\[/) next
        if (match(text, /^(pub(\([a-z]+\))? )?mod [a-z_0-9]+;$/)) {
            name = text; sub(/^.*mod /, "", name); sub(/;$/, "", name)
            folder = FILENAME
            if (folder ~ /\/(mod|lib|main)\.rs$/) sub(/\/[^\/]*$/, "", folder); else sub(/\.rs$/, "", folder)
            apart[folder "/" name ".rs"] = 1
        }
        # An item may be one line; otherwise it ends where a line of its indentation begins with a closing bracket.
        test = text ~ /(;|,|\})$/ && text !~ /\{$/ ? 0 : 2
        next
    }
    test == 2 { if (indent == opened && text ~ /^\}/) test = 0; next }
    text ~ /^#\[cfg\(test\)\]/ { test = 1; opened = indent; next }
    { lines[FILENAME]++ }
    END {
        for (file in lines) {
            if (file in apart) continue
            total += lines[file]
            if (each == "yes") print lines[file], file | "sort -n"
        }
        close("sort -n")
        print total, (each == "yes" ? "in all" : "")
    }' | sed 's/ $//'
