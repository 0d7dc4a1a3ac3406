#!/usr/bin/env bash
# Builds the library on a machine with a GPU, checks it and measures it.
#   test/device.sh [folder for logs]
set -o pipefail
cd "$(dirname "$0")/.."
logs=${1:-build}
mkdir -p "$logs"
make -j "$(nproc)" 2>&1 | tail -n 5 || exit 1
python3 test/test.py --library build/librookery_cuda.so 2>&1 | tee "$logs/test.log"
passed=$?
python3 test/bench.py --library build/librookery_cuda.so --json "$logs/bench.json" 2>&1 | tee "$logs/bench.log"
exit $passed
