#!/usr/bin/env python3
"""Makes golden/*.npz: what the public rwkv package computes in fp32 on the CPU.

    pip install rwkv==0.8.32 torch safetensors numpy
    golden.py [samples.txt]
    golden.py older

embedded.npz is of the embedded model, dequantised (value = int8 x scale):
  tokens    1,000 that the model drew itself at temperature 1, after a prompt
  at        after how many of them logits are kept
  logits    [at][vocabulary]
  text      texts of its kind, in windows of at most WINDOW tokens
  loss      nats of each token of text given those before it in its window; 0 for a window's first
  greedy    [prompts][256]: prompts are PROMPTS, each token the likeliest
  margins   by how much; ids the prompts' tokens, padded with -1
random.npz is of random weights of the size 0.1b, model.weights with model.Portable(SEED):
  tokens    1,000 random ones
  at, logits  as above, of every 16th token of the vocabulary
  check     sums of a few tensors, so that other weights are noticed
older.npz is of random weights of the shapes OLDER: tokens as above, and for each its logits after AT of them
"""
import os
import sys

import numpy as np
import torch

from model import Portable, make_older, make_v6, released, weights

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "../../infer/demo")
SEED, DECODED, AT, WINDOW, GREEDY, EVERY = 5, 1000, (10, 100, 250, 500, 750, 1000), 256, 256, 16
OLDER = dict(v6=make_v6(2, 256, ranks=(32, 64), vocab=500), **{f"v{v / 10}": make_older(v, 2, 256, vocab=500) for v in (52, 51, 50, 40)})
CHECKED = "emb.weight", "blocks.5.att.key.weight", "blocks.11.ffn.value.weight", "head.weight"
PROMPTS = [
    "User: Tell me a story about a brave cat.\n\nAssistant:",
    "User: Hello!\n\nAssistant:",
    "Once upon a time",
    "User: Tell me a story.\n\nAssistant:",
]


def sums(w):
    return np.array([w[n].double().abs().sum().item() for n in CHECKED])


def decode(m, first, tokens, keep, draw=None):
    """Reads first, then tokens one by one, or draws them; returns tokens and the kept logits."""
    logits, state = m.forward(first, None) if first else (None, None)
    out, kept = [], []
    for i in range(DECODED):
        out.append(draw(logits) if draw else tokens[i])
        logits, state = m.forward([out[-1]], state)
        if i + 1 in AT:
            kept.append(keep(logits.numpy()))
    return np.array(out, np.int32), np.array(kept, np.float32)


def greedy(m, ids):
    logits, state = m.forward(ids, None)
    out, margins = [], []
    for _ in range(GREEDY):
        logits[0] = -1e9  # a story without an end
        top = logits.topk(2)
        out.append(top.indices[0].item())
        margins.append((top.values[0] - top.values[1]).item())
        logits, state = m.forward([out[-1]], state)
    return out, margins


def losses(m, text):
    out = np.zeros(len(text), np.float32)
    for at in range(0, len(text), WINDOW):
        part = text[at:at + WINDOW]
        every, _ = m.forward(part, None, full_output=True)
        if len(part) > 1:
            out[at + 1:at + len(part)] = -torch.log_softmax(every[:-1].double(), -1)[torch.arange(len(part) - 1), torch.tensor(part[1:])].numpy()
    return out


def embedded(samples):
    sys.path.insert(0, os.path.join(DEMO, "testdata"))
    from weights import dequantised, model, tokenizer
    w, vocab = dequantised(os.path.join(DEMO, "rookery-demo.safetensors"))
    m, tok, rng = model(w), tokenizer(vocab), np.random.default_rng(SEED)

    def draw(logits):
        p = torch.softmax(logits.double(), -1).numpy()
        p[0] = 0
        return int(rng.choice(len(p), p=p / p.sum()))

    first = tok.encode(PROMPTS[0])
    tokens, logits = decode(m, first, None, lambda v: v, draw)
    out = dict(first=np.array(first, np.int32), tokens=tokens, at=np.array(AT), logits=logits)
    ids = [tok.encode(p) for p in PROMPTS]
    told = [greedy(m, i) for i in ids]
    out["ids"] = np.array([i + [-1] * (max(map(len, ids)) - len(i)) for i in ids], np.int32)
    out["greedy"], out["margins"] = np.array([t[0] for t in told], np.int32), np.array([t[1] for t in told], np.float32)
    if samples:
        text = tok.encode(open(samples, encoding="utf-8").read())
        out |= dict(text=np.array(text, np.int32), loss=losses(m, text))
    np.savez_compressed(os.path.join(HERE, "golden/embedded.npz"), **out)
    print("embedded: least margin of greedy tokens", out["margins"].min(axis=1), "nats a token", out.get("loss", np.zeros(1)).mean())


def random():
    from weights import model
    s = released("0.1b")
    w = dict(weights(s, source=Portable(SEED)))
    m = model({n: t.float() for n, t in w.items()})
    tokens = np.random.Generator(np.random.PCG64(SEED)).integers(1, s["vocab"], DECODED).astype(np.int32)
    _, logits = decode(m, None, tokens.tolist(), lambda v: v[::EVERY])
    np.savez_compressed(os.path.join(HERE, "golden/random.npz"), tokens=tokens, at=np.array(AT), logits=logits, check=sums(w))


def older():
    import tempfile
    os.environ["RWKV_V7_ON"] = os.environ["RWKV_JIT_ON"] = os.environ["RWKV_CUDA_ON"] = "0"
    from rwkv.model import RWKV
    tokens = np.random.Generator(np.random.PCG64(SEED)).integers(1, 500, DECODED).astype(np.int32)
    out = dict(tokens=tokens, at=np.array(AT))
    with tempfile.TemporaryDirectory() as folder:
        for name, s in OLDER.items():
            path = os.path.join(folder, name)
            torch.save({n: t.float() for n, t in weights(s, source=Portable(SEED))}, path + ".pth")
            out[name] = decode(RWKV(path, "cpu fp32"), None, tokens.tolist(), lambda v: v)[1]
    np.savez_compressed(os.path.join(HERE, "golden/older.npz"), **out)


if __name__ == "__main__":
    if sys.argv[1:] == ["older"]: # the package runs RWKV-7 or the older versions in one process
        sys.exit(older())
    embedded(sys.argv[1] if len(sys.argv) > 1 else None)
    random()
