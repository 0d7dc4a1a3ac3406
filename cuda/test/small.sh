#!/bin/sh
# Builds small_bench, checks the stages for few tokens against float64 and times
# them. Usage: cuda/test/small.sh [shape...], from the repository's root.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-/tmp/rookery-small}
mkdir -p "$build"
for f in failure arena model timemix timemix_single wkv_chunk_prepare wkv_chunk_scan small small_project small_output small_ffn small_value test/small_bench; do
    nvcc -std=c++17 -O3 -arch="${ARCH:-sm_90}" -lineinfo -c "$f.cu" -o "$build/$(basename "$f").o" &
done
wait
nvcc -arch="${ARCH:-sm_90}" -cudart static "$build"/*.o -o "$build/small_bench"
"$build/small_bench" check
"$build/small_bench" launch
"$build/small_bench" time "$@"
