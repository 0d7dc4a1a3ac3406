"""Goldens of the embedded model from the public rwkv package in fp32.

  golden.py ../rookery-demo.safetensors golden.json
"""
import base64
import hashlib
import json
import sys
from importlib.metadata import version

from weights import dequantised, model, tokenizer

GREEDY = 40
PROMPTS = [
    "User: Tell me a story about a brave cat.\n\nAssistant:",
    "User: Hello!\n\nAssistant:",
    "Once upon a time",
    "User: Tell me a story.\n\nAssistant: There was once a brave cat called Hazel. Hazel lived in a warm house with a red door."
    " He lived with his grandpa.\nHazel loved windy days. One windy day, Hazel went to the zoo with his purple kite. The wind was"
    " strong. The kite went up, up, up into the sky. Hazel clapped his hands. Then the wind changed, and the kite got stuck in a"
    ' high tree. "Oh no, my kite!" Hazel cried.\nHazel jumped, but he was too small. He threw a stick, but the stick got stuck'
    " too. He tried to climb, but the trunk was too wide.\n\nUser: What happened next?\n\nAssistant:",
]


def case(m, tok, prompt):
    ids = tok.encode(prompt)
    every, state = m.forward(ids, None, full_output=True)
    positions = sorted({0, len(ids) // 2, len(ids) - 1})
    logits, greedy, margins = every[-1], [], []
    for _ in range(GREEDY):
        top = logits.topk(2)
        greedy.append(top.indices[0].item())
        margins.append(round((top.values[0] - top.values[1]).item(), 4))
        logits, state = m.forward(greedy[-1], state)
    return {
        "prompt": prompt,
        "ids": ids,
        "positions": [{"position": p, "logits": base64.b64encode(every[p].numpy().astype("<f4").tobytes()).decode()} for p in positions],
        "greedy": greedy,
        "margins": margins,
    }


def main():
    path, out = sys.argv[1:3]
    weights, vocab = dequantised(path)
    m, tok = model(weights), tokenizer(vocab)
    result = {
        "sha256": hashlib.sha256(open(path, "rb").read()).hexdigest(),
        "made_with": {p: version(p).split("+")[0] for p in ("rwkv", "torch")},
        "cases": [case(m, tok, p) for p in PROMPTS],
    }
    with open(out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


main()
