#!/usr/bin/env python3
"""Checks librookery_cuda.so on the GPU of this machine.

    test.py --library build/librookery_cuda.so [names of checks]

Logits are compared with the float64 reference of model.py, draws with the
definition in draw.py. Errors are norms of differences over norms.
"""
import argparse
import os
import sys
import time
import traceback

import numpy as np
import torch

import native
from draw import Sampler
from model import Reference, make_shape, released, weights

SMALL = make_shape(3, 256, ranks=(32, 64, 32, 96), vocab=2000)
DEVICE = "cuda"
CHECKS = []


def check(f):
    CHECKS.append(f)
    return f


def error(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def at_most(what, value, limit):
    print(f"    {what}: {value:.2e} (at most {limit:.0e})")
    assert value <= limit, f"{what}: {value} is more than {limit}"


def same(what, a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.tobytes() == b.tobytes(), f"{what}: {np.count_nonzero(a != b)} of {a.size} values differ"


def model(s, seed=1, dtype=torch.bfloat16):
    return list(weights(s, seed, dtype=dtype))


def tokens_of(rng, s, n):
    return [int(t) for t in rng.integers(1, s["vocab"], n)]


def open_engine(s, w, **options):
    return native.Engine(LIBRARY, s, w, **options)


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
            ("one layer, wide", make_shape(1, 4608, 64, (32, 32, 32, 32), ffn=512, vocab=128), native.F16, 0, 2e-3)):
        w = model(s, dtype=torch.float32 if "fp32" in name else torch.bfloat16)
        ref = Reference(s, w, DEVICE)
        e = open_engine(s, w, kind=kind, slots=5, max_tokens=200, flags=flags)
        worst, state = read_mixed(e, ref, np.random.default_rng(1), 8)
        at_most(f"{name}: logits", worst, limit)
        at_most(f"{name}: states", max(error(e.read(i), ref.flat(v, 0).cpu()) for i, v in state.items()), limit * 2)
        e.close()


@check
def logits_of_many_rows():
    wide = make_shape(2, 512, ranks=(96, 64, 32, 160), ffn=2080, vocab=3000)
    for name, s, kind, limit in ("fp16", wide, native.F16, 2e-3), ("bf16", wide, native.BF16, 1.5e-2), ("odd", make_shape(2, 320, ranks=(8, 40, 8, 8), ffn=1064, vocab=1001), native.F16, 2e-3):
        w, rng = model(s), np.random.default_rng(11)
        ref = Reference(s, w, DEVICE)
        e, mine, worst = open_engine(s, w, kind=kind, slots=300, max_tokens=600), ref.zero(300), 0.0
        for n in 9, 12, 16, 17, 32, 33, 64, 65, 128, 200, 300:
            for _ in range(2):
                t = tokens_of(rng, s, 300)
                part = [tuple(v[:n] for v in layer) for layer in mine]
                e.step([dict(slot=k, tokens=[t[k]], flags=native.LOGITS) for k in range(n)])
                want = ref.step(t[:n], part).cpu().numpy()
                for layer, new in zip(mine, part):
                    for whole, v in zip(layer, new):
                        whole[:n] = v
            worst = max(worst, max(error(e.logits(k), want[k]) for k in (0, n // 2, n - 1)))
        at_most(f"{name}: logits", worst, limit)
        at_most(f"{name}: states", max(error(e.read(k), ref.flat(mine, k).cpu()) for k in (0, 8, 63, 299)), limit * 2)
        e.close()


@check
def long_decoding():
    s = released("0.1b")
    w = model(s)
    ref, rng = Reference(s, w, DEVICE), np.random.default_rng(2)
    for name, kind, state, limit in (("fp32 states", native.F16, native.F32, 3e-3), ("fp16 states", native.F16, native.F16, 3e-2),
                                     ("bf16 weights", native.BF16, native.F32, 3e-2)):
        e, mine, worst, n = open_engine(s, w, kind=kind, state=state, slots=2), ref.zero(2), 0.0, 1000 if name == "fp32 states" else 300
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
    s, rng = released("0.1b"), np.random.default_rng(3)
    e = open_engine(s, model(s), slots=4, max_tokens=4096)
    t = tokens_of(rng, s, 4096)
    e.step([dict(slot=0, tokens=t, flags=native.LOGITS)])
    whole = e.logits(0)
    for at in range(0, 4096, 1000):
        e.step([dict(slot=1, tokens=t[at:at + 1000], flags=native.LOGITS)])
    at_most("by 1000 and at once", error(e.logits(0), whole), 2e-3)
    for one in t:
        e.step([dict(slot=2, tokens=[one], flags=native.LOGITS)])
    at_most("singly and at once", error(e.logits(0), whole), 2e-3)
    at_most("states", error(e.read(2), e.read(0)), 2e-3)
    e.close()


@check
def slots():
    s, rng = SMALL, np.random.default_rng(4)
    w = model(s)
    for state in native.F32, native.F16:
        e = open_engine(s, w, slots=4, state=state)
        assert not e.read(3).any()
        values = rng.standard_normal(e.state_len).astype(np.float32)
        if state == native.F16:
            wkv = s["embed"] * s["head_size"]
            layers = values.reshape(s["layers"], -1)
            layers[:, -wkv:] = layers[:, -wkv:].astype(np.float16)
        e.write(1, values)
        same("read what was written", e.read(1), values)
        e.step([dict(slot=1, tokens=[5]), dict(slot=0, tokens=[7])])
        after = e.read(1)
        e.write(2, values)
        e.copy(3, 2)
        e.write(2, after)
        e.step([dict(slot=3, tokens=[5]), dict(slot=0, tokens=[7])])
        same("resumed from a copy", e.read(3), after)
        same("written over", e.read(2), after)
        e.zero(2)
        assert not e.read(2).any()
        e.step([dict(slot=1, tokens=[5, 6, 7])])
        same("others untouched", e.read(3), after)
        e.close()


@check
def rows_do_not_depend_on_others():
    s, rng = released("0.1b"), np.random.default_rng(5)
    e = open_engine(s, model(s), slots=64, flags=native.ONE_BUCKET)
    mine = tokens_of(rng, s, 12)
    strangers = [tokens_of(rng, s, 12) for _ in range(63)]
    results = []
    for others, place in ((0, 0), (63, 0), (63, 40), (20, 20), (63, 63)):
        for i in range(64):
            e.zero(i)
        for i, t in enumerate(mine):
            rows = [dict(slot=k, tokens=[strangers[k][i]], flags=native.LOGITS) for k in range(others)]
            rows.insert(place, dict(slot=63, tokens=[t], flags=native.LOGITS))
            e.step(rows)
        results.append((e.logits(place), e.read(63)))
    for logits, state in results[1:]:
        same("logits alone and among others", logits, results[0][0])
        same("state alone and among others", state, results[0][1])
    e.close()


@check
def run_to_run():
    s, rng = released("0.1b"), np.random.default_rng(6)
    w = model(s)
    t = [tokens_of(rng, s, 700) for _ in range(40)]

    def once():
        e = open_engine(s, w, slots=40, max_tokens=1024)
        out = []
        e.step([dict(slot=0, tokens=t[0], flags=native.LOGITS), dict(slot=1, tokens=t[1][:300], flags=native.LOGITS)])
        out += [e.logits(0), e.logits(1)]
        for n in 1, 2, 5, 8, 13, 33, 40:
            for i in range(3):
                e.step([dict(slot=k, tokens=[t[k][i]], flags=native.LOGITS) for k in range(n)])
            out += [e.logits(n - 1), e.read(0)]
        e.close()
        return np.concatenate(out)

    first = once()
    same("two runs", once(), first)


def draw_cases(rng, limit):
    def pick(*of):
        return of[rng.integers(len(of))]
    return Sampler(limit, mode=int(rng.integers(3)), temperature=pick(0, .0005, .001, .3, 1, 1, 1.7, 5, 1000),
                   top_p=pick(0, 1e-30, .1, .5, .9, .99, .9999, 1, 1), top_k=int(pick(0, 0, 1, 2, 7, 40, limit // 2, limit - 1, limit, 2 * limit)),
                   presence=pick(0, 0, .5, -3), frequency=pick(0, 0, .7, -1), decay=pick(1, .99, .5), seed=int(rng.integers(1 << 63)) * 2 + 1,
                   bans=[int(b) for b in rng.integers(0, limit + 3, rng.integers(4))], exempt=EXEMPT)


EXEMPT = [3, 11, 12, 40]


@check
def draws_by_definition():
    rng = np.random.default_rng(7)
    for vocab, limit, rounds in ((65536, 65530, 30), (1000, 990, 40), (65, 63, 40), (3000, 3000, 30)):
        s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=vocab)
        w = dict(weights(s))
        w["head.weight"] = (w["head.weight"].float() * float(rng.choice([.3, 1, 4]))).bfloat16()
        if vocab == 3000:  # many ties
            w["head.weight"] = w["head.weight"][torch.arange(vocab) // 40]
        n = 24
        e = open_engine(s, w.items(), slots=n, token_limit=limit)
        e.call("rk_set_exempt", native.pointer(np.array(EXEMPT, np.int32)), len(EXEMPT))
        wrong = 0
        for r in range(rounds // 4):
            samplers = [draw_cases(rng, limit) for _ in range(n)]
            for i, p in enumerate(samplers):
                p.draws = int(rng.integers(1 << 40))
                for t in rng.integers(0, limit, rng.integers(30)):
                    p.observe(int(t))
                counts = np.array([(t, *c) for t, c in p.counts.items()], native.COUNT)
                e.set_counts(i, counts[rng.permutation(len(counts))])
            for step in range(4):
                tops = [int(rng.choice([0, 0, 1, 5, 40, 256])) for _ in range(n)]
                rows = [p.row() | dict(slot=i, tokens=tokens_of(rng, s, 1), top=tops[i], flags=native.DRAW | native.OBSERVE) for i, p in enumerate(samplers)]
                results, candidates = e.step(rows)
                at = 0
                for i, p in enumerate(samplers):
                    logits = e.logits(i)
                    before = {t: c for t, c in p.counts.items()}
                    token, log_prob, weight = p.sample(logits)
                    ok = results[i]["token"] == token and abs(results[i]["log_prob"] - log_prob) <= 4e-6 * max(1, abs(log_prob))
                    ok &= same_candidates(candidates[at:at + tops[i]], results[i]["candidates"], tops[i], p, logits, weight)
                    at += tops[i]
                    p.observe(token)
                    got = e.get_counts(i)
                    ok &= {int(c["token"]): (c["n"], c["first"]) for c in got} == p.counts
                    if not ok:
                        wrong += 1
                        print("      differs:", vocab, p.row(), "top", tops[i], "drew", results[i], "want", token, log_prob, len(before))
        assert wrong == 0, f"{wrong} draws are not by the definition"
        print(f"    vocabulary of {vocab}: {rounds // 4 * 4 * n} draws")
        e.close()


def same_candidates(got, count, top, p, logits, weight):
    z = logits[:p.limit]
    order = np.argsort(-z, kind="stable")[:top]
    total = int(weight.sum(dtype=np.uint64))
    prob = weight[order].astype(np.float64) / total if total else np.zeros(len(order))
    got = got[:count]
    return (count == len(order) and np.array_equal(got["token"], order) and np.array_equal(got["prob"], prob.astype(np.float32))
            and np.allclose(got["log_prob"], p.log_prob(logits)[order], rtol=4e-6, atol=4e-6))


@check
def odd_logits():
    s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=500)
    for value, what in ((float("nan"), "NaN"), (float("inf"), "inf")):
        w = dict(weights(s))
        w["head.weight"][7] = value
        e = open_engine(s, w.items(), slots=2, kind=native.BF16)
        results, _ = e.step([dict(slot=0, tokens=[1], flags=native.DRAW, temperature=1), dict(slot=1, tokens=[2], flags=native.DRAW)])
        assert all(r["flags"] & native.NAN for r in results), f"{what} is not told: {results}"
        assert results[1]["token"] != 7
        e.close()


@check
def feeding_back():
    s, rng = released("0.1b"), np.random.default_rng(8)
    e = open_engine(s, model(s), slots=8)
    base = dict(temperature=1., top_p=.9, presence=.3, frequency=.3, decay=.99)

    def row(slot, token, i, more=0):
        return base | dict(slot=slot, tokens=[token], seed=slot % 4, draw=i, flags=native.DRAW | native.OBSERVE | more)

    waited, token = [], [1, 2, 3, 4]
    for i in range(20):
        token = [int(r["token"]) for r in e.step([row(k, token[k], i) for k in range(4)])[0]]
        waited.append(token)
    fed = []
    for i in range(20):
        e.submit(*e.pack([row(4 + k, k + 1 if i == 0 else native.FED_BACK, i) for k in range(4)]))
        if i > 0:
            fed.append([int(r["token"]) for r in e.wait(4)[0]])
    fed.append([int(r["token"]) for r in e.wait(4)[0]])
    assert fed == waited, "tokens fed back on the device differ"
    for k in range(4):
        same("state after feeding back", e.read(4 + k), e.read(k))
    e.call("rk_set_drawn", 4, 0)
    before, counts = e.read(4), e.get_counts(4)
    results, _ = e.step([row(4, native.FED_BACK, 20, native.FREEZE), row(5, native.FED_BACK, 20, native.FREEZE)])
    assert results[0]["flags"] & native.FROZEN and results[0]["token"] == 0 and not results[1]["flags"]
    same("a frozen state", e.read(4), before)
    same("frozen counts", e.get_counts(4), counts)
    e.close()


@check
def refusals():
    s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=100)
    w = model(s)

    def refused(status, part, f):
        try:
            f()
        except native.Error as err:
            assert err.status == status and part in err.message, f"{err} where {part!r} was expected"
            return
        raise AssertionError(f"not refused: {part}")

    refused(4, "missing", lambda: open_engine(s, w[1:]))
    refused(4, "no such tensor", lambda: open_engine(s, w + [("blocks.0.att.other", torch.zeros(4))]))
    refused(4, "sizes", lambda: open_engine(s, [("emb.weight", torch.zeros(100, 65))]))
    refused(4, "beyond fp16", lambda: open_engine(s, [(n, t * 1e9 if n == "head.weight" else t) for n, t in w]))
    refused(1, "head size", lambda: open_engine(make_shape(1, 48, 48, vocab=10), w))
    refused(2, "MiB", lambda: open_engine(released("7.2b"), [], slots=1 << 19, max_rows=1))
    e = open_engine(s, w, slots=2)
    refused(1, "slot 2", lambda: e.step([dict(slot=2, tokens=[1])]))
    refused(1, "already", lambda: e.step([dict(slot=1, tokens=[1]), dict(slot=1, tokens=[1])]))
    refused(1, "token 100", lambda: e.step([dict(slot=1, tokens=[100])]))
    refused(1, "temperature", lambda: e.step([dict(slot=1, tokens=[1], flags=native.DRAW, temperature=-1)]))
    refused(1, "no step", lambda: e.wait(1))
    refused(1, "tokens in a step", lambda: e.step([dict(slot=1, tokens=[1] * 65)]))
    refused(1, "loaded already", lambda: e.load(*w[0]))
    e.step([dict(slot=1, tokens=[1])])
    refused(1, "no logits", lambda: e.logits(0))
    e.close()


@check
def tuning():
    s, rng = SMALL, np.random.default_rng(9)
    w, path = model(s), "/tmp/rookery-tuning-test"
    if os.path.exists(path):
        os.remove(path)
    e = open_engine(s, w, slots=4, max_tokens=300, tuning=path)
    e.call("rk_tune", native.C.c_double(3))
    ref = Reference(s, w, DEVICE)
    at_most("logits when tuned", read_mixed(e, ref, rng, 4)[0], 2e-3)
    t = [tokens_of(rng, s, 3) for _ in range(4)]

    def run(e):
        for i in range(4):
            e.zero(i)
        for i in range(3):
            e.step([dict(slot=k, tokens=[t[k][i]], flags=native.LOGITS) for k in range(4)])
        return e.logits(3)

    tuned = run(e)
    e.close()
    again = open_engine(s, w, slots=4, max_tokens=300, tuning=path)
    same("what was kept in the file", run(again), tuned)
    again.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library", required=True)
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    global LIBRARY
    LIBRARY = native.Library(os.path.abspath(a.library))
    failed = []
    for f in CHECKS:
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
