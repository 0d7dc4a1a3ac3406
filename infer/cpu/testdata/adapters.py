#!/usr/bin/env python3
"""Write adapters as the public trainers do, and the logits with them:
adapters.py > adapters.json; the files go to adapters/.

The model is "small" of golden.py. Each adapter is merged into its weights in
fp32 by the formula of its trainer (RWKV-PEFT for LoRA, PiSSA and the forms of
Bone; RWKV-LM-RLHF for DoRA, replaced tensors and experts), and the logits are
those of the public `rwkv` package with the merged weights. Experts cannot be
merged: there the package's channel mix is replaced by the trainer's formula.
"""
import base64
import json
import math
import os
import sys
import tempfile

import golden as g
import numpy as np
import torch

CASE = g.SHAPES[0]
_, LAYERS, C, SIZE, FFN, VOCAB, RANKS, SEED, LENGTH, _ = CASE
ATT = ["att.receptance", "att.key", "att.value", "att.output"]
ALL = ATT + ["ffn.key", "ffn.value"]


def weights():
    z = {}
    for key, shape, dist in g.specs(LAYERS, C, SIZE, FFN, VOCAB, RANKS):
        z[key] = torch.from_numpy(g.fill(dist, math.prod(shape), g.hash_name(key, SEED))).reshape(shape)
    return z


def rand(*shape, std=0.05):
    return (torch.randn(*shape) * std).bfloat16()


def places(targets):
    return [f"blocks.{i}.{t}" for i in range(LAYERS) for t in targets]


def lora(z, r=4, alpha=8.0):
    a = {}
    for p in places(ALL):
        w = z[p + ".weight"]
        A, B = rand(r, w.shape[1]), rand(w.shape[0], r)
        a[p + ".lora_A"], a[p + ".lora_B"] = A, B
        w += (B.float() @ A.float()) * (alpha / r)
    return a, {"alpha": alpha}


def pissa(z, r=4):
    a, init = {}, {}
    for p in places(["att.key", "ffn.value"]):
        w = z[p + ".weight"]
        A0, B0 = rand(r, w.shape[1]), rand(w.shape[0], r)
        A, B = A0 + rand(r, w.shape[1], std=0.02), B0 + rand(w.shape[0], r, std=0.02)
        a[p + ".lora_A"], a[p + ".lora_B"] = A, B
        init[f"model.{p}.init_lora_A"], init[f"model.{p}.init_lora_B"] = A0, B0
        w -= B0.float() @ A0.float()
        w += B.float() @ A.float()
    return a, {"init": init}


def dora(z, r=4, alpha=4.0):
    a = {}
    for p in places(["att.receptance", "att.value", "ffn.key", "ffn.value"]):
        w = z[p + ".weight"]
        A, B = rand(r, w.shape[1]), rand(w.shape[0], r)
        M = (w.norm(dim=0, keepdim=True) * (1 + 0.2 * torch.randn(1, w.shape[1]))).bfloat16()
        a[p + ".lora_A"], a[p + ".lora_B"], a[p + ".lora_M"] = A, B, M
        v = w + (alpha / r) * (B.float() @ A.float())
        w.copy_(M.float() * v / (v.norm(dim=0, keepdim=True) + 1e-6))
    return a, {"alpha": alpha}


def disha(z, r=12):
    """y = F.linear(x) + sum of x in pieces of r, times disha."""
    a = {}
    for p in places(ALL):
        w = z[p + ".weight"]
        D = rand(r, w.shape[0])
        a[p + ".disha"] = D
        for q in range(0, w.shape[1], r):
            n = min(r, w.shape[1] - q)
            w[:, q:q + n] += D.float()[:n].t()
    return a, {}


