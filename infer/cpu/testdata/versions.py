#!/usr/bin/env python3
"""Write the golden logits of all versions but RWKV-7: versions.py > versions.json

The weights are those of ../synthetic.go, bit for bit. The logits are those of
the public `rwkv` package (pip install rwkv torch numpy) in fp32 on the CPU.
--seed N adds N to the seeds of the weights.
"""
import argparse
import base64
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

import golden as v7
from golden import between, constant, fill, hash_name, scaled, sparse_key, spread, token

arguments = argparse.ArgumentParser()
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--deep", action="store_true", help="x070a: the package reads its switches once for a process")
OPTIONS = arguments.parse_args()
DEEP = OPTIONS.deep
os.environ.update(RWKV_V7_ON="01"[DEEP], RWKV_DE_VERSION="01"[DEEP], RWKV_JIT_ON="0", RWKV_CUDA_ON="0")

# version, layers, embed, head size, ffn, vocab, ranks, seed, with a tuned state
SHAPES = [
    ("x060", 3, 128, 64, 448, 256, (32, 64), 1, False),
    ("x060", 1, 40, 8, 140, 256, (5, 7), 2, False),
    ("x060", 2, 256, 128, 300, 256, (8, 12), 3, False),
    ("x060", 2, 96, 32, 336, 256, (16, 16), 4, True),
    ("x052", 3, 128, 64, 448, 256, (0, 0), 5, False),
    ("x052", 1, 48, 16, 100, 256, (0, 0), 6, False),
    ("x051", 2, 128, 64, 448, 256, (0, 0), 7, False),
    ("x050", 2, 72, 24, 252, 256, (0, 0), 8, False),
    ("x040", 3, 128, 1, 512, 256, (0, 0), 9, False),
    ("x040", 1, 40, 1, 140, 256, (0, 0), 10, False),
]
DEEP_SHAPES = [("x070a", 2, 128, 64, 512, 256, (16, 16, 16, 32, 32), 11, False)]
MARKS = (1, 70, 1070)  # tokens read; the first 70 are the prompt
AROUND1, SMALL = between(0.8, 1.2), spread(0, 0.05)


def common(layers, c, ffn):
    """linearWeights of ../v6.go"""
    residual = 1 / math.sqrt(2 * layers)
    return {
        "ln1.weight": ((c,), AROUND1),
        "ln1.bias": ((c,), SMALL),
        "ln2.weight": ((c,), AROUND1),
        "ln2.bias": ((c,), constant(0.2)),
        "att.receptance.weight": ((c, c), scaled(0.5, c)),
        "att.key.weight": ((c, c), scaled(0.5, c)),
        "att.value.weight": ((c, c), scaled(0.5, c)),
        "att.output.weight": ((c, c), scaled(2 * residual, c)),
        "ffn.key.weight": ((ffn, c), sparse_key(c)),
        "ffn.value.weight": ((c, ffn), scaled(8 * residual, ffn)),
        "ffn.receptance.weight": ((c, c), scaled(0.5, c)),
    }


def head_norm(c):
    return {"att.ln_x.weight": ((c,), AROUND1), "att.ln_x.bias": ((c,), SMALL)}


def gate(c):
    return {"att.gate.weight": ((c, c), scaled(1, c))}


