#!/usr/bin/env python3
"""Checks librookery_cuda.so on the GPU of this machine.

    test.py --library build/librookery_cuda.so [names of checks]

Logits are compared with the float64 reference of model.py and with what the
public rwkv package computed (golden.py), draws with the definition in draw.py.
Errors are norms of differences over norms.
"""
import argparse
import os
import sys
import time
import traceback

import check
import check_draws
import check_adapters
import check_engine
import check_logits
import check_package


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library", required=True)
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    check.use(os.path.abspath(a.library))
    failed = []
    for f in check.CHECKS:
        if a.names and f.__name__ not in a.names:
            continue
        start = time.time()
        print(f.__name__, flush=True)
        try:
            f()
            print(f"    ok, {time.time() - start:.1f} s", flush=True)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed.append(f.__name__)
    print("all checks passed" if not failed else f"FAILED: {', '.join(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
