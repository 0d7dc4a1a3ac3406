#!/bin/sh
# Builds stream_test, checks the products of stream.h and times them. Usage:
# cuda/test/stream.sh, from the repository's root.
set -eu
cd "$(dirname "$0")/.."
make -j
${NVCC:-nvcc} -std=c++17 -O3 -arch=sm_90a -DROOKERY_HOPPER -c test/stream_test.cu -o build/stream_test.o
${NVCC:-nvcc} -arch=sm_90a -cudart static build/*.o -o build/stream_test -ldl
build/stream_test check
build/stream_test time