def x060(layers, c, size, ffn, ranks):
    m, d = ranks
    shift, ffn_shift = between(0.2, 0.8), between(0, 0.3)
    return common(layers, c, ffn) | head_norm(c) | gate(c) | {
        "att.time_maa_" + x: ((c,), shift) for x in "xwkvrg"
    } | {
        "att.time_maa_w1": ((c, 5 * m), scaled(0.3, c)),
        "att.time_maa_w2": ((5, m, c), scaled(0.3, m)),
        "att.time_decay": ((c,), (np.float32(-2.5), np.float32(3.5), True)),
        "att.time_decay_w1": ((c, d), scaled(0.3, c)),
        "att.time_decay_w2": ((d, c), scaled(0.5, d)),
        "att.time_faaaa": ((c // size, size), spread(0.3, 0.3)),
        "ffn.time_maa_k": ((c,), ffn_shift),
        "ffn.time_maa_r": ((c,), ffn_shift),
    }


def blended(layers, c, ffn):
    """blendedWeights of ../v5.go"""
    shift, ffn_shift = between(0.2, 0.8), between(0.7, 1)
    return common(layers, c, ffn) | {"att.time_mix_" + x: ((c,), shift) for x in "kvr"} | {
        "ffn.time_mix_k": ((c,), ffn_shift),
        "ffn.time_mix_r": ((c,), ffn_shift),
    }


def x05(layers, c, ffn, each, gated):
    out = blended(layers, c, ffn) | head_norm(c) | {
        "att.time_decay": (each, between(-5, 0.5)),
        "att.time_faaaa": (each, between(0.1, 0.8)),
    }
    return out | gate(c) | {"att.time_mix_g": ((c,), between(0.2, 0.8))} if gated else out


def x052(layers, c, size, ffn, _):
    return x05(layers, c, ffn, (c // size, size), True)


def x051(layers, c, size, ffn, _):
    return x05(layers, c, ffn, (c // size,), True)


def x050(layers, c, size, ffn, _):
    return x05(layers, c, ffn, (c // size,), False)


def x040(layers, c, size, ffn, _):
    return blended(layers, c, ffn) | {
        "att.time_decay": ((c,), between(-5, 1)),
        "att.time_first": ((c,), between(-1, 1)),
    }


VERSIONS = {"x040": x040, "x050": x050, "x051": x051, "x052": x052, "x060": x060}


def deep_specs(layers, c, size, ffn, vocab, ranks):
    """v7aWeights of ../v7a.go"""
    yield from v7.specs(layers, c, size, ffn, vocab, ranks[:4])
    s = ranks[4]
    for i in range(layers):
        yield f"blocks.{i}.ffn.s_emb.weight", (vocab, s * s), spread(0, 0.2)
        yield f"blocks.{i}.ffn.s_emb_x.weight", (s * s, c), scaled(0.1, c)
        yield f"blocks.{i}.ffn.s1", (c, s), scaled(1, c)
        yield f"blocks.{i}.ffn.s2", (s, ffn), scaled(0.5, s)
        yield f"blocks.{i}.ffn.s0", (ffn,), AROUND1


def specs(version, layers, c, size, ffn, vocab, ranks):
    if DEEP:
        yield from deep_specs(layers, c, size, ffn, vocab, ranks)
        return
    yield "emb.weight", (vocab, c), spread(0, 0.02)
    yield "blocks.0.ln0.weight", (c,), AROUND1
    yield "blocks.0.ln0.bias", (c,), SMALL
    for i in range(layers):
        for name, (shape, dist) in VERSIONS[version](layers, c, size, ffn, ranks).items():
            yield f"blocks.{i}.{name}", shape, dist
    yield "ln_out.weight", (c,), AROUND1
    yield "ln_out.bias", (c,), SMALL
    yield "head.weight", (vocab, c), scaled(3, c)


def golden(case, folder):
    version, layers, c, size, ffn, vocab, ranks, seed, tuned = case
    seed += OPTIONS.seed
    z = {}
    for key, shape, dist in specs(version, layers, c, size, ffn, vocab, ranks):
        z[key] = torch.from_numpy(fill(dist, math.prod(shape), hash_name(key, seed))).reshape(shape)
    for i in range(layers if tuned else 0):
        key, n = f"blocks.{i}.att.time_state", c * size
        z[key] = torch.from_numpy(fill(spread(0, 1), n, hash_name(key, seed))).reshape(c // size, size, size)
    path = os.path.join(folder, version)
    torch.save(z, path + ".pth")
    from rwkv.model import RWKV

    model = RWKV(path if DEEP else path + ".pth", "cpu fp32")
    os.remove(path + ".pth")
    state, marks = None, []
    for i in range(MARKS[-1]):
        logits, state = model.forward([token(i, vocab)], state)
        if i + 1 in MARKS:
            x = logits.numpy().astype(np.float32)
            marks.append({
                "after": i + 1,
                "std": float(x.std()),
                "logits": base64.b64encode(x.astype("<f4").tobytes()).decode(),
            })
    return {
        "version": version, "layers": layers, "embed": c, "headSize": size, "ffn": ffn,
        "vocab": vocab, "ranks": ranks, "seed": seed, "tuned": tuned, "stride": 1, "marks": marks,
    }


def main():
    out, sys.stdout = sys.stdout, sys.stderr  # the package prints while loading
    np.seterr(over="ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        cases = [golden(case, folder) for case in (DEEP_SHAPES if DEEP else SHAPES)]
    if not DEEP:
        cases += json.loads(subprocess.run([sys.executable, __file__, "--deep", "--seed", str(OPTIONS.seed)], check=True, stdout=subprocess.PIPE).stdout)
    json.dump(cases, out, indent=1)
    out.write("\n")


if __name__ == "__main__":
    main()
