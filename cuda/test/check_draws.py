"""Draws by the definition in draw.py."""
import numpy as np
import torch

import native
from check import check, open_engine, tokens_of
from draw import F, Sampler
from model import make_shape, weights


def draw_cases(rng, limit):
    def pick(*of):
        return of[rng.integers(len(of))]
    return Sampler(limit, mode=int(rng.integers(3)), temperature=pick(0, .0005, .001, .3, 1, 1, 1.7, 5, 1000),
                   top_p=pick(0, 1e-30, .1, .5, .9, .99, .9999, 1, 1), top_k=int(pick(0, 0, 1, 2, 7, 40, limit // 2, limit - 1, limit, 2 * limit)),
                   presence=pick(0, 0, .5, -3), frequency=pick(0, 0, .7, -1), decay=pick(1, .99, .5), seed=int(rng.integers(1 << 63)) * 2 + 1,
                   bans=[int(b) for b in rng.integers(0, limit + 3, rng.integers(4))], exempt=EXEMPT)


EXEMPT = [3, 11, 12, 40]
MANY = 72  # rows


@check
def draws_by_definition():
    compare(24, ((65536, 65530, 30, 0), (1000, 990, 40, 0), (65, 63, 40, 0), (3000, 3000, 30, 0),
                 (65536, 65536, 8, native.PORTABLE), (3000, 3000, 8, native.PORTABLE)))


@check
def draws_of_few_rows():
    """Few rows: a block has a multiprocessor for itself. With nearly equal logits, top_p cuts among more values than a team lists."""
    compare(8, ((65536, 65530, 16, 0), (1000, 990, 24, 0), (65, 63, 24, 0), (3000, 3000, 16, 0)))
    compare(8, ((65536, 65530, 16, 0),), spread=.05)


@check
def draws_of_many_rows():
    """Many rows, most of which draw_many takes."""
    compare(MANY, ((65536, 65530, 4, 0), (1000, 990, 8, 0), (3000, 3000, 4, 0)))
    compare(2 * MANY, ((65536, 65530, 4, 0), (3000, 3000, 4, 0)))


def compare(n, cases, spread=None):
    rng = np.random.default_rng(7)
    for vocab, limit, rounds, flags in cases:
        s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=vocab)
        w = dict(weights(s))
        w["head.weight"] = (w["head.weight"].float() * (spread or float(rng.choice([.3, 1, 4])))).bfloat16()
        if vocab == 3000:  # many ties
            w["head.weight"] = w["head.weight"][torch.arange(vocab) // 40]
        e = open_engine(s, w.items(), slots=n, token_limit=limit, flags=flags)
        e.call("rk_set_exempt", native.pointer(np.array(EXEMPT, np.int32)), len(EXEMPT))
        wrong = 0
        for r in range(rounds // 4):
            samplers = [draw_cases(rng, limit) for _ in range(n)]
            usual = [n >= MANY and i % 4 > 0 for i in range(n)]
            for i, p in enumerate(samplers):
                if usual[i]:
                    p.mode, p.top_k = i % 2, 0
                p.draws = int(rng.integers(1 << 40))
                for t in rng.integers(0, limit, rng.integers(30)):
                    p.observe(int(t))
                if i % 8 == 7:  # a long conversation
                    for t in rng.permutation(limit)[:min(limit, 5000 if i % 16 == 7 else 1500)]:
                        p.counts[int(t)] = (F(rng.random()), F(rng.random() / 2))
                counts = np.array([(t, *c) for t, c in p.counts.items()], native.COUNT)
                e.set_counts(i, counts[rng.permutation(len(counts))])
            for step in range(4):
                tops = [0 if usual[i] else int(rng.choice([0, 0, 1, 5, 40, 256])) for i in range(n)]
                rows = [p.row() | dict(slot=i, tokens=tokens_of(rng, s, 1), top=tops[i], flags=native.DRAW | native.OBSERVE) for i, p in enumerate(samplers)]
                results, candidates = e.step(rows)
                at = 0
                for i, p in enumerate(samplers):
                    logits = e.logits(i)
                    before = {t: c for t, c in p.counts.items()}
                    token, log_prob, weight = p.sample(logits)
                    ok = results[i]["token"] == token and abs(results[i]["log_prob"] - log_prob) <= 4e-6 * max(1, abs(log_prob))
                    ok &= same_candidates(candidates[at:at + tops[i]], results[i]["candidates"], tops[i], p, logits, weight)
                    at += tops[i]
                    p.observe(token)
                    got = e.get_counts(i)
                    ok &= {int(c["token"]): (c["n"], c["first"]) for c in got} == p.counts
                    if not ok:
                        wrong += 1
                        print("      differs:", vocab, p.row(), "top", tops[i], "drew", results[i], "want", token, log_prob, len(before))
        assert wrong == 0, f"{wrong} draws are not by the definition"
        print(f"    vocabulary of {vocab}: {rounds // 4 * 4 * n} draws")
        e.close()


def same_candidates(got, count, top, p, logits, weight):
    z = logits[:p.limit]
    order = np.argsort(-z, kind="stable")[:top]
    total = int(weight.sum(dtype=np.uint64))
    prob = weight[order].astype(np.float64) / total if total else np.zeros(len(order))
    got = got[:count]
    return (count == len(order) and np.array_equal(got["token"], order) and np.array_equal(got["prob"], prob.astype(np.float32))
            and np.allclose(got["log_prob"], p.log_prob(logits)[order], rtol=4e-6, atol=4e-6))


@check
def odd_logits():
    s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=500)
    for value, what in ((float("nan"), "NaN"), (float("inf"), "inf")):
        w = dict(weights(s))
        w["head.weight"][7] = value
        e = open_engine(s, w.items(), slots=2, kind=native.BF16)
        results, _ = e.step([dict(slot=0, tokens=[1], flags=native.DRAW, temperature=1), dict(slot=1, tokens=[2], flags=native.DRAW)])
        assert all(r["flags"] & native.NAN for r in results), f"{what} is not told: {results}"
        assert results[1]["token"] != 7
        e.close()


@check
def mixes_by_definition():
    """Mixes beside other rows: tokens, log-probabilities, and those of each row alone."""
    rng = np.random.default_rng(5)
    for vocab, flags in ((65536, 0), (3000, native.PORTABLE), (1000, native.EAGER)):
        s = make_shape(1, 64, ranks=(8, 8, 8, 8), vocab=vocab)
        e = open_engine(s, weights(s), slots=24, max_tokens=512, token_limit=vocab - 5, flags=flags)
        for step in range(12):
            rows, mixes = [], []
            for members in rng.permutation([0, 1, 2, 6, 0, 3]):
                p = draw_cases(rng, vocab - 5)
                p.draws, p.presence, p.frequency = step, F(0), F(0)
                factors = rng.normal(size=members + 1).astype(F) * F(.5) + F(.5)
                factors[1:][rng.random(members) < .2] = 0
                mixes.append((len(rows), p, factors))
                count = 1 if step % 3 else 20
                rows.append(p.row() | dict(slot=len(rows), tokens=tokens_of(rng, s, count), flags=native.DRAW, members=members, weight=factors[0]))
                rows += [dict(slot=len(rows) + k, tokens=tokens_of(rng, s, count), flags=native.LOGITS, weight=factors[1 + k]) for k in range(members)]
            results, _ = e.step(rows)
            for at, p, factors in mixes:
                logits = [e.logits(at + k) for k in range(len(factors))]
                z = logits[0]
                if len(factors) > 1:
                    z = factors[0] * z
                    for g, other in zip(factors[1:], logits[1:]):
                        z = z + g * other if g else z
                token, log_prob, _ = p.sample(z)
                got = results[at]
                assert got["token"] == token and abs(got["log_prob"] - log_prob) <= 4e-6 * max(1, abs(log_prob)), (vocab, step, at, factors, got, token, log_prob)
                for k in range(len(factors) if len(factors) > 1 else 0):
                    own, want = results[at + k]["own_log_prob"], p.log_prob(logits[k])[token]
                    assert abs(own - want) <= 4e-6 * max(1, abs(want)), (vocab, step, at, k, own, want)
        for bad in (dict(members=2), dict(members=-1), dict(members=1, weight=float("nan")), dict(members=1, flags=native.LOGITS)):
            try:
                e.step([dict(slot=0, tokens=[1], flags=native.DRAW, temperature=1) | bad, dict(slot=1, tokens=[1], flags=native.LOGITS)])
                assert False, f"{bad} was taken"
            except native.Error as error:
                assert error.status == 1, error
        e.close()
