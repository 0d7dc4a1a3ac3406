"""Against the public rwkv package in fp32, on the same weights: see golden.py."""
import os

import numpy as np
import torch

import native
from check import at_most, check, error, open_engine, same
from golden import CHECKED, DEMO, EVERY, HERE, OLDER, SEED, WINDOW, sums
from model import Portable, make_shape, released, weights

EMBEDDED = make_shape(11, 256, ranks=(32, 32, 32, 64), vocab=4096)
KINDS = (("fp16 weights", native.F16, native.F32, 3e-3), ("fp16 weights and states", native.F16, native.F16, 6e-3),
         ("bf16 weights", native.BF16, native.F32, 3e-2))
BLOCK = 32


def golden(name):
    return np.load(os.path.join(HERE, "golden", name + ".npz"))


def embedded():
    """The embedded model's weights, dequantised."""
    from safetensors import safe_open
    with safe_open(os.path.join(DEMO, "rookery-demo.safetensors"), "pt") as f:
        names = set(f.keys())
        for name in sorted(names):
            if name == "tokenizer.vocab" or name.endswith(".scales"):
                continue
            t = f.get_tensor(name)
            if name + ".scales" in names:
                t = t.float() * f.get_tensor(name + ".scales").float().repeat_interleave(BLOCK, dim=1)
            yield name, t.float()


def decoded(e, first, g, pick):
    """The largest error of logits while tokens are read one by one."""
    e.zero(0)
    worst = last = 0.0
    if len(first):
        e.step([dict(slot=0, tokens=first)])
    for i, t in enumerate(g["tokens"].tolist()):
        e.step([dict(slot=0, tokens=[t], flags=native.LOGITS)])
        if i + 1 in g["at"]:
            last = error(pick(e.logits(0)), g["logits"][list(g["at"]).index(i + 1)])
            worst = max(worst, last)
    return worst, last


@check
def package_on_the_embedded_model():
    g, w = golden("embedded"), list(embedded())
    for name, kind, state, limit in KINDS:
        e = open_engine(EMBEDDED, w, kind=kind, state=state, slots=2)
        worst, last = decoded(e, g["first"].tolist(), g, lambda v: v)
        print(f"    {name}: {last:.2e} after 1,000 decoded tokens")
        at_most(f"{name}: logits over 1,000 decoded tokens", worst, limit)
        e.close()


@check
def package_on_random_weights():
    g, s = golden("random"), released("0.1b")
    w = list(weights(s, source=Portable(SEED)))
    assert np.allclose(sums(dict(w)), g["check"], rtol=1e-6), "the weights are not those that the golden was made of"
    for name, kind, state, limit in KINDS:
        e = open_engine(s, w, kind=kind, state=state, slots=2)
        worst, last = decoded(e, [], g, lambda v: v[::EVERY])
        print(f"    {name}: {last:.2e} after 1,000 decoded tokens")
        at_most(f"{name}: logits over 1,000 decoded tokens", worst, limit)
        e.close()


@check
def package_on_older_versions():
    g = golden("older")
    for version, s in OLDER.items():
        w = list(weights(s, source=Portable(SEED)))
        for name, kind, state, limit in KINDS:
            e = open_engine(s, w, kind=kind, state=state, slots=2)
            worst, _ = decoded(e, [], dict(tokens=g["tokens"], at=g["at"], logits=g[version]), lambda v: v)
            at_most(f"{version}, {name}: logits over 1,000 decoded tokens", worst, limit)
            e.close()


@check
def loss_of_precision():
    """What a width costs in nats a token, read token by token and in chunks."""
    g, w = golden("embedded"), list(embedded())
    text, loss = g["text"].tolist(), g["loss"]
    for name, kind, state, limit in KINDS:
        e = open_engine(EMBEDDED, w, kind=kind, state=state, slots=1 + len(text) // WINDOW)
        windows = [text[at:at + WINDOW] for at in range(0, len(text), WINDOW)]
        got = np.zeros(len(text))
        for i in range(WINDOW - 1):
            live = [k for k, part in enumerate(windows) if i + 1 < len(part)]
            e.step([dict(slot=k, tokens=[windows[k][i]], flags=native.LOGITS) for k in live])
            for row, k in enumerate(live):
                v = torch.log_softmax(torch.from_numpy(e.logits(row)).double(), -1)
                got[k * WINDOW + i + 1] = -v[windows[k][i + 1]].item()
        change = got - loss
        n = len(text) - len(windows)
        print(f"    {name}: {got.sum() / n:.5f} nats a token, in fp32 {loss.sum() / n:.5f}: {change.sum() / n:+.6f} ± {change.std() / n ** .5:.6f}")
        at_most(f"{name}: change of the loss", abs(change.sum() / n), 2e-3 if kind == native.F16 else 1e-2)
        e.close()


@check
def greedy_as_the_package():
    """256 greedy tokens of each prompt: the package's, or the other token where fp32 decides by a hair."""
    g = golden("embedded")
    e = open_engine(EMBEDDED, list(embedded()), slots=2)
    for ids, want, margins in zip(g["ids"], g["greedy"], g["margins"]):
        e.zero(0)
        token, other = [i for i in ids.tolist() if i >= 0], []
        for i, t in enumerate(want.tolist()):
            e.step([dict(slot=0, tokens=token, flags=native.LOGITS)])
            logits = e.logits(0)
            got = 1 + int(logits[1:].argmax())
            if got != t:
                other.append(i)
                assert margins[i] < .05, f"token {i}: {got}, want {t}, which leads by {margins[i]}"
            token = [t]
        print(f"    least margin {margins.min():.4f}: {len(other)} of {len(want)} tokens decided otherwise, at margins {[float(f'{margins[i]:.1g}') for i in other]}")
    e.close()
