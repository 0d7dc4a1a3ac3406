#!/bin/sh
# Builds wgmma_test, checks the products of layer/wgmma.h and times them. Usage:
# cuda/test/wgmma.sh, from the repository's root.
set -eu
cd "$(dirname "$0")/.."
make -j
${NVCC:-nvcc} -std=c++17 -O3 -I. -arch=sm_90a -DROOKERY_HOPPER -c test/wgmma_test.cu -o build/wgmma_test.o
${NVCC:-nvcc} -arch=sm_90a -cudart static build/wgmma_test.o build/*/*.o -o build/wgmma_test -ldl
build/wgmma_test check
build/wgmma_test time
