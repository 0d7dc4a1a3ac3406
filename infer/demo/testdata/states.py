"""Goldens of the embedded model through each of its tuned states, from the
public rwkv package in fp32. The package keeps a layer's state at 3*layer+1 as
[head, value, key], as the files have it.

  states.py ../rookery-demo.safetensors ../states states.json
"""
import base64
import gzip
import hashlib
import io
import json
import os
import sys
from importlib.metadata import version

import torch
from weights import dequantised, model, tokenizer

GREEDY = 40
PROMPT = "User: Tell me a story.\n\nAssistant:"


def case(m, ids, folder, name):
    packed = open(os.path.join(folder, name), "rb").read()
    tuned = torch.load(io.BytesIO(gzip.decompress(packed)), map_location="cpu", weights_only=True)
    state = m.generate_zero_state()
    for layer in range(len(tuned)):
        state[3 * layer + 1] = tuned[f"blocks.{layer}.att.time_state"].float()
    logits, state = m.forward(ids, state)
    last = base64.b64encode(logits.numpy().astype("<f4").tobytes()).decode()
    greedy, margins = [], []
    for _ in range(GREEDY):
        top = logits.topk(2)
        greedy.append(top.indices[0].item())
        margins.append(round((top.values[0] - top.values[1]).item(), 4))
        logits, state = m.forward(greedy[-1], state)
    return {
        "state": "demo-" + name.split(".")[0],
        "sha256": hashlib.sha256(packed).hexdigest(),
        "ids": ids,
        "logits": last,
        "greedy": greedy,
        "margins": margins,
    }


def main():
    path, folder, out = sys.argv[1:4]
    weights, vocab = dequantised(path)
    m, ids = model(weights), tokenizer(vocab).encode(PROMPT)
    result = {
        "made_with": {p: version(p).split("+")[0] for p in ("rwkv", "torch")},
        "cases": [case(m, ids, folder, name) for name in sorted(os.listdir(folder))],
    }
    with open(out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


main()
