"""infer/sampler's definition of a draw, written down plainly (spec_test.go)."""
import math

import numpy as np

F = np.float32
NEG_INF = F(-np.inf)
MAX = np.finfo(np.float32).max
LEAST_TEMPERATURE = 0.001


def mass(z, m, scale):
    """Masses of an array of z <= m, in units of 2^-44."""
    with np.errstate(invalid="ignore", over="ignore"):
        y = (z - F(m)).astype(F) * F(scale)
        y = np.where(y > F(-64), y, F(-64)).astype(F)
    t = y + F(3 << 22)
    f = y - (t - F(3 << 22))
    p = F(float.fromhex("0x1.41fbc2p-13")) * f + F(float.fromhex("0x1.5f3e54p-10"))
    for c in "0x1.3b2d4cp-07", "0x1.c6aee8p-05", "0x1.ebfbdcp-03", "0x1.62e430p-01", "0x1p0":
        p = p * f + F(float.fromhex(c))
    weight = (p.view(np.uint32) + (t.view(np.uint32) << np.uint32(23))).view(F)
    return np.rint(weight.astype(np.float64) * 2.0**44).astype(np.uint64)  # rint: even of two


def random_word(seed, n):
    c, k = [n & 0xffffffff, n >> 32, 0, 0], [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & 0xffffffff, p0 >> 32 ^ c[3] ^ k[1], p0 & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c[0] | c[1] << 32


def tame(z):
    z = np.where(np.isnan(z), NEG_INF, z)
    return np.minimum(z, MAX).astype(F)


def scale_of(t):
    return F(1.4426950408889634 / float(F(t)))


class Sampler:
    def __init__(self, limit, mode=0, temperature=1., top_k=0, top_p=1., presence=0., frequency=0., decay=1., seed=0, bans=(), exempt=()):
        self.limit, self.mode, self.temperature, self.top_k, self.top_p = limit, mode, F(temperature), top_k, F(top_p)
        self.presence, self.frequency, self.decay, self.seed, self.bans = F(presence), F(frequency), F(decay), seed, bans
        self.exempt, self.draws, self.counts = set(exempt), 0, {}

    def row(self):
        return dict(mode=self.mode, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, presence=self.presence,
                    frequency=self.frequency, decay=self.decay, seed=self.seed, draw=self.draws, bans=self.bans)

    def penalty(self, n, first):
        if self.mode == 2:
            return F(self.presence * first) + F(self.frequency * F(n - first))
        return self.presence + F(self.frequency * n)

    def changed(self, logits):
        z = logits[:self.limit].copy()
        if self.presence != 0 or self.frequency != 0:
            for t, (n, first) in self.counts.items():
                z[t] -= self.penalty(n, first)
        for b in self.bans:
            if 0 <= b < self.limit:
                z[b] = NEG_INF
        return tame(z)

    def weights(self, logits):
        z = self.changed(logits)
        m, w = z.max(), np.zeros(len(z), np.uint64)
        if m == NEG_INF:
            return w
        t, p, k = self.temperature, self.top_p, self.top_k
        if self.mode == 1 and t < LEAST_TEMPERATURE:
            t, p = F(1), F(0)
        if self.mode == 2 and p == 0:
            k, p = 1, F(1)
        if t < LEAST_TEMPERATURE:
            w[np.argmax(z)] = 1 << 44
            return w
        order = np.argsort(-z, kind="stable")
        if self.mode == 2:
            self.rapid(w, order, z, m, scale_of(t), p, k)
            return w
        if p < 1:
            masses = mass(z[order], m, F(1.4426950408889634))
            run = np.cumsum(masses, dtype=np.uint64)
            target = max(1, math.ceil(float(p) * float(int(run[-1]))))
            n = int(np.searchsorted(run, np.uint64(target)))
            order = order[:np.searchsorted(-z[order], -z[order[n]], side="right")]
        if k > 0:
            order = order[:k]
        w[order] = mass(z[order], m, scale_of(t))
        return w

    def rapid(self, w, order, z, m, scale, p, k):
        s = z[order]
        masses = mass(s, m, scale)
        target = max(1, math.ceil(float(p) * float(int(masses.sum(dtype=np.uint64)))))
        above, lo = 0, 0
        while lo < len(s):
            hi = int(np.searchsorted(-s, -s[lo], side="right"))
            own, ties = int(masses[lo]), hi - lo
            share, full = own, False
            if p < 1 and above + own * ties >= target:
                share, full = min(share, (target - above) // ties), True
            if k > 0 and hi >= k:
                share, full = min(share, own * (k - lo) // ties), True
            if full and lo == 0:
                share = max(share, 1)
            w[order[lo:hi]] = share
            if full:
                return
            above += own * ties
            lo = hi

    def sample(self, logits):
        """Returns the token, its log-probability and the weights of the draw."""
        w = self.weights(logits)
        total = int(w.sum(dtype=np.uint64))
        r = random_word(self.seed, self.draws)
        self.draws += 1
        if total == 0:
            return 0, -math.inf, w
        token = int(np.searchsorted(np.cumsum(w, dtype=np.uint64), np.uint64(total * r >> 64), side="right"))
        return token, self.log_prob(logits)[token], w

    def log_prob(self, logits):
        z = tame(logits[:self.limit]).astype(np.float64)
        with np.errstate(over="ignore"):
            return z - (z.max() + np.log(np.exp(z - z.max()).sum()))

    def observe(self, token):
        def decayed(n):
            n = F(n * self.decay)
            return F(0) if n < F(2.0**-64) else n
        self.counts = {t: (decayed(n), decayed(f)) for t, (n, f) in self.counts.items()}
        weight = F(0) if self.mode == 1 and token in self.exempt else F(1)
        n, f = self.counts.get(token, (F(0), weight))
        self.counts[token] = (F(n + weight), f)
