"""What the checks of test.py share: the list of them, engines, comparisons."""
import numpy as np
import torch

import native
from model import make_older, make_shape, make_v6, weights

SMALL = make_shape(3, 256, ranks=(32, 64, 32, 96), vocab=2000)
SMALL_V6 = make_v6(3, 256, ranks=(32, 64), vocab=2000)
OLDER = {f"v{v / 10}": make_older(v, 3, 256, vocab=2000) for v in (52, 51, 50, 40)}
DEVICE = "cuda"
CHECKS = []


def check(f):
    CHECKS.append(f)
    return f


def use(path):
    global library
    library = native.Library(path)


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
    return native.Engine(library, s, w, **options)


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
