"""Writes golden.json: what the public rwkv package's sampler does, and masses.

    pip install rwkv==0.8.32 torch numpy
    python golden.py            (in this folder)

runs: PIPELINE.generate over a model whose logits are pseudo-random numbers,
which the test makes too (see stream and run). The package draws with np.random.choice; here that is watched, and chooses the token at
which the cumulative probability passes a fixed number. Ids 1 to 256 of the
World vocabulary are the single bytes, so among ids below 64 are the digits,
tab and space, which the package exempts from counting.

mass: the hash of weights as the mass function of this package defines them,
computed with numpy in float32.
"""

import contextlib
import io
import json
import os
import warnings

os.environ["RWKV_V7_ON"] = "1"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402

with contextlib.redirect_stdout(io.StringIO()):
    from rwkv.utils import PIPELINE, PIPELINE_ARGS

VOCAB = 64
STEPS = 12
MASK = 2**64 - 1


def stream(seed):
    """Knuth's MMIX generator; the top 31 bits."""
    x = seed
    while True:
        x = (x * 6364136223846793005 + 1442695040888963407) & MASK
        yield x >> 33


class Model:
    def __init__(self, logits):
        self.logits, self.at = logits, 0

    def forward(self, tokens, state):
        out = torch.tensor(self.logits[self.at], dtype=torch.float32)
        self.at += 1
        return out, state


def run(seed, ban=(), **args):
    random = stream(seed)
    logits = []
    for _ in range(STEPS):
        row = np.array([next(random) / 2**31 * 12 - 6 for _ in range(VOCAB)], dtype=np.float32)
        row[49:53] += 4  # digits, so that they repeat
        logits.append(row)
    steps = []

    def choice(a, p):
        u = next(random) / 2**31
        token = min(int(np.searchsorted(np.cumsum(p), u)), a - 1)
        steps.append({"token": token, "probs": {str(i): float("%.9g" % v) for i, v in enumerate(p) if v > 0}})
        return token

    np.random.choice = choice
    pipeline = PIPELINE(Model(logits), "rwkv_vocab_v20230424")
    pipeline.tokenizer.idx2token[0] = b"\xff"  # the package cannot decode 0; this is not exempt
    pipeline.generate("a", token_count=STEPS, args=PIPELINE_ARGS(token_ban=list(ban), **args))
    options = PIPELINE_ARGS(**args)
    return {
        "seed": seed, "ban": list(ban), "temperature": options.temperature, "topP": options.top_p,
        "topK": options.top_k, "presence": options.alpha_presence, "frequency": options.alpha_frequency,
        "decay": options.alpha_decay, "steps": steps,
    }


def mass_hash(n):
    e = [np.float32(float.fromhex(h)) for h in (
        "0x1.62e430p-01", "0x1.ebfbdcp-03", "0x1.c6aee8p-05", "0x1.3b2d4cp-07", "0x1.5f3e54p-10", "0x1.41fbc2p-13")]
    random = stream(1)
    z = np.array([next(random) for _ in range(n)], dtype=np.float32) * np.float32(2.0**-25)  # 0 to 64
    h = 14695981039346656037
    for scale in (np.float32(np.log2(np.e)), np.float32(np.log2(np.e) / np.float64(np.float32(1.7)))):
        y = np.maximum((z - np.float32(64)) * scale, np.float32(-64))
        whole = np.rint(y)
        f = y - whole
        p = e[5] * f + e[4]
        for c in (e[3], e[2], e[1], e[0], np.float32(1)):
            p = p * f + c
        assert p.dtype == np.float32
        weight = np.ldexp(p.astype(np.float64), whole.astype(int) + 44)
        for v in np.rint(weight).astype(np.uint64):
            h = ((h ^ int(v)) * 1099511628211) & MASK
    return {"n": n, "fnv": "%016x" % h}


golden = {
    "runs": [
        run(1, temperature=1.0, top_p=0.85),
        run(2, temperature=0.7, top_p=0.5, alpha_presence=0.5, alpha_frequency=0.5),
        run(3, temperature=1.6, top_p=0.97, top_k=7, alpha_frequency=1.0, alpha_presence=0.0, alpha_decay=0.9),
        run(4, temperature=0.0, top_p=0.3, alpha_presence=2.0, alpha_frequency=1.5),
        run(5, temperature=1.0, top_p=0.0, top_k=3, ban=(50, 51, 52)),
        run(6, temperature=2.5, top_p=0.999, top_k=40, alpha_presence=-0.5, ban=(0,)),
    ],
    "mass": mass_hash(20000),
}
with open("golden.json", "w") as f:
    json.dump(golden, f, separators=(",", ":"))
    f.write("\n")