def blocks(w, r):
    """[out, in] as [out/r, in/r, r, r]."""
    return w.reshape(w.shape[0] // r, r, w.shape[1] // r, r).permute(0, 2, 1, 3)


def unblocks(b):
    return b.permute(0, 2, 1, 3).reshape(b.shape[0] * b.shape[2], b.shape[1] * b.shape[3])


def bat(z, r=8):
    a = {}
    for p in places(["att.key", "att.value", "att.output", "ffn.key", "ffn.value"]):
        w = z[p + ".weight"]
        D = rand(w.shape[1] // r, r, r)
        a[p + ".bone"] = D
        b = blocks(w, r)
        w.copy_(unblocks(b + b @ D.float() + D.float()))
    return a, {"blocks": "column"}


def bone(z, r=8):
    a = {}
    for p in places(["att.receptance", "ffn.key", "ffn.value"]):
        w = z[p + ".weight"]
        D = rand(w.shape[0] // r, r, r)
        a[p + ".bone"] = D.reshape(w.shape[0], r) if "ffn" in p else D
        b, D = blocks(w, r), D.float()[:, None]
        w.copy_(unblocks(b + b @ D + D))
    return a, {"blocks": "row"}


def mixed(z, r=4, alpha=4.0):
    """LoRA on some, and tensors in the place of the model's."""
    a, _ = {}, None
    for p in places(["att.receptance"]) + ["head"]:
        w = z[p + ".weight"]
        A, B = rand(r, w.shape[1]), rand(w.shape[0], r)
        a[p + ".lora_A"], a[p + ".lora_B"] = A, B
        w += (alpha / r) * (B.float() @ A.float())
    for p in places(["ln1.weight", "att.x_k", "att.w0", "att.a1", "att.g2", "att.k_k", "att.r_k", "att.ln_x.bias", "ffn.x_k"]) + \
            ["blocks.1.att.v0", "blocks.1.att.v2", "blocks.1.ffn.key.weight", "ln_out.bias", "blocks.0.ln0.weight"]:
        a[p] = (z[p] * (1 + 0.2 * torch.randn_like(z[p]))).bfloat16()
        z[p] = a[p].float()
    return a, {"alpha": alpha}


def mole(z, r=4, alpha=8.0, experts=3, active=2):
    a, s = {}, alpha / r
    for i in range(LAYERS):
        p = f"blocks.{i}.ffn."
        a[p + "router.linear.weight"] = rand(experts - 1, C, std=0.5)
        a[p + "moe_info"] = torch.tensor([experts, active], dtype=torch.bfloat16)
        for e in range(experts):
            for side, (out, inn) in {"key": (FFN, C), "value": (C, FFN)}.items():
                a[f"{p}expert_{e}.{side}.lora_A_expert_0"] = rand(r, inn)
                a[f"{p}expert_{e}.{side}.lora_B_expert_0"] = rand(out, r)

    def layer_of(x_k):
        return next(i for i in range(LAYERS) if torch.equal(x_k.flatten(), z[f"blocks.{i}.ffn.x_k"].flatten()))

    def channel_mix(x, x_prev, x_k, K_, V_):
        i = layer_of(x_k)
        p = f"blocks.{i}.ffn."
        k = x + (x_prev - x) * x_k
        wk, wv = z[p + "key.weight"], z[p + "value.weight"]
        scores = torch.cat([torch.zeros(1), a[p + "router.linear.weight"].float() @ k])
        top = torch.topk(scores, active)
        out = torch.zeros_like(x)
        for share, e in zip(torch.softmax(top.values, 0), top.indices.tolist()):
            f = lambda side, half: a[f"{p}expert_{e}.{side}.lora_{half}_expert_0"].float()
            h = torch.relu(wk @ k + s * (f("key", "B") @ (f("key", "A") @ k))) ** 2
            out += share * (wv @ h + s * (f("value", "B") @ (f("value", "A") @ h)))
        return out, x

    return a, {"alpha": alpha, "patch": channel_mix}


def offset(z):
    """Post-wkv tuning: the heads' outputs are scaled before their norm."""
    a = {f"blocks.{i}.att.time_offset": rand(C, std=0.3) for i in range(LAYERS)}
    plain = torch.nn.functional.group_norm

    def group_norm(x, num_groups, weight, bias, eps):
        i = next(i for i in range(LAYERS) if torch.equal(weight.flatten(), z[f"blocks.{i}.att.ln_x.weight"].flatten()))
        return plain(x * (1 + a[f"blocks.{i}.att.time_offset"].float()), num_groups, weight, bias, eps)

    return a, {"norm": group_norm}


def mole_bone(z, r=8, experts=3, active=2):
    """Experts of the form BAT: each has weights of its own, W + W D + D in blocks."""
    a, own = {}, {}
    for i in range(LAYERS):
        p = f"blocks.{i}.ffn."
        a[p + "router.linear.weight"] = rand(experts - 1, C, std=0.5)
        a[p + "moe_info"] = torch.tensor([experts, active], dtype=torch.bfloat16)
        for e in range(experts):
            for side, inn in {"key": C, "value": FFN}.items():
                D = rand(inn // r, r, r)
                a[f"{p}expert_{e}.{side}.bone_expert_0"] = D
                b = blocks(z[f"{p}{side}.weight"], r)
                own[i, e, side] = unblocks(b + b @ D.float() + D.float())

    def channel_mix(x, x_prev, x_k, K_, V_):
        i = next(i for i in range(LAYERS) if torch.equal(x_k.flatten(), z[f"blocks.{i}.ffn.x_k"].flatten()))
        k = x + (x_prev - x) * x_k
        scores = torch.cat([torch.zeros(1), a[f"blocks.{i}.ffn.router.linear.weight"].float() @ k])
        top = torch.topk(scores, active)
        out = torch.zeros_like(x)
        for share, e in zip(torch.softmax(top.values, 0), top.indices.tolist()):
            out += share * (own[i, e, "value"] @ torch.relu(own[i, e, "key"] @ k) ** 2)
        return out, x

    return a, {"patch": channel_mix}


def dora_rows(z, r=4, alpha=4.0):
    """Magnitudes [out, 1] of the rows, as in the paper."""
    a = {}
    for p in places(["att.key", "ffn.key", "ffn.value"]):
        w = z[p + ".weight"]
        A, B = rand(r, w.shape[1]), rand(w.shape[0], r)
        M = (w.norm(dim=1, keepdim=True) * (1 + 0.2 * torch.randn(w.shape[0], 1))).bfloat16()
        a[p + ".lora_A"], a[p + ".lora_B"], a[p + ".lora_M"] = A, B, M
        v = w + (alpha / r) * (B.float() @ A.float())
        w.copy_(M.float() * v / (v.norm(dim=1, keepdim=True) + 1e-6))
    return a, {"alpha": alpha}


def full(z, r=4, alpha=8.0):
    """LoRA and a tuned state's file in one, the last layer trained as a whole, and the
    names of the trainer's objects in front."""
    a = {}
    for p in places(ALL)[: -len(ALL)]:
        w = z[p + ".weight"]
        A, B = rand(r, w.shape[1]), rand(w.shape[0], r)
        a[f"base_model.{p}.lora_A"], a[f"base_model.{p}.lora_B"] = A, B
        w += (B.float() @ A.float()) * (alpha / r)
    for key in list(z):
        if key.startswith(f"blocks.{LAYERS - 1}."):
            a["model." + key] = (z[key] * (1 + 0.1 * torch.randn_like(z[key]))).bfloat16()
            z[key] = a["model." + key].float()
    for i in range(LAYERS):
        a[f"blocks.{i}.att.time_state"] = rand(C // SIZE, SIZE, SIZE)
    return a, {"alpha": alpha}


def logits(z, folder, patch, norm):
    path = os.path.join(folder, "model")
    torch.save(z, path + ".pth")
    from rwkv import model as package

    was = package.RWKV_x070_CMix_one
    if patch:
        package.RWKV_x070_CMix_one = patch
    plain = torch.nn.functional.group_norm
    if norm:
        torch.nn.functional.group_norm = norm
    m = package.RWKV(path, "cpu fp32")
    state = None
    for i in range(LENGTH):
        x, state = m.forward([g.token(i, VOCAB)], state)
    package.RWKV_x070_CMix_one, torch.nn.functional.group_norm = was, plain
    return x.numpy().astype(np.float32)


def main():
    out, sys.stdout = sys.stdout, sys.stderr
    np.seterr(over="ignore")
    os.makedirs("adapters", exist_ok=True)
    # The package compiles itself for RWKV-7 whatever RWKV_JIT_ON says, and what
    # is compiled cannot be given another channel mix.
    torch.jit.ScriptModule, torch.jit.script_method, torch.jit.script = torch.nn.Module, lambda f: f, lambda f: f
    cases = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for seed, make in enumerate([lora, pissa, dora, disha, bat, bone, mixed, mole, offset, mole_bone, dora_rows, full]):
            torch.manual_seed(seed)
            z = weights()
            a, how = make(z)
            name = make.__name__
            torch.save(a, f"adapters/{name}.pth")
            if "init" in how:
                torch.save(how["init"], f"adapters/{name}-init.pth")
            x = logits(z, folder, how.get("patch"), how.get("norm"))
            cases.append({
                "name": name, "alpha": how.get("alpha", 0), "blocks": how.get("blocks", ""), "init": "init" in how,
                "after": LENGTH, "std": float(x.std()), "logits": base64.b64encode(x.astype("<f4").tobytes()).decode(),
            })
    json.dump(cases, out, indent=1)
    out.write("\n")


main()
