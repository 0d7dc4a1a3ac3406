#!/usr/bin/env bash
# Runs drive under compute-sanitizer: bad and misaligned addresses (memcheck),
# races in shared memory (racecheck), reads of what nothing wrote (initcheck).
#   test/sanitize.sh [folder of the library] [tool...]
# The library is best built with MORE=-lineinfo, so that places have names.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../build}" && pwd) # before the way there changes
shift || true
cd "$here"
tools=${*:-memcheck racecheck initcheck}
drive=$build/drive
c++ -std=c++17 -O1 -I.. -Wall -Wextra -o "$drive.$$" drive.cc -L"$build" -lrookery_cuda -Wl,-rpath,"$build"
mv "$drive.$$" "$drive" # another tool may be running it
first=$("$drive")
echo "$first"
if [ "$("$drive")" != "$first" ]; then
    echo "two runs differ" >&2
    exit 1
fi

sanitize() { compute-sanitizer --error-exitcode 9 --print-limit 20 "$@"; }

# races PART...: racecheck of these parts. At cuBLASLt's kernels it ends in an illegal
# address on Hopper, so plain products take their place.
races() {
    local said status=0
    said=$(ROOKERY_CUBLASLT=$build/plain_blaslt.so sanitize --tool racecheck --racecheck-report all "$drive" "$@" 2>&1) || status=1
    printf -- '-- %s\n%s\n' "$*" "$said"
    return $status
}

# It is slow, most of all in draws and mixes, whose kernels know nothing of the model:
# one model has these, and parts run beside each other.
all_races() {
    "${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}" -std=c++17 -O2 -I.. -arch=native -lineinfo -Xcompiler -fPIC,-Wall,-Wextra -shared -cudart static \
        -o "$build/plain_blaslt.so" plain_blaslt.cu || return 1
    local pids=() pid failed=0 model
    races -m 1 draws & pids+=($!)
    races -m 1 mixes & pids+=($!)
    races many & pids+=($!)
    for model in 1 2; do
        races -m $model single mixed adapters slots & pids+=($!)
    done
    for model in 5 6 8; do
        races -m $model single mixed adapters slots & pids+=($!)
    done
    for model in 3 4 7 9 10 11; do
        races -m $model single mixed adapters & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    return $failed
}

status=0
for tool in $tools; do
    echo "== $tool"
    if [ "$tool" = racecheck ]; then
        all_races || status=1
    else
        sanitize --tool "$tool" "$drive" || status=1
    fi
done
exit $status
