"""Slots, what a row's results depend on, refusals and tuning."""
import os

import numpy as np
import torch

import native
from check import DEVICE, SMALL, SMALL_V6, at_most, check, model, open_engine, same, tokens_of
from check_logits import read_mixed
from model import Reference, make_shape, released


@check
def slots():
    for s, state in (SMALL, native.F32), (SMALL, native.F16), (SMALL_V6, native.F32), (SMALL_V6, native.F16):
        w, rng = model(s), np.random.default_rng(4)
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
def rows_do_not_depend_on_others(size="0.1b"):
    s, rng = released(size), np.random.default_rng(5)
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
def rows_do_not_depend_on_others_v6():
    rows_do_not_depend_on_others("v6-0.1b")


@check
def buckets(size="0.1b"):
    """Within a bucket (README.md) neither the number of rows nor their contents matter."""
    s, rng = released(size), np.random.default_rng(15)
    e = open_engine(s, model(s), slots=330, max_tokens=900)
    mine, strangers = tokens_of(rng, s, 4), [tokens_of(rng, s, 400) for _ in range(330)]

    def run(others, place, lengths=None):
        """My results in steps of so many strangers, or of strangers with chunks of these lengths."""
        for i in range(330):
            e.zero(i)
        for i, t in enumerate(mine):
            rows = [dict(slot=k, tokens=strangers[k][i:i + (lengths[k] if lengths else 1)], flags=native.LOGITS) for k in range(others)]
            rows.insert(place, dict(slot=329, tokens=[t], flags=native.LOGITS))
            e.step(rows)
        return np.concatenate([e.logits(place), e.read(329)])

    for few, many in (8, 11), (12, 15), (32, 39), (56, 63), (64, 79), (112, 127), (128, 159), (288, 319):
        first = run(few, 0)
        for others, place in (few, few), (many, 0), (many, many // 2):
            same(f"among {few} and {many} strangers", run(others, place), first)
        strangers.reverse()
        same(f"among {many} other strangers", run(many, few), first)
    first = run(3, 1, [100, 40, 17])
    strangers.reverse()
    same("beside prompts of other words", run(3, 1, [100, 40, 17]), first)
    same("beside prompts in another order", run(3, 0, [17, 100, 40]), first)
    e.close()


@check
def buckets_v6():
    buckets("v6-0.1b")


@check
def run_to_run(size="0.1b"):
    s, rng = released(size), np.random.default_rng(6)
    w = model(s)
    t = [tokens_of(rng, s, 700 if i < 2 else 3) for i in range(130)]

    def once():
        e = open_engine(s, w, slots=130, max_tokens=1024)
        out = []
        e.step([dict(slot=0, tokens=t[0], flags=native.LOGITS), dict(slot=1, tokens=t[1][:300], flags=native.LOGITS)])
        out += [e.logits(0), e.logits(1)]
        for n in 1, 2, 5, 8, 13, 33, 40, 130:
            for i in range(3):
                e.step([dict(slot=k, tokens=[t[k][i]], flags=native.LOGITS) for k in range(n)])
            out += [e.logits(n - 1), e.read(0)]
        e.close()
        return np.concatenate(out)

    first = once()
    same("two runs", once(), first)


@check
def run_to_run_v6():
    run_to_run("v6-0.1b")


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
    refused(1, "version 30", lambda: open_engine(s | dict(version=30), w))
    refused(4, "RWKV-6 has no such tensor", lambda: open_engine(SMALL_V6, [("blocks.0.att.x_r", torch.zeros(256))]))
    refused(1, "RWKV-4", lambda: open_engine(s | dict(version=40, ranks=()), w))
    refused(1, "head size", lambda: open_engine(make_shape(1, 48, 48, vocab=10), w))
    refused(2, "MiB", lambda: open_engine(released("7.2b"), [], slots=1 << 19, max_rows=1))
    e = open_engine(s, w, slots=2)
    refused(1, "slot 2", lambda: e.step([dict(slot=2, tokens=[1])]))
    refused(1, "already", lambda: e.step([dict(slot=1, tokens=[1]), dict(slot=1, tokens=[1])]))
    refused(1, "token 100", lambda: e.step([dict(slot=1, tokens=[100])]))
    refused(1, "temperature", lambda: e.step([dict(slot=1, tokens=[1], flags=native.DRAW, temperature=-1)]))
    refused(1, "no step", lambda: e.logits(0))
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
