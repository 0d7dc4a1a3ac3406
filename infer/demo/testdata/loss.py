"""What int8 costs: the embedded model against the weights it was made from.

  loss.py ../rookery-demo.safetensors base.pth samples.txt
Prints JSON. Logit differences are divided by the standard deviation of the
original's logits at that position.
"""
import json
import sys

import torch

from weights import dequantised, model, tokenizer

WINDOW = 256


def nats(logits, ids):
    """Negative log-likelihood of each token but the first."""
    return -torch.log_softmax(logits[:-1].double(), -1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]


def main():
    ours, original, text = sys.argv[1:4]
    weights, vocab = dequantised(ours)
    quantised, reference = model(weights), model(torch.load(original, map_location="cpu"))
    ids = tokenizer(vocab).encode(open(text, encoding="utf-8").read())
    largest, squares, count = 0.0, 0.0, 0
    loss_before, loss_after, same = [], [], 0
    for start in range(0, len(ids) - 1, WINDOW):
        part = ids[start : start + WINDOW]
        if len(part) < 2:
            break
        a, _ = reference.forward(part, None, full_output=True)
        b, _ = quantised.forward(part, None, full_output=True)
        relative = (b - a) / a.std(-1, keepdim=True)
        largest = max(largest, relative.abs().max().item())
        squares += relative.double().square().sum().item()
        count += relative.numel()
        same += (a.argmax(-1) == b.argmax(-1)).sum().item()
        loss_before.append(nats(a, part))
        loss_after.append(nats(b, part))
    before, after = torch.cat(loss_before), torch.cat(loss_after)
    print(json.dumps({
        "tokens": len(before),
        "largest difference / std": round(largest, 4),
        "rms difference / std": round((squares / count) ** 0.5, 5),
        "same likeliest token": round(same / len(ids), 4),
        "nats a token, original": round(before.mean().item(), 5),
        "nats a token, int8": round(after.mean().item(), 5),
        "change": round((after - before).mean().item(), 5),
        "standard error of the change": round(((after - before).std() / len(before) ** 0.5).item(), 5),
    }, indent=1))


main()
