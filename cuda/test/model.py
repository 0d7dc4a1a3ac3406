"""Synthetic models of RWKV-7 to 4, and the forward pass in float64 by its definition."""
import math

import numpy as np
import torch

# layers, C, head size, ranks of w, a, v, g
RELEASED = {
    "0.1b": (12, 768, 64, (64, 64, 32, 128)),
    "0.4b": (24, 1024, 64, (64, 64, 32, 128)),
    "1.5b": (24, 2048, 64, (96, 96, 64, 256)),
    "2.9b": (32, 2560, 64, (96, 96, 64, 320)),
    "7.2b": (32, 4096, 64, (128, 128, 96, 480)),
}
RELEASED_V6 = { # layers, C, head size, ranks of each mix and of the decay; 0.1b is for tests
    "0.1b": (12, 768, 64, (32, 64)),
    "1.6b": (24, 2048, 64, (32, 64)),
    "7b": (32, 4096, 64, (64, 128)),
}
LN2_BIAS = 0.2
SIGMA = 0.5          # of FFN pre-activations
Z90 = 1.2815515655   # 90 % of a normal distribution is below it


def make_shape(layers, c, size=64, ranks=(64, 64, 32, 128), ffn=None, vocab=65536):
    return dict(version=70, layers=layers, embed=c, heads=c // size, head_size=size, ffn=ffn or 4 * c, vocab=vocab, ranks=ranks)


def make_v6(layers, c, size=64, ranks=(32, 64), ffn=None, vocab=65536):
    return dict(version=60, layers=layers, embed=c, heads=c // size, head_size=size, ffn=ffn or c * 7 // 2 // 32 * 32, vocab=vocab, ranks=ranks)


def make_older(version, layers, c, size=64, ffn=None, vocab=65536):
    """RWKV-5.2 to 4: 52, 51, 50, 40. RWKV-4 has heads of 1."""
    size = size if version > 40 else 1
    return dict(version=version, layers=layers, embed=c, heads=c // size, head_size=size, ffn=ffn or c * 7 // 2 // 32 * 32, vocab=vocab, ranks=())


def released(name):
    """A released shape: 0.1b is RWKV-7's, v6-1.6b RWKV-6's."""
    return make_v6(*RELEASED_V6[name[3:]]) if name.startswith("v6-") else make_shape(*RELEASED[name])


class Device:
    """Random numbers of torch on one device."""

    def __init__(self, seed, device):
        self.device, self.g = device, torch.Generator(device).manual_seed(seed)

    def normal(self, *shape, std, mean=0.0):
        return torch.empty(*shape, device=self.device).normal_(mean, std, generator=self.g)

    def uniform(self, *shape, lo, hi):
        return torch.empty(*shape, device=self.device).uniform_(lo, hi, generator=self.g)


class Portable:
    """The same random numbers with every version of every package, on the CPU."""

    def __init__(self, seed):
        self.device, self.g = "cpu", np.random.Generator(np.random.PCG64(seed))

    def normal(self, *shape, std, mean=0.0):
        return torch.from_numpy(self.g.standard_normal(shape, dtype=np.float32) * np.float32(std) + np.float32(mean))

    def uniform(self, *shape, lo, hi):
        return torch.from_numpy(self.g.random(shape, dtype=np.float32) * np.float32(hi - lo) + np.float32(lo))


def uniform(source, n, lo, hi):
    return source.uniform(1, 1, n, lo=lo, hi=hi)


def around(source, n, mid, by):
    return source.uniform(n, lo=mid - by, hi=mid + by)


def channel_mix(s, f, source, residual):
    """Its matrices; 90 % of relu² are zero."""
    C, F = s["embed"], s["ffn"]
    yield f + "key.weight", source.normal(F, C, std=SIGMA / math.sqrt(C), mean=-Z90 * SIGMA / (C * LN2_BIAS))
    yield f + "value.weight", source.normal(C, F, std=residual * 8 / math.sqrt(F))


def layer_v7(s, i, source, residual):
    C, H, N, a, f = s["embed"], s["heads"], s["head_size"], f"blocks.{i}.att.", f"blocks.{i}.ffn."
    ranks = dict(zip("wavg", s["ranks"]))
    for x in "rwkvag":
        yield a + "x_" + x, uniform(source, C, 0, .6)
    yield a + "w0", torch.linspace(-6, 1, C, device=source.device).view(1, 1, C)
    yield a + "a0", uniform(source, C, -.5, .5)
    for x, gain in ("w", .3), ("a", .5), ("g", 1), ("v", .5):
        r = ranks[x]
        if x == "v" and i == 0:
            continue
        yield a + x + "1", source.normal(C, r, std=gain / math.sqrt(C))
        yield a + x + "2", source.normal(r, C, std=gain / math.sqrt(r))
    if i > 0:
        yield a + "v0", uniform(source, C, .2, .8)
    yield a + "k_k", uniform(source, C, .7, 1)
    yield a + "k_a", uniform(source, C, .8, 1.1)
    yield a + "r_k", source.normal(H, N, std=.05)
    for m, gain in ("receptance", .5), ("key", .3), ("value", .5), ("output", residual):
        yield f"{a}{m}.weight", source.normal(C, C, std=gain / math.sqrt(C))
    yield a + "ln_x.weight", around(source, C, 1, .1)
    yield a + "ln_x.bias", around(source, C, 0, .05)
    yield f + "x_k", uniform(source, C, 0, .3)
    yield from channel_mix(s, f, source, residual)


def layer_v6(s, i, source, residual):
    C, H, N, a, f = s["embed"], s["heads"], s["head_size"], f"blocks.{i}.att.", f"blocks.{i}.ffn."
    M, D = s["ranks"]
    for x in "xwkvrg":
        yield a + "time_maa_" + x, uniform(source, C, 0, .6)
    yield a + "time_maa_w1", source.normal(C, 5 * M, std=.5 / math.sqrt(C))
    yield a + "time_maa_w2", source.normal(5, M, C, std=.2 / math.sqrt(M))
    yield a + "time_decay", torch.linspace(-6, 2, C, device=source.device).view(1, 1, C)
    yield a + "time_decay_w1", source.normal(C, D, std=1 / math.sqrt(C))
    yield a + "time_decay_w2", source.normal(D, C, std=1 / math.sqrt(D))
    yield a + "time_faaaa", source.normal(H, N, std=.3)
    for m, gain in ("receptance", .5), ("key", .3), ("value", .5), ("gate", 1), ("output", residual):
        yield f"{a}{m}.weight", source.normal(C, C, std=gain / math.sqrt(C))
    yield a + "ln_x.weight", around(source, C, 1, .1)
    yield a + "ln_x.bias", around(source, C, 0, .05)
    for x in "kr":
        yield f + "time_maa_" + x, uniform(source, C, 0, .3)
    yield f + "receptance.weight", source.normal(C, C, std=1 / math.sqrt(C))
    yield from channel_mix(s, f, source, residual)


def layer_older(s, i, source, residual):
    C, H, N, a, f, gate = s["embed"], s["heads"], s["head_size"], f"blocks.{i}.att.", f"blocks.{i}.ffn.", s["version"] > 50
    for x in "kvrg" if gate else "kvr":
        yield a + "time_mix_" + x, uniform(source, C, .4, 1)
    each = dict(zip((52, 51, 50, 40), ((H, N), (H,), (H,), (C,))))[s["version"]]
    n = math.prod(each)
    yield a + "time_decay", torch.linspace(-6, 2, n, device=source.device)[torch.arange(n) * 7 % n].view(each)
    yield a + ("time_first" if s["version"] == 40 else "time_faaaa"), source.normal(*each, std=.3)
    for m, gain in ("receptance", .5), ("key", .5), ("value", .5), ("output", residual) if s["version"] > 40 else ("output", 2 * residual):
        yield f"{a}{m}.weight", source.normal(C, C, std=gain / math.sqrt(C))
    if gate:
        yield a + "gate.weight", source.normal(C, C, std=1 / math.sqrt(C))
    if s["version"] > 40:
        yield a + "ln_x.weight", around(source, C, 1, .1)
        yield a + "ln_x.bias", around(source, C, 0, .05)
    for x in "kr":
        yield f + "time_mix_" + x, uniform(source, C, .7, 1)
    yield f + "receptance.weight", source.normal(C, C, std=1 / math.sqrt(C))
    yield from channel_mix(s, f, source, residual)


def weights(s, seed=1, device="cpu", dtype=torch.bfloat16, source=None):
    """Yields (name, tensor) with activations of order 1 and 90 % of relu²
    zero: LN2's bias shifts the pre-activations, which token shift keeps."""
    L, C, V = s["layers"], s["embed"], s["vocab"]
    source = source or Device(seed, device)

    def all_of():
        yield "emb.weight", source.normal(V, C, std=0.02)
        yield "blocks.0.ln0.weight", around(source, C, 1, .2)
        yield "blocks.0.ln0.bias", around(source, C, 0, .05)
        residual = 1 / math.sqrt(2 * L)
        for i in range(L):
            b = f"blocks.{i}."
            for ln, bias in ("ln1", 0.0), ("ln2", LN2_BIAS):
                yield b + ln + ".weight", around(source, C, 1, .1)
                yield b + ln + ".bias", around(source, C, bias, .02)
            yield from {60: layer_v6, 70: layer_v7}.get(s["version"], layer_older)(s, i, source, residual)
        yield "ln_out.weight", around(source, C, 1, .1)
        yield "ln_out.bias", around(source, C, 0, .05)
        yield "head.weight", source.normal(V, C, std=3 / math.sqrt(C))

    for name, t in all_of():
        yield name, t.to(dtype)


class Reference:
    """Steps B sequences at once in float64."""

    def __init__(self, s, tensors, device="cpu"):
        self.s, self.device = s, device
        self.z = {k: t.to(device).double().squeeze() for k, t in tensors}
        L, C, H, N = s["layers"], s["embed"], s["heads"], s["head_size"]
        wkv = (H, N, N) if N > 1 else (3, C)
        self.zero = lambda b: [tuple(torch.zeros(b, *n, dtype=torch.float64, device=device) for n in ((C,), (C,), wkv)) for _ in range(L)]

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.z[name + ".weight"], self.z[name + ".bias"], 1e-5)

    def step(self, tokens, state, logits=True):
        """tokens [B]; returns logits [B, V] and changes state in place."""
        s, z = self.s, self.z
        x = self.norm(z["emb.weight"][torch.as_tensor(tokens, device=self.device)], "blocks.0.ln0")
        first = None
        for i in range(s["layers"]):
            x, first = {60: self.layer_v6, 70: self.layer_v7}.get(s["version"], self.layer_older)(i, x, first, state)
        return self.norm(x, "ln_out") @ z["head.weight"].T if logits else None

    def layer_v7(self, i, x, first, state):
        s, z = self.s, self.z
        B, C, H, N = len(x), s["embed"], s["heads"], s["head_size"]
        a = f"blocks.{i}.att."
        att, ffn, S = state[i]
        n = self.norm(x, f"blocks.{i}.ln1")
        m = {c: n + (att - n) * z[a + "x_" + c] for c in "rwkvag"}
        r, k, v = (m[c] @ z[f"{a}{w}.weight"].T for c, w in (("r", "receptance"), ("k", "key"), ("v", "value")))
        w = torch.exp(-math.exp(-.5) * torch.sigmoid(z[a + "w0"] + torch.tanh(m["w"] @ z[a + "w1"]) @ z[a + "w2"]))
        rate = torch.sigmoid(z[a + "a0"] + m["a"] @ z[a + "a1"] @ z[a + "a2"])
        g = torch.sigmoid(m["g"] @ z[a + "g1"]) @ z[a + "g2"]
        kk = torch.nn.functional.normalize((k * z[a + "k_k"]).view(B, H, N), dim=-1, eps=1e-12)
        k = k * (1 + (rate - 1) * z[a + "k_a"])
        if i == 0:
            first = v
        else:
            v = v + (first - v) * torch.sigmoid(z[a + "v0"] + m["v"] @ z[a + "v1"] @ z[a + "v2"])
        heads = [t.view(B, H, N) for t in (r, w, k, v, rate)]
        r, w, k, v, rate = heads
        removed = S @ kk.unsqueeze(-1)
        S = S * w.unsqueeze(-2) - removed @ (kk * rate).unsqueeze(-2) + v.unsqueeze(-1) @ k.unsqueeze(-2)
        y = (S @ r.unsqueeze(-1)).view(B, C)
        y = torch.nn.functional.group_norm(y, H, z[a + "ln_x.weight"], z[a + "ln_x.bias"], 64e-5)
        y = y + ((r * k * z[a + "r_k"].view(H, N)).sum(-1, keepdim=True) * v).view(B, C)
        x = x + (y * g) @ z[a + "output.weight"].T
        h = self.norm(x, f"blocks.{i}.ln2")
        hidden = torch.relu((h + (ffn - h) * z[f"blocks.{i}.ffn.x_k"]) @ z[f"blocks.{i}.ffn.key.weight"].T) ** 2
        x = x + hidden @ z[f"blocks.{i}.ffn.value.weight"].T
        state[i] = (n, h, S)
        return x, first

    def layer_v6(self, i, x, first, state):
        s, z = self.s, self.z
        B, C, H, N, M = len(x), s["embed"], s["heads"], s["head_size"], s["ranks"][0]
        a, f = f"blocks.{i}.att.", f"blocks.{i}.ffn."
        att, ffn, S = state[i]
        n = self.norm(x, f"blocks.{i}.ln1")
        d = att - n
        low = torch.tanh((n + d * z[a + "time_maa_x"]) @ z[a + "time_maa_w1"]).view(B, 5, M)
        m = {c: n + d * (z[a + "time_maa_" + c] + low[:, j] @ z[a + "time_maa_w2"][j]) for j, c in enumerate("wkvrg")}
        k, v, r, g = (m[c] @ z[f"{a}{w}.weight"].T for c, w in (("k", "key"), ("v", "value"), ("r", "receptance"), ("g", "gate")))
        w = torch.exp(-torch.exp(z[a + "time_decay"] + torch.tanh(m["w"] @ z[a + "time_decay_w1"]) @ z[a + "time_decay_w2"]))
        r, w, k, v = (t.view(B, H, N) for t in (r, w, k, v))
        y = S @ r.unsqueeze(-1) + (r * k * z[a + "time_faaaa"].view(H, N)).sum(-1, keepdim=True).unsqueeze(-1) * v.unsqueeze(-1)
        S = S * w.unsqueeze(-2) + v.unsqueeze(-1) @ k.unsqueeze(-2)
        y = torch.nn.functional.group_norm(y.view(B, C), H, z[a + "ln_x.weight"], z[a + "ln_x.bias"], 64e-5)
        x = x + (y * g * torch.sigmoid(g)) @ z[a + "output.weight"].T
        x, h = self.gated(i, x, ffn, [z[f + "time_maa_" + c] for c in "kr"])
        state[i] = (n, h, S)
        return x, first

    def gated(self, i, x, ffn, mixes):
        """The channel mix with a receptance; returns x and the new shift."""
        z, f = self.z, f"blocks.{i}.ffn."
        h = self.norm(x, f"blocks.{i}.ln2")
        xk, xr = (h + (ffn - h) * m for m in mixes)
        hidden = torch.relu(xk @ z[f + "key.weight"].T) ** 2
        return x + torch.sigmoid(xr @ z[f + "receptance.weight"].T) * (hidden @ z[f + "value.weight"].T), h

    def layer_older(self, i, x, first, state):
        s, z = self.s, self.z
        B, C, H, N, a, f = len(x), s["embed"], s["heads"], s["head_size"], f"blocks.{i}.att.", f"blocks.{i}.ffn."
        att, ffn, S = state[i]
        n = self.norm(x, f"blocks.{i}.ln1")
        m = {c: att + (n - att) * z[a + "time_mix_" + c] for c in "kvrg" if a + "time_mix_" + c in z}
        k, v, r = (m[c] @ z[f"{a}{w}.weight"].T for c, w in (("k", "key"), ("v", "value"), ("r", "receptance")))
        if N == 1:
            aa, bb, p = S.unbind(1)
            p = torch.where(bb == 0, -1e30, p)
            q = torch.maximum(p, z[a + "time_first"] + k)
            old, own = torch.exp(p - q), torch.exp(z[a + "time_first"] + k - q)
            y = torch.sigmoid(r) * (old * aa + own * v) / (old * bb + own)
            p = p - torch.exp(z[a + "time_decay"])
            q = torch.maximum(p, k)
            S = torch.stack([torch.exp(p - q) * aa + torch.exp(k - q) * v, torch.exp(p - q) * bb + torch.exp(k - q), q], 1)
        else:
            r, k, v = (t.view(B, H, N) for t in (r, k, v))
            u, w = (z[a + t].view(H, -1).expand(H, N) for t in ("time_faaaa", "time_decay"))
            y = S @ r.unsqueeze(-1) + (r * k * u).sum(-1, keepdim=True).unsqueeze(-1) * v.unsqueeze(-1)
            S = S * torch.exp(-torch.exp(w)).unsqueeze(-2) + v.unsqueeze(-1) @ k.unsqueeze(-2)
            y = torch.nn.functional.group_norm(y.view(B, C), H, z[a + "ln_x.weight"], z[a + "ln_x.bias"], 64e-5)
            if "g" in m:
                g = m["g"] @ z[a + "gate.weight"].T
                y = y * g * torch.sigmoid(g)
        x = x + y @ z[a + "output.weight"].T
        x, h = self.gated(i, x, ffn, [1 - z[f + "time_mix_" + c] for c in "kr"])
        state[i] = (n, h, S)
        return x, first

    def flat(self, state, b):
        """The canonical state of sequence b."""
        return torch.cat([torch.cat([att[b], ffn[b], S[b].flatten()]) for att, ffn, S in state])
