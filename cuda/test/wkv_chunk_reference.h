// wkv_chunk_reference.h: the time mix of RWKV-7 in float64, token by token, for the inputs
// of wkv_chunk_pass.h.
#pragma once

#include <cmath>

#include "test/wkv_chunk_pass.h"

namespace {

double sigma(double v) { return 1 / (1 + std::exp(-v)); }

struct Reference {
    std::vector<double> y, s; // [count][N], [N][N]
};

template <typename E, typename S> Reference reference(const Pass<E, S> &p, int row, int head, bool layer0) {
    const Row r = p.rows[row];
    Reference out{std::vector<double>((size_t)r.count * N), std::vector<double>(N * N)};
    for (int e = 0; e < N * N; e++) out.s[e] = to_float(from_float<S>(p.state_at(p.kind, r.key, head, e / N, e % N)));
    std::vector<double> w(N), kk(N), kt(N), rate(N), v(N), q(N);
    for (int t = 0; t < r.count; t++) {
        auto of = [&](Array a, int j) { return (double)to_float(from_float<E>(activation(p.kind, a, r.key, t, head * N + j))); };
        auto par = [&](Array a, int j) { return (double)parameter(p.kind, a, head * N + j); };
        double square = 0, bonus = 0;
        for (int j = 0; j < N; j++) {
            const double k = of(kK, j);
            w[j] = std::exp(-std::exp(-0.5) * sigma(par(kW0, j) + of(kUpW, j)));
            rate[j] = sigma(par(kA0, j) + of(kUpA, j));
            kk[j] = k * par(kKk, j);
            square += kk[j] * kk[j];
            kt[j] = k * (1 + (rate[j] - 1) * par(kKa, j));
            q[j] = of(kR, j);
            v[j] = of(kV, j);
            if (!layer0) v[j] += (of(kFirst, j) - v[j]) * sigma(par(kV0, j) + of(kUpV, j));
            bonus += q[j] * kt[j] * par(kRk, j);
        }
        for (double &x : kk) x /= std::max(std::sqrt(square), 1e-12);
        double y[N], mean = 0, variance = 0;
        for (int i = 0; i < N; i++) {
            double *s = &out.s[i * N], removed = 0;
            for (int j = 0; j < N; j++) removed -= s[j] * kk[j];
            y[i] = 0;
            for (int j = 0; j < N; j++) {
                s[j] = s[j] * w[j] + removed * kk[j] * rate[j] + v[i] * kt[j];
                y[i] += s[j] * q[j];
            }
            mean += y[i] / N;
        }
        for (double x : y) variance += (x - mean) * (x - mean) / N;
        for (int i = 0; i < N; i++)
            out.y[(size_t)t * N + i] = ((y[i] - mean) / std::sqrt(variance + 64e-5) * par(kGnWeight, i) + par(kGnBias, i) + bonus * v[i]) * of(kUpG, i);
    }
    return out;
}

} // namespace
