#!/usr/bin/env python3
"""Measures librookery_cuda.so on synthetic weights of released shapes.

    bench.py --library build/librookery_cuda.so [--shapes 0.1b,1.5b] [--json out.json]

Decoding is end to end: embedding, forward pass, a draw with penalties and
top_p for every row, and the tokens on the host, which feeds each one to the
next step. Times are medians of wall time, in milliseconds; in brackets the
time on the device.
"""
import argparse
import json
import os
import time

import numpy as np
import torch

import native
from model import released, weights

ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 320, 960)
SAMPLING = dict(temperature=1., top_p=.9, top_k=0, presence=.3, frequency=.3, decay=.996, flags=native.DRAW | native.OBSERVE)


def decode(e, n, seconds):
    """Median milliseconds of a step, and those on the device."""
    for i in range(n):
        e.set_counts(i, np.zeros(0, native.COUNT))
    table, tokens, bans = e.pack([SAMPLING | dict(slot=i, tokens=[i + 1], seed=i) for i in range(n)])
    times, device, until, i = [], [], 0, 0
    while i < 8 or time.perf_counter() < until or len(times) < 8:
        begin = time.perf_counter()
        results, _ = e.run(table, tokens, bans)
        tokens[:] = results["token"]
        table["draw"] += 1
        end = time.perf_counter()
        i += 1
        if i == 5:
            until = end + seconds
        if i > 5:
            times.append((end - begin) * 1e3)
            device.append(e.timing().device)
    return np.percentile(times, [50, 10, 90]), float(np.median(device))


def prefill(e, n, rounds):
    rng, times, device = np.random.default_rng(1), [], []
    for i in range(rounds + 1):
        e.zero(0)
        packed = e.pack([SAMPLING | dict(slot=0, tokens=[int(t) for t in rng.integers(1, e.shape["vocab"], n)])])
        begin = time.perf_counter()
        e.run(*packed)
        if i:
            times.append((time.perf_counter() - begin) * 1e3)
            device.append(e.timing().device)
    return float(np.median(times)), float(np.median(device))


def measure(lib, name, a):
    s = released(name)
    made = [(n, t.cpu()) for n, t in weights(s, device="cuda")]
    torch.cuda.empty_cache()
    size = sum(t.numel() * t.element_size() for _, t in made)
    out = dict(shape=name, state=a.state, weights=a.weights, decode={}, prefill={})
    begin = time.perf_counter()
    e = native.Engine(lib, s, made, slots=max(a.rows), max_tokens=4096, state=native.F16 if a.state == "fp16" else native.F32,
                      kind=native.BF16 if a.weights == "bf16" else native.F16, tuning=a.tuning and f"{a.tuning}-{name}")
    out["load_s"] = time.perf_counter() - begin
    m = e.memory()
    print(f"{name}, {a.weights} weights, {a.state} states: {size / 1e9:.1f} GB loaded in {out['load_s']:.1f} s; "
          f"{m.weights / 2**30:.2f} GiB weights, {m.states / max(a.rows) / 2**20:.1f} MiB a slot, {m.scratch / 2**30:.2f} GiB scratch")
    if a.tune:
        begin = time.perf_counter()
        e.call("rk_tune", native.C.c_double(a.tune))
        print(f"  tuned in {time.perf_counter() - begin:.1f} s")
    for n in a.rows:
        (ms, low, high), device = decode(e, n, a.seconds)
        out["decode"][n] = dict(ms=ms, p10=low, p90=high, device_ms=device, tokens_per_s=n / ms * 1e3)
        print(f"  decode  B{n:<4} {ms:8.3f} ms ({device:8.3f}; 10 to 90 %: {low:.3f} to {high:.3f}) {n / ms * 1e3:10.0f} tok/s", flush=True)
    for n in a.prefill:
        ms, device = prefill(e, n, 3)
        out["prefill"][n] = dict(ms=ms, device_ms=device, tokens_per_s=n / ms * 1e3)
        print(f"  prefill T{n:<4} {ms:8.3f} ms ({device:8.3f}) {n / ms * 1e3:10.0f} tok/s", flush=True)
    e.close()
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library", required=True)
    p.add_argument("--shapes", default="0.1b,1.5b,7.2b")
    p.add_argument("--rows", default=",".join(map(str, ROWS)))
    p.add_argument("--prefill", default="512,4096")
    p.add_argument("--state", default="fp32", choices=("fp32", "fp16"))
    p.add_argument("--weights", default="fp16", choices=("fp16", "bf16"))
    p.add_argument("--seconds", type=float, default=0.3, help="of decoding for each number of rows")
    p.add_argument("--tune", type=float, default=0, help="seconds of tuning first")
    p.add_argument("--tuning", help="beginning of the tuning files' names")
    p.add_argument("--json")
    a = p.parse_args()
    a.rows, a.prefill = [[int(n) for n in t.split(",") if n] for t in (a.rows, a.prefill)]
    lib = native.Library(os.path.abspath(a.library))
    results = [measure(lib, name, a) for name in a.shapes.split(",")]
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
