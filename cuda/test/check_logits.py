"""Logits and states against the float64 reference of model.py, and against each other."""
import numpy as np
import torch

import native
from check import DEVICE, OLDER, SMALL, SMALL_V6, at_most, check, error, model, open_engine, same, tokens_of
from model import Reference, make_shape, make_older, make_v6, released


def read_mixed(e, ref, rng, rounds):
    """Feeds rows of mixed lengths; returns the largest error of logits and the
    reference's state with the slots it belongs to."""
    s, state, worst = e.shape, {}, 0.0
    for _ in range(rounds):
        slots = [int(i) for i in rng.permutation(e.slots)[:rng.integers(1, e.slots + 1)]]
        rows = [dict(slot=i, tokens=tokens_of(rng, s, int(rng.choice([1, 1, 1, 2, 5, 17, 33]))), flags=native.LOGITS) for i in slots]
        if rng.integers(3) == 0:
            rows = [r | dict(tokens=r["tokens"][:1]) for r in rows]
        e.step(rows)
        for i, r in enumerate(rows):
            mine = state.setdefault(r["slot"], ref.zero(1))
            for t in r["tokens"]:
                want = ref.step([t], mine)
            worst = max(worst, error(e.logits(i), want[0].cpu()))
    return worst, state


@check
def logits_of_mixed_rows():
    for name, s, kind, flags, limit in (
            ("fp16", SMALL, native.F16, 0, 2e-3),
            ("fp16, launched singly", SMALL, native.F16, native.EAGER, 2e-3),
            ("bf16", SMALL, native.BF16, 0, 1.5e-2),
            ("fp32 file", SMALL, native.F16, 0, 2e-3),
            ("heads of 32", make_shape(2, 96, 32, (8, 5, 3, 16), vocab=100), native.F16, 0, 3e-3),
            ("heads of 16", make_shape(2, 64, 16, (8, 8, 8, 16), vocab=100), native.F16, 0, 3e-3),
            ("heads of 8", make_shape(2, 40, 8, (8, 8, 8, 16), ffn=72, vocab=96), native.F16, 0, 3e-3),
            ("heads of 128", make_shape(2, 256, 128, (8, 8, 8, 16), vocab=100), native.F16, 0, 3e-3),
            ("one layer, wide", make_shape(1, 4608, 64, (32, 32, 32, 32), ffn=512, vocab=128), native.F16, 0, 2e-3),
            ("v6, fp16", SMALL_V6, native.F16, 0, 2e-3),
            ("v6, fp16, launched singly", SMALL_V6, native.F16, native.EAGER, 2e-3),
            ("v6, bf16", SMALL_V6, native.BF16, 0, 1.5e-2),
            ("v6, fp32 file, strong decays", SMALL_V6, native.F16, 0, 2e-3),
            ("v6, heads of 128", make_v6(2, 256, 128, (40, 72), vocab=100), native.F16, 0, 3e-3),
            ("v6, heads of 16", make_v6(2, 64, 16, (8, 8), ffn=200, vocab=100), native.F16, 0, 3e-3),
            ("v6, heads of 8", make_v6(2, 40, 8, (8, 8), ffn=72, vocab=96), native.F16, 0, 3e-3),
            ("v6, one layer, wide", make_v6(1, 4608, 64, (32, 32), ffn=512, vocab=128), native.F16, 0, 2e-3),
            *((f"{name}, fp16", s, native.F16, 0, 4e-3) for name, s in OLDER.items()),
            *((f"{name}, bf16", s, native.BF16, 0, 3e-2) for name, s in OLDER.items()),
            ("v5.2, heads of 16", make_older(52, 2, 64, 16, ffn=200, vocab=100), native.F16, 0, 3e-3),
            ("v4, odd", make_older(40, 2, 40, ffn=72, vocab=97), native.F16, 0, 3e-3)):
        w = model(s, dtype=torch.float32 if "fp32" in name else torch.bfloat16)
        if "strong" in name: # from hardly any to exp(-exp(6)) a token, whose inverse no float holds
            w = [(n, torch.linspace(-9, 6, t.numel())[torch.randperm(t.numel())] if n.endswith("time_decay") else t) for n, t in w]
        ref = Reference(s, w, DEVICE)
        e = open_engine(s, w, kind=kind, slots=5, max_tokens=200, flags=flags)
        worst, state = read_mixed(e, ref, np.random.default_rng(1), 8)
        at_most(f"{name}: logits", worst, limit)
        at_most(f"{name}: states", max(error(e.read(i), ref.flat(v, 0).cpu()) for i, v in state.items()), limit * 2)
        e.close()


