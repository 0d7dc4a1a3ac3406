#!/usr/bin/env bash
# Runs drive under compute-sanitizer: bad and misaligned addresses (memcheck),
# races in shared memory (racecheck), reads of what nothing wrote (initcheck).
#   test/sanitize.sh [folder of the library] [tool...]
# The library is best built with MORE=-lineinfo, so that places have names.
set -euo pipefail
cd "$(dirname "$0")"
build=$(cd "${1:-../build}" && pwd)
shift || true
tools=${*:-memcheck racecheck initcheck}
drive=$build/drive
c++ -std=c++17 -O1 -Wall -Wextra -o "$drive.$$" drive.cc -L"$build" -lrookery_cuda -Wl,-rpath,"$build"
mv "$drive.$$" "$drive" # another tool may be running it
first=$("$drive")
echo "$first"
if [ "$("$drive")" != "$first" ]; then
    echo "two runs differ" >&2
    exit 1
fi
status=0
for tool in $tools; do
    echo "== $tool"
    case $tool in
    # cuBLASLt's kernels wait for copies in ways that racecheck does not know.
    racecheck) more=(--racecheck-report all --kernel-name-exclude kernel_substring=nvjet) ;;
    *) more=() ;;
    esac
    compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 "${more[@]}" "$drive" || status=1
done
exit $status
