"""Makes files beside it as other programs lay them out: python make_foreign.py.

fla.safetensors: the model of make.py as flash-linear-attention names it; sharded.*: the
same in two files with an index. rwkvcpp-7.bin: it as rwkv.cpp's convert_pytorch_to_ggml.py
writes it; rwkvcpp-{4,5,6}.bin and old-{4,5,6}.pth: one layer's particular tensors of
those versions, converted and as released. transformers-4.safetensors: names of the
transformers package for the same."""
import json
import struct

import numpy as np
import torch
from safetensors.torch import save_file

import make

LORA = {"w", "a", "v", "g"}


def fla(z):
    names = {"ln0": "pre_norm", "ln1": "attn_norm", "ln2": "ffn_norm"}
    proj = {"receptance": "r_proj", "key": "k_proj", "value": "v_proj", "output": "o_proj", "ln_x": "g_norm"}
    out = {}
    for k, t in z.items():
        p = k.split(".")
        if p[0] != "blocks":
            top = {"emb": "model.embeddings", "ln_out": "model.norm", "head": "lm_head"}[p[0]]
            out[f"{top}.{p[1]}"] = t
            continue
        b = f"model.layers.{p[1]}."
        if p[2] in names:
            out[f"{b}{names[p[2]]}.{p[3]}"] = t
        elif p[2] == "ffn":
            out[b + ".".join(p[2:])] = t
        elif p[3] in proj:
            out[f"{b}attn.{proj[p[3]]}.{p[4]}"] = t
        elif len(p[3]) == 2 and p[3][0] in LORA and p[3][1] in "012":
            part = {"0": "2.bias", "1": "0.weight", "2": "2.weight"}[p[3][1]]
            out[f"{b}attn.{p[3][0]}_lora.lora.{part}"] = t.reshape(-1) if p[3][1] == "0" else t.t().contiguous()
        else:
            out[f"{b}attn.{p[3]}"] = t
    return out


def rwkvcpp(path, tensors, f16=()):
    with open(path, "wb") as f:
        f.write(struct.pack("<6I", 0x67676D66, 101, make.V, make.C, make.L, 0))
        for k, t in tensors.items():
            a = np.ascontiguousarray(t.numpy().astype(np.float16 if k in f16 else np.float32))
            f.write(struct.pack("<3I", a.ndim, len(k), 1 if k in f16 else 0))
            f.write(struct.pack(f"<{a.ndim}I", *reversed(a.shape)) + k.encode() + a.tobytes())


def cpp7(z):
    out = {}
    for k, t in z.items():
        last = k.split(".")[-1]
        if ".att.x_" in k:
            if last == "x_r":
                out[k[:-3] + "x_rwkvag"] = torch.stack([z[k[:-1] + x].reshape(1, -1) for x in "rwkvag"])
            continue
        if len(last) == 2 and last[0] in LORA and last[1] in "12":
            t = t.t()
        elif last in ("w0", "a0", "v0", "k_k", "k_a"):
            t = t.reshape(1, 1, -1)
        elif ".ffn.x_k" in k:
            t = t.reshape(-1)
        out[k] = t
    return out


def old():
    c, h, n, d = make.C, 2, 2, 3
    b = "blocks.0.att."
    r = torch.Generator().manual_seed(1)
    draw = lambda *s: torch.randn(*s, generator=r)
    common = {b + "key.weight": draw(c, c)}
    four = common | {b + "time_decay": draw(c), b + "time_first": draw(c), b + "time_mix_k": draw(1, 1, c), "blocks.0.ffn.time_mix_r": draw(1, 1, c)}
    five = common | {b + "time_decay": draw(h, n), b + "time_faaaa": draw(h, n), b + "ln_x.weight": draw(c)}
    six = common | {b + "time_maa_x": draw(1, 1, c), b + "time_maa_w1": draw(c, 5 * d), b + "time_maa_w2": draw(5, d, c),
                    b + "time_decay": draw(1, 1, c), b + "time_decay_w1": draw(c, d), b + "time_decay_w2": draw(d, c), b + "time_faaaa": draw(h, n)}
    for v, z in (("4", four), ("5", five), ("6", six)):
        torch.save(z, f"old-{v}.pth")
    rwkvcpp("rwkvcpp-4.bin", {k: -torch.exp(t) if "decay" in k else t.reshape(-1) if "mix" in k else t for k, t in four.items()})
    rwkvcpp("rwkvcpp-5.bin", {k: torch.exp(-torch.exp(t)).reshape(h, n, 1) if "decay" in k else t.reshape(h, n, 1) if "faaaa" in k else t for k, t in five.items()})

    def cpp6(k, t):
        if k.endswith(("_w1", "_w2")):
            return t.transpose(-1, -2).contiguous()
        if k.endswith(("time_decay", "faaaa")):
            return t.reshape(h, n, 1)
        return t.reshape(-1) if "maa" in k else t

    rwkvcpp("rwkvcpp-6.bin", {k: cpp6(k, t) for k, t in six.items()})
    hf = {"blocks.0.att.": "rwkv.blocks.0.attention.", "blocks.0.ffn.": "rwkv.blocks.0.feed_forward.", "mix_k": "mix_key", "mix_r": "mix_receptance"}

    def rename(k):
        for a, to in hf.items():
            k = k.replace(a, to)
        return k

    save_file({rename(k): t for k, t in four.items()}, "transformers-4.safetensors")


def sharded(z):
    names = list(z)
    files = ["sharded-00001-of-00002.safetensors", "sharded-00002-of-00002.safetensors"]
    parts = [names[: len(names) // 2], names[len(names) // 2:]]
    for f, part in zip(files, parts):
        save_file({k: z[k].contiguous() for k in part}, f)
    json.dump({"metadata": {}, "weight_map": {k: f for f, part in zip(files, parts) for k in part}}, open("sharded.safetensors.index.json", "w"))


z = fla(make.model())
save_file(z, "fla.safetensors")
sharded(z)
rwkvcpp("rwkvcpp-7.bin", cpp7(make.model()), f16=("head.weight",))
old()
