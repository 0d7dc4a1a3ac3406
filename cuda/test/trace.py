#!/usr/bin/env python3
"""Where the time of a decoding step goes, kernel by kernel.

    trace.py --library build/librookery_cuda.so [--shapes 0.1b] [--rows 1,8] [--state fp16]

Kernels overlap, as each begins before the one before it has ended: `takes` is how
long a kernel is on the device, `adds` how much later the step ends for it. Rows
have drawn --seen tokens before, on which the time of a draw depends.
"""
import argparse
import collections
import os
import re

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

import native
from bench import SAMPLING
from model import released, weights

STEPS = 8


def short(name):
    """A kernel's name without namespaces and template arguments."""
    name = re.sub(r"\(anonymous namespace\)::|^void |\(.*$", "", name)
    sink = re.search(r"(\w+Sink)", name)
    return re.sub(r"<.*$", "", name).split("::")[-1] + (f" {sink[1]}" if sink else "")


def kernels(run):
    """(start, duration, name) in microseconds of all that run does on the device."""
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        run()
        torch.cuda.synchronize()
    on_device = torch._C._autograd.DeviceType.CUDA
    events = [e for e in p.profiler.kineto_results.events() if e.device_type() == on_device]
    return sorted((e.start_ns() / 1e3, e.duration_ns() / 1e3, e.name()) for e in events)


def steps_of(events):
    """Cuts events into steps, which begin with the embedding; without the first."""
    steps = []
    for e in events:
        if "embed_tokens" in e[2]:
            steps.append([])
        if steps:
            steps[-1].append(e)
    return steps[1:]


def table(steps):
    count, takes, adds, spans = collections.Counter(), collections.Counter(), collections.Counter(), []
    for step in steps:
        end = step[0][0]
        for start, took, name in step:
            count[short(name)] += 1
            takes[short(name)] += took
            adds[short(name)] += max(0.0, start + took - end)
            end = max(end, start + took)
        spans.append(end - step[0][0])
    print(f"    from the first kernel to the end: {np.median(spans):.1f} us")
    for name, added in adds.most_common():
        print(f"    {name:44s} x{count[name] / len(steps):<6g} takes {takes[name] / len(steps):8.1f}  adds {added / len(steps):8.1f} us")


def measure(e, n, seen):
    rng = np.random.default_rng(1)
    for i in range(n):
        counts = np.zeros(seen, native.COUNT)
        counts["token"], counts["n"], counts["first"] = rng.permutation(e.shape["vocab"])[:seen], 0.5, 0.5
        e.set_counts(i, counts)
    rows, tokens, bans = e.pack([SAMPLING | dict(slot=i, tokens=[i + 1], seed=i) for i in range(n)])
    device, submit, wait = [], [], []

    def step(times):
        for _ in range(times):
            tokens[:] = e.run(rows, tokens, bans)[0]["token"]
            rows["draw"] += 1
            t = e.timing()
            for to, ms in (device, t.device), (submit, t.submit), (wait, t.wait):
                to.append(ms * 1e3)

    step(10)
    del device[:], submit[:], wait[:]
    step(100)
    print(f"B{n}: on the device {np.median(device):.1f} us; submitting takes the host {np.median(submit):.1f} us, waiting {np.median(wait):.1f} us")
    table(steps_of(kernels(lambda: step(STEPS))))


def trace(lib, name, a):
    s = released(name)
    made = [(n, t.cpu()) for n, t in weights(s, device="cuda")]
    torch.cuda.empty_cache()
    for state in a.state.split(","):
        print(f"{name}, {state} states")
        e = native.Engine(lib, s, made, slots=max(a.rows), max_tokens=max(64, max(a.rows)), state=native.F16 if state == "fp16" else native.F32)
        if a.tune:
            e.call("rk_tune", native.C.c_double(a.tune))
        for n in a.rows:
            measure(e, n, a.seen)
        e.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library", required=True)
    p.add_argument("--shapes", default="0.1b")
    p.add_argument("--rows", default="1,8")
    p.add_argument("--seen", type=int, default=1500)
    p.add_argument("--state", default="fp32", help="fp32, fp16 or both: fp32,fp16")
    p.add_argument("--tune", type=float, default=0, help="seconds of tuning first")
    a = p.parse_args()
    a.rows = [int(n) for n in a.rows.split(",")]
    lib = native.Library(os.path.abspath(a.library))
    for name in a.shapes.split(","):
        trace(lib, name, a)


if __name__ == "__main__":
    main()
