#!/bin/sh
# Builds wkv_chunk_test, checks the chunked time mix against float64, with tensor
# cores and with plain arithmetic, and times it. FLAGS are given to nvcc too.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-/tmp/rookery-wkv-chunk}
mkdir -p "$build"
for f in layer/wkv_chunk_prepare layer/wkv_chunk_scan test/wkv_chunk_test; do
    nvcc -std=c++17 -O3 -I. -arch="${ARCH:-sm_90}" -lineinfo ${FLAGS:-} -c "$f.cu" -o "$build/$(basename "$f").o" &
    nvcc -std=c++17 -O3 -I. -arch="${ARCH:-sm_90}" -DROOKERY_PLAIN_TILES -c "$f.cu" -o "$build/plain_$(basename "$f").o" &
done
wait
nvcc -arch="${ARCH:-sm_90}" -cudart static "$build"/wkv_chunk_*.o -o "$build/wkv_chunk_test"
nvcc -arch="${ARCH:-sm_90}" -cudart static "$build"/plain_*.o -o "$build/wkv_chunk_plain"
"$build/wkv_chunk_plain" quick
"$build/wkv_chunk_test" check
"$build/wkv_chunk_test" time
