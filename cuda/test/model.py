"""Synthetic RWKV-7 models, and the forward pass in float64 by its definition."""
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
LN2_BIAS = 0.2
SIGMA = 0.5          # of FFN pre-activations
Z90 = 1.2815515655   # 90 % of a normal distribution is below it


def make_shape(layers, c, size=64, ranks=(64, 64, 32, 128), ffn=None, vocab=65536):
    w, a, v, g = ranks
    return dict(layers=layers, embed=c, heads=c // size, head_size=size, ffn=ffn or 4 * c, vocab=vocab, rank_w=w, rank_a=a, rank_v=v, rank_g=g)


def released(name):
    return make_shape(*RELEASED[name])


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


def weights(s, seed=1, device="cpu", dtype=torch.bfloat16, source=None):
    """Yields (name, tensor) with activations of order 1 and 90 % of relu²
    zero: LN2's bias shifts the pre-activations, which token shift keeps."""
    L, C, H, N, F, V = (s[k] for k in ("layers", "embed", "heads", "head_size", "ffn", "vocab"))
    source = source or Device(seed, device)
    normal = source.normal

    def uniform(n, lo, hi):
        return source.uniform(1, 1, n, lo=lo, hi=hi)

    def around(n, mid, by):
        return source.uniform(n, lo=mid - by, hi=mid + by)

    def all_of():
        yield "emb.weight", normal(V, C, std=0.02)
        yield "blocks.0.ln0.weight", around(C, 1, .2)
        yield "blocks.0.ln0.bias", around(C, 0, .05)
        residual = 1 / math.sqrt(2 * L)
        for i in range(L):
            b, a, f = f"blocks.{i}.", f"blocks.{i}.att.", f"blocks.{i}.ffn."
            for ln, bias in ("ln1", 0.0), ("ln2", LN2_BIAS):
                yield b + ln + ".weight", around(C, 1, .1)
                yield b + ln + ".bias", around(C, bias, .02)
            for x in "rwkvag":
                yield a + "x_" + x, uniform(C, 0, .6)
            yield a + "w0", torch.linspace(-6, 1, C, device=device).view(1, 1, C)
            yield a + "a0", uniform(C, -.5, .5)
            for x, gain in ("w", .3), ("a", .5), ("g", 1), ("v", .5):
                r = s["rank_" + x]
                if x == "v" and i == 0:
                    continue
                yield a + x + "1", normal(C, r, std=gain / math.sqrt(C))
                yield a + x + "2", normal(r, C, std=gain / math.sqrt(r))
            if i > 0:
                yield a + "v0", uniform(C, .2, .8)
            yield a + "k_k", uniform(C, .7, 1)
            yield a + "k_a", uniform(C, .8, 1.1)
            yield a + "r_k", normal(H, N, std=.05)
            for m, gain in ("receptance", .5), ("key", .3), ("value", .5), ("output", residual):
                yield f"{a}{m}.weight", normal(C, C, std=gain / math.sqrt(C))
            yield a + "ln_x.weight", around(C, 1, .1)
            yield a + "ln_x.bias", around(C, 0, .05)
            yield f + "x_k", uniform(C, 0, .3)
            yield f + "key.weight", normal(F, C, std=SIGMA / math.sqrt(C), mean=-Z90 * SIGMA / (C * LN2_BIAS))
            yield f + "value.weight", normal(C, F, std=residual * 8 / math.sqrt(F))
        yield "ln_out.weight", around(C, 1, .1)
        yield "ln_out.bias", around(C, 0, .05)
        yield "head.weight", normal(V, C, std=3 / math.sqrt(C))

    for name, t in all_of():
        yield name, t.to(dtype)


class Reference:
    """Steps B sequences at once in float64."""

    def __init__(self, s, tensors, device="cpu"):
        self.s, self.device = s, device
        self.z = {k: t.to(device).double().squeeze() for k, t in tensors}
        L, C, H, N = s["layers"], s["embed"], s["heads"], s["head_size"]
        self.zero = lambda b: [(torch.zeros(b, C, dtype=torch.float64, device=device), torch.zeros(b, C, dtype=torch.float64, device=device),
                                torch.zeros(b, H, N, N, dtype=torch.float64, device=device)) for _ in range(L)]

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.z[name + ".weight"], self.z[name + ".bias"], 1e-5)

    def step(self, tokens, state, logits=True):
        """tokens [B]; returns logits [B, V] and changes state in place."""
        s, z = self.s, self.z
        B, C, H, N = len(tokens), s["embed"], s["heads"], s["head_size"]
        x = self.norm(z["emb.weight"][torch.as_tensor(tokens, device=self.device)], "blocks.0.ln0")
        first = None
        for i in range(s["layers"]):
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
        return self.norm(x, "ln_out") @ z["head.weight"].T if logits else None

    def flat(self, state, b):
        """The canonical state of sequence b."""
        return torch.cat([torch.cat([att[b], ffn[b], S[b].flatten()]) for att, ffn, S in state])
