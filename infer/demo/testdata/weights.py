"""Reads the embedded model with the public safetensors package and loads it,
dequantised to fp32, into the public rwkv package."""
import os
import tempfile

os.environ.update(RWKV_V7_ON="1", RWKV_JIT_ON="0", RWKV_CUDA_ON="0")

import torch
from rwkv.model import RWKV
from rwkv.rwkv_tokenizer import TRIE_TOKENIZER
from safetensors import safe_open

BLOCK = 32


def dequantised(path):
    """The weights in fp32 and the bytes of the vocabulary."""
    out, vocab = {}, None
    with safe_open(path, "pt") as f:
        names = set(f.keys())
        for name in f.keys():
            t = f.get_tensor(name)
            if name == "tokenizer.vocab":
                vocab = bytes(t.numpy())
            elif name + ".scales" in names:
                scales = f.get_tensor(name + ".scales").float()
                out[name] = t.float() * scales.repeat_interleave(BLOCK, dim=1)
            elif not name.endswith(".scales"):
                out[name] = t.float()
    return out, vocab


def model(weights):
    """The reference model of a dictionary of weights, on the CPU in fp32."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        torch.save(weights, path + ".pth")
        return RWKV(model=path, strategy="cpu fp32")


def tokenizer(vocab):
    with tempfile.NamedTemporaryFile(suffix=".txt") as f:
        f.write(vocab)
        f.flush()
        return TRIE_TOKENIZER(f.name)