@check
def logits_of_many_rows():
    wide = make_shape(2, 512, ranks=(96, 64, 32, 160), ffn=2080, vocab=3000)
    odd = make_shape(2, 320, ranks=(8, 40, 8, 8), ffn=1064, vocab=1001)
    for name, s, kind, states, limit in (("fp16", wide, native.F16, native.F32, 2e-3), ("bf16", wide, native.BF16, native.F32, 1.5e-2),
                                         ("fp16 states", wide, native.F16, native.F16, 4e-3), ("odd", odd, native.F16, native.F32, 2e-3),
                                         ("fp16 states, odd", odd, native.F16, native.F16, 4e-3),
                                         ("v6, fp16", make_v6(2, 512, ranks=(32, 64), vocab=3000), native.F16, native.F32, 2e-3),
                                         ("v6, bf16, fp16 states", make_v6(2, 512, ranks=(64, 128), vocab=3000), native.BF16, native.F16, 2e-2),
                                         ("v6, fp16 states, odd", make_v6(2, 320, ranks=(24, 40), ffn=1064, vocab=1001), native.F16, native.F16, 4e-3),
                                         *((name, make_older(v, 2, 512, vocab=3000), native.F16, native.F32, 2e-3) for name, v in (("v5.2", 52), ("v5.0", 50), ("v4", 40)))):
        w, rng = model(s), np.random.default_rng(11)
        ref = Reference(s, w, DEVICE)
        e, mine, worst = open_engine(s, w, kind=kind, state=states, slots=450, max_tokens=600), ref.zero(450), 0.0
        for n in 9, 12, 16, 17, 32, 33, 64, 65, 128, 200, 300, 450:
            for _ in range(2):
                t = tokens_of(rng, s, 450)
                part = [tuple(v[:n] for v in layer) for layer in mine]
                e.step([dict(slot=k, tokens=[t[k]], flags=native.LOGITS) for k in range(n)])
                want = ref.step(t[:n], part).cpu().numpy()
                for layer, new in zip(mine, part):
                    for whole, v in zip(layer, new):
                        whole[:n] = v
            worst = max(worst, max(error(e.logits(k), want[k]) for k in (0, n // 2, n - 1)))
        at_most(f"{name}: logits", worst, limit)
        at_most(f"{name}: states", max(error(e.read(k), ref.flat(mine, k).cpu()) for k in (0, 8, 63, 299, 449)), limit * 2)
        e.close()


@check
def long_decoding():
    for size, name, kind, state, n, limit in (
            ("0.1b", "fp32 states", native.F16, native.F32, 1000, 3e-3), ("0.1b", "fp16 states", native.F16, native.F16, 300, 3e-2),
            ("0.1b", "bf16 weights", native.BF16, native.F32, 300, 3e-2), ("v6-0.1b", "v6, fp32 states", native.F16, native.F32, 1000, 3e-3),
            ("v6-0.1b", "v6, fp16 states", native.F16, native.F16, 300, 3e-2)):
        s, rng = released(size), np.random.default_rng(2)
        w = model(s)
        ref = Reference(s, w, DEVICE)
        e, mine, worst = open_engine(s, w, kind=kind, state=state, slots=2), ref.zero(2), 0.0
        for i in range(n):
            t = tokens_of(rng, s, 2)
            e.step([dict(slot=k, tokens=[t[k]], flags=native.LOGITS) for k in range(2)])
            last = (i + 1) % 100 == 0
            want = ref.step(t, mine, last)
            if last:
                worst = max(worst, *(error(e.logits(k), want[k].cpu()) for k in range(2)))
        at_most(f"{name}: logits over {n} decoded tokens", worst, limit)
        e.close()


@check
def chunks_against_single_tokens():
    for size in "0.1b", "v6-0.1b":
        s, rng = released(size), np.random.default_rng(3)
        e = open_engine(s, model(s), slots=4, max_tokens=4096)
        t = tokens_of(rng, s, 4096)
        e.step([dict(slot=0, tokens=t, flags=native.LOGITS)])
        whole = e.logits(0)
        for at in range(0, 4096, 1000):
            e.step([dict(slot=1, tokens=t[at:at + 1000], flags=native.LOGITS)])
        at_most(f"{size}: by 1000 and at once", error(e.logits(0), whole), 2e-3)
        for one in t:
            e.step([dict(slot=2, tokens=[one], flags=native.LOGITS)])
        at_most(f"{size}: singly and at once", error(e.logits(0), whole), 2e-3)
        at_most(f"{size}: states", error(e.read(2), e.read(0)), 2e-3)
        e.close()
