"""Makes the small files beside it with the public torch and safetensors
packages: python make.py. Tensor number i of a file has the values
i*100, i*100+1, ... in row-major order (in a model: i modulo 20, so that fp16
holds them)."""
import collections

import torch
from safetensors.torch import save_file

C, D, L, V, F, N = 4, 2, 2, 6, 8, 2


def counted(i, *shape, dtype=torch.float32):
    n = 1
    for d in shape:
        n *= d
    return (torch.arange(n) + 100 * i).reshape(shape).to(dtype)


def types():
    """One tensor of each stored type; values stay exact in all of them."""
    kinds = [torch.uint8, torch.float16, torch.bfloat16, torch.float64, torch.float32, torch.int64, torch.int32]
    return {f"t.{i}": counted(i, 3, 5, dtype=d) for i, d in enumerate(kinds)}


def views():
    """Tensors that are not whole storages, and leading 1s."""
    base = counted(1, 6, 4)
    z = collections.OrderedDict()
    z["whole"] = base
    z["rows"] = base[2:5]
    z["transposed"] = base.t()
    z["columns"] = base[:, 1:3]
    z["every.second"] = base[::2]
    z["permuted"] = counted(2, 2, 3, 4).permute(2, 0, 1)
    z["squeezed"] = counted(3, 1, 1, 5)
    z["scalar"] = torch.tensor(7.0)
    z["parameter"] = torch.nn.Parameter(counted(4, 2, 2))
    return z


def model():
    """A whole RWKV-7 model of two layers."""
    names = {"emb.weight": (V, C), "blocks.0.ln0.weight": (C,), "blocks.0.ln0.bias": (C,)}
    for i in range(L):
        b = f"blocks.{i}."
        for ln in ("ln1", "ln2", "att.ln_x"):
            names |= {b + ln + ".weight": (C,), b + ln + ".bias": (C,)}
        names |= {b + "att.x_" + x: (1, 1, C) for x in "rwkvag"}
        for x in "wav" if i else "wa":
            names |= {b + f"att.{x}0": (1, 1, C), b + f"att.{x}1": (C, D), b + f"att.{x}2": (D, C)}
        names |= {b + "att.g1": (C, D), b + "att.g2": (D, C)}
        names |= {b + "att.k_k": (1, 1, C), b + "att.k_a": (1, 1, C), b + "att.r_k": (C // N, N)}
        names |= {b + f"att.{x}.weight": (C, C) for x in ("receptance", "key", "value", "output")}
        names |= {b + "ffn.x_k": (1, 1, C), b + "ffn.key.weight": (F, C), b + "ffn.value.weight": (C, F)}
    names |= {"ln_out.weight": (C,), "ln_out.bias": (C,), "head.weight": (V, C)}
    return {k: counted(i % 20, *s) for i, (k, s) in enumerate(names.items())}


def linear():
    """A module, whose state_dict carries metadata."""
    m = torch.nn.Linear(3, 2)
    m.weight.data, m.bias.data = counted(1, 2, 3), counted(2, 2)
    return m


def web_rwkv(z):
    """What web-rwkv's converter makes of a model."""
    out = {}
    for k, t in z.items():
        t = t.squeeze()
        if k.split(".")[-1] in ("w1", "w2", "a1", "a2", "v1", "v2", "g1", "g2"):
            t = t.t()
        out[k] = t.contiguous().half()
    return out


def main():
    torch.save(types(), "types.pth")
    torch.save(views(), "views.pth")
    torch.save({"state_dict": {"a": counted(1, 2, 3)}, "epoch": 3}, "nested.pth")
    torch.save({"a": counted(1, 2, 3)}, "protocol4.pth", pickle_protocol=4)
    torch.save(linear().state_dict(), "ordered.pth")
    torch.save({"a": counted(1, 2, 3)}, "old.pth", _use_new_zipfile_serialization=False)
    torch.save({"_strategy": "cuda fp16", "_version": 0.7, "emb.weight": counted(1, 2, 3)}, "converted.pth")
    torch.save(model(), "model.pth")
    save_file(types(), "types.safetensors", metadata={"format": "pt"})
    save_file(model(), "model.safetensors")
    save_file(web_rwkv(model()), "web-rwkv.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
