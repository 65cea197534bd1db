#!/usr/bin/env bash
# Computes rows of the committed results again and compares them (`flitlab verify`): ten of them, as many as fit into a
# time (--within 10min), or all that no earlier call has found equal (--all: hours; an interrupted call is gone on with by
# the next one). What is equal stands in results/verified.csv.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --quiet
target/release/flitlab verify results "$@"
