#!/usr/bin/env python3
"""Write the golden logits of synthetic weights: golden.py > golden.json

The weights are those of ../synthetic.go, bit for bit. The logits are those of
the public `rwkv` package (pip install rwkv torch numpy) in fp32 on the CPU.
"""
import base64
import json
import math
import os
import sys
import tempfile

os.environ.update(RWKV_V7_ON="1", RWKV_JIT_ON="0", RWKV_CUDA_ON="0")
import numpy as np
import torch

# name, layers, embed, head size, ffn, vocab, ranks of w a v g, seed, tokens
# read, every how many logits are kept
SHAPES = [
    ("small", 2, 128, 64, 512, 288, (32, 32, 32, 64), 1, 40, 1),
    ("wide-ffn", 3, 192, 64, 672, 320, (64, 32, 32, 96), 2, 23, 1),
    ("deep", 7, 64, 64, 256, 160, (32, 64, 32, 32), 3, 70, 1),
    ("odd", 2, 40, 8, 140, 256, (5, 6, 7, 9), 5, 70, 1),
    ("0.1b", 12, 768, 64, 3072, 65536, (64, 64, 32, 128), 4, 33, 16),
]
LN2_BIAS = 0.2
NORMAL90 = 1.2815515655446004
M64 = (1 << 64) - 1


def mix(z):
    """The finaliser of splitmix64, over an array."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def mix1(z):
    return int(mix(np.array([z], np.uint64))[0])


def hash_name(name, seed):
    h = 14695981039346656037
    for c in name.encode():
        h = ((h ^ c) * 1099511628211) & M64
    return mix1(h ^ mix1(seed))


def spread(mid, std):
    return (np.float32(mid), np.float32(std * math.sqrt(3)), False)


def between(lo, hi):
    return (np.float32((lo + hi) / 2), np.float32((hi - lo) / 2), False)


def constant(v):
    return (np.float32(v), np.float32(0), False)


def scaled(gain, n):
    return spread(0, gain / math.sqrt(n))


def sparse_key(c):
    sigma = 0.5
    return spread(-NORMAL90 * sigma / (c * LN2_BIAS), sigma / math.sqrt(c))


def fill(dist, n, base):
    mid, half, ramp = dist
    if ramp:
        lo, span = float(mid - half), float(2 * half)
        return (lo + span * np.arange(n, dtype=np.float64) / (n - 1)).astype(np.float32)
    index = np.arange(1, n + 1, dtype=np.uint64)
    h = mix(np.uint64(base) + index * np.uint64(0x9E3779B97F4A7C15))
    u = (h >> np.uint64(40)).astype(np.int32) - (1 << 23)
    return u.astype(np.float32) * np.float32(1 / (1 << 23)) * half + mid


def specs(layers, c, size, ffn, vocab, ranks):
    around1, small = between(0.8, 1.2), spread(0, 0.05)
    w, a, v, g = ranks
    residual = 1 / math.sqrt(2 * layers)
    yield "emb.weight", (vocab, c), spread(0, 0.02)
    yield "blocks.0.ln0.weight", (c,), around1
    yield "blocks.0.ln0.bias", (c,), small
    for i in range(layers):
        b = {
            "ln1.weight": ((c,), around1),
            "ln1.bias": ((c,), small),
            "ln2.weight": ((c,), around1),
            "ln2.bias": ((c,), constant(LN2_BIAS)),
            "att.w0": ((c,), (np.float32(-2.5), np.float32(3.5), True)),
            "att.w1": ((c, w), scaled(0.3, c)),
            "att.w2": ((w, c), scaled(0.3, w)),
            "att.a0": ((c,), spread(0, 0.5)),
            "att.a1": ((c, a), scaled(0.5, c)),
            "att.a2": ((a, c), scaled(0.5, a)),
            "att.v0": ((c,), between(0, 1)),
            "att.v1": ((c, v), scaled(0.5, c)),
            "att.v2": ((v, c), scaled(0.5, v)),
            "att.g1": ((c, g), scaled(1, c)),
            "att.g2": ((g, c), scaled(1, g)),
            "att.k_k": ((c,), between(0.7, 1)),
            "att.k_a": ((c,), around1),
            "att.r_k": ((c // size, size), spread(0, 0.05)),
            "att.receptance.weight": ((c, c), scaled(0.5, c)),
            "att.key.weight": ((c, c), scaled(0.3, c)),
            "att.value.weight": ((c, c), scaled(0.5, c)),
            "att.output.weight": ((c, c), scaled(residual, c)),
            "att.ln_x.weight": ((c,), around1),
            "att.ln_x.bias": ((c,), small),
            "ffn.x_k": ((c,), between(0, 0.3)),
            "ffn.key.weight": ((ffn, c), sparse_key(c)),
            "ffn.value.weight": ((c, ffn), scaled(8 * residual, ffn)),
        }
        for x in "rwkvag":
            b["att.x_" + x] = ((c,), between(0, 0.6))
        for name, (shape, dist) in b.items():
            if i == 0 and name in ("att.v0", "att.v1", "att.v2"):
                continue
            yield f"blocks.{i}.{name}", shape, dist
    yield "ln_out.weight", (c,), around1
    yield "ln_out.bias", (c,), small
    yield "head.weight", (vocab, c), scaled(3, c)


def token(i, vocab):
    """The i-th token read; the same in golden_test.go."""
    return (i * 7919 + 13) % vocab


def golden(case, folder):
    name, layers, c, size, ffn, vocab, ranks, seed, length, stride = case
    z = {}
    for key, shape, dist in specs(layers, c, size, ffn, vocab, ranks):
        n = math.prod(shape)
        t = torch.from_numpy(fill(dist, n, hash_name(key, seed)))
        z[key] = t.reshape(shape)
    path = os.path.join(folder, name)
    torch.save(z, path + ".pth")
    del z
    from rwkv.model import RWKV

    model = RWKV(path, "cpu fp32")
    os.remove(path + ".pth")
    state, marks = None, []
    for i in range(length):
        logits, state = model.forward([token(i, vocab)], state)
        if i in (0, 1, length - 1):
            x = logits.numpy().astype(np.float32)
            marks.append({
                "after": i + 1,
                "std": float(x.std()),
                "logits": base64.b64encode(x[::stride].astype("<f4").tobytes()).decode(),
            })
    return {
        "name": name, "layers": layers, "embed": c, "headSize": size, "ffn": ffn,
        "vocab": vocab, "ranks": ranks, "seed": seed, "stride": stride, "marks": marks,
    }


def main():
    out, sys.stdout = sys.stdout, sys.stderr  # the package prints while loading
    np.seterr(over="ignore")
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        cases = [golden(case, folder) for case in SHAPES]
    json.dump(cases, out, indent=1)
    out.write("\n")


if __name__ == "__main__":
    main()
