"""Goldens of the embedded model with each of its adapters, from the public
rwkv package in fp32: the weights dequantised, the adapter merged into them by
its trainer's formula.

  adapters.py ../rookery-demo.safetensors ../adapters adapters.json
"""
import base64
import gzip
import io
import json
import os
import sys

import torch
from weights import dequantised, model, tokenizer

GREEDY = 40
STRIDE = 8  # of the logits that are kept
PROMPT = "User: Tell me a story.\n\nAssistant:"
ALPHA = 32


def merge(weights, tensors):
    for key, t in tensors.items():
        if key.endswith(".lora_A"):
            b = tensors[key[:-1] + "B"].float()
            weights[key[: -len("lora_A")] + "weight"] += ALPHA / t.shape[0] * (b @ t.float())
        elif key.endswith(".disha"):
            w = weights[key[: -len("disha")] + "weight"]
            for q in range(0, w.shape[1], t.shape[0]):
                n = min(t.shape[0], w.shape[1] - q)
                w[:, q:q + n] += t.float()[:n].t()


def case(path, folder, name):
    weights, vocab = dequantised(path)
    packed = open(os.path.join(folder, name), "rb").read()
    merge(weights, torch.load(io.BytesIO(gzip.decompress(packed)), map_location="cpu", weights_only=True))
    m, ids = model(weights), tokenizer(vocab).encode(PROMPT)
    logits, state = m.forward(ids, None)
    last = base64.b64encode(logits.numpy()[::STRIDE].astype("<f4").tobytes()).decode()
    greedy, margins = [], []
    for _ in range(GREEDY):
        top = logits.topk(2)
        greedy.append(top.indices[0].item())
        margins.append(round((top.values[0] - top.values[1]).item(), 4))
        logits, state = m.forward([greedy[-1]], state)
    return {"name": "demo-" + name.split(".")[0], "ids": ids, "logits": last, "greedy": greedy, "margins": margins}


def main():
    path, folder, out = sys.argv[1:4]
    with torch.no_grad():
        cases = [case(path, folder, name) for name in sorted(os.listdir(folder))]
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"cases": cases}, f, indent=1)
        f.write("\n")


main()
