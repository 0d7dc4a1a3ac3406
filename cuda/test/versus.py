#!/usr/bin/env python3
"""Compares the rates of models side by side: each round measures every one in turn.

    versus.py --library build/librookery_cuda.so [--shapes 1.5b,v6-1.6b] [--rounds 5]

Medians over the rounds of the median step of bench.py, their spread, and the rate against the
first shape's. Weights are random, fp16.
"""
import argparse
import os

import numpy as np
import torch

import native
from bench import decode, prefill
from model import released, weights


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library", required=True)
    p.add_argument("--shapes", default="1.5b,v6-1.6b")
    p.add_argument("--rows", default="1,4,8,32,128,256")
    p.add_argument("--prefill", default="512,4096")
    p.add_argument("--state", default="fp32", choices=("fp32", "fp16"))
    p.add_argument("--seconds", type=float, default=0.1)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--tune", type=float, default=8)
    a = p.parse_args()
    rows, prompts = [[int(n) for n in t.split(",") if n] for t in (a.rows, a.prefill)]
    lib = native.Library(os.path.abspath(a.library))
    names, engines = a.shapes.split(","), []
    for name in names:
        s = released(name)
        e = native.Engine(lib, s, ((n, t.cpu()) for n, t in weights(s, device="cuda", dtype=torch.float16)), slots=max(rows), max_tokens=4096,
                          state=native.F16 if a.state == "fp16" else native.F32)
        torch.cuda.empty_cache()
        if a.tune:
            e.call("rk_tune", native.C.c_double(a.tune))
        engines.append(e)
        print(f"{name}: {e.memory().weights / 2**30:.2f} GiB of weights", flush=True)
    cases = [("B", n) for n in rows] + [("T", n) for n in prompts]
    got = {(c, name): [] for c in cases for name in names}
    for i in range(a.rounds):
        for name, e in list(zip(names, engines))[::-1 if i % 2 else 1]:
            for what, n in cases:
                got[(what, n), name].append(decode(e, n, a.seconds)[0][0] if what == "B" else prefill(e, n, 2)[0])
    for c in cases:
        line, first = f"{c[0]}{c[1]:<5}", np.median(got[c, names[0]])
        for name in names:
            t = np.array(got[c, name])
            line += f"  {name} {c[1] / np.median(t) * 1e3:9.0f} tok/s ({np.median(t):.3f} ms, spread {(t.max() - t.min()) / np.median(t):.1%}) {first / np.median(t) - 1:+.1%}"
        print(line, flush=True)
    for e in engines:
        e.close()


if __name__ == "__main__":
    main()
