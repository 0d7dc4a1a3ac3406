// timemix_head.h: the time mix of one token of one head, from the results of the products
// to y (infer/cpu is the reference). There are two rules for the state.
//
// RWKV-7, the delta rule:
//
//   w = exp(-e^(-1/2) σ(w0 + d)) ;  a = σ(a0 + u_a) ;  κ = k ⊙ k_k ;  κ̂ = κ / max(‖κ‖, 1e-12)
//   k̃ = k ⊙ (1 + (a-1) ⊙ k_a) ;  v += (v_first - v) ⊙ σ(v0 + u_v)        (layer 0: v_first = v)
//   S ← S diag(w) - (S κ̂)(κ̂ ⊙ a)ᵀ + v k̃ᵀ ;  y = S r
//   y = (GN(y) + (Σ r k̃ r_k) v) ⊙ g
//
// d, u_a, u_v and g are parts of up. rkv [3][token_room][C], up [4][token_room][C].
//
// RWKV-6, decay alone:
//
//   w = exp(-exp(w0 + d))
//   y = S r + (Σ r k u) v ;  S ← S diag(w) + v kᵀ
//   y = GN(y) ⊙ silu(g)
//
// d is up [token_room][C], g the last part of rkv [4][token_room][C]: k, v, r, g. RWKV-5 has no d,
// and RWKV-5.0 no g.
//
// rkv, up, v_first and y [T][C] are E; parameters are fp32 [C], r_k is u; S [value][key] is
// fp32 or fp16 in memory and fp32 in registers. A warp prepares and finishes a token of a
// head; a lane has kEach neighbouring channels.
#pragma once

#include "engine/pass.h"
#include "layer/element.h"

namespace timemix {

constexpr float kHeadEps = 64e-5f;
constexpr float kDecay = 0.60653065971263342f; // e^(-1/2)
constexpr float kLeastNorm = 1e-12f;

enum class Rule { Delta, Decay };

struct Args {
    const void *rkv, *up;
    const void *gate;
    void *v_first, *y;
    const float *w0, *a0, *v0, *k_k, *k_a, *r_k, *gn_weight, *gn_bias;
    void *state; // of this layer
    const RowInput *input;
    const int32_t *row_slot;
    int64_t stride; // elements between the parts of rkv and up
    int channels, spare;
    bool single;
};

// The time mix of rows of one token and heads of 64: the usual step.
template <Rule rule> void mix_single(const Pass &p, const Args &a);

// The same for many rows; does nothing and returns false if there are too few.
template <Rule rule> bool mix_many(const Pass &p, const Args &a);

template <int N> constexpr int kEachOf = N > kWarp ? N / kWarp : 1;

// Loads or stores kEach neighbouring values, aligned to their total size.
template <int kEach, typename T> __device__ void load_each(float (&f)[kEach], const T *p) {
    struct alignas(kEach * sizeof(T)) Values {
        T v[kEach];
    };
    const Values q = *reinterpret_cast<const Values *>(p);
#pragma unroll
    for (int e = 0; e < kEach; e++) f[e] = to_float(q.v[e]);
}

template <int kEach, typename T> __device__ void store_each(T *p, const float (&f)[kEach]) {
    struct alignas(kEach * sizeof(T)) Values {
        T v[kEach];
    } q;
#pragma unroll
    for (int e = 0; e < kEach; e++) q.v[e] = from_float<T>(f[e]);
    *reinterpret_cast<Values *>(p) = q;
}

// The vectors of one token, in shared memory.
template <int N> struct Token {
    alignas(16) float r[N], w[N], k[N], kk[N], ka[N], v[N], y[N]; // kk = κ̂, ka = κ̂ ⊙ a: of the delta rule
    float bonus;
};

// The parameters of a lane's channels.
template <Rule rule, int kEach> struct Weights {
    float w0[kEach], a0[kEach], v0[kEach], k_k[kEach], k_a[kEach], r_k[kEach], gn_weight[kEach], gn_bias[kEach];

    __device__ Weights(const Args &a, int c) {
        load_each<kEach>(w0, a.w0 + c);
        if constexpr (rule == Rule::Delta) {
            load_each<kEach>(a0, a.a0 + c);
            if (a.v0) load_each<kEach>(v0, a.v0 + c);
            load_each<kEach>(k_k, a.k_k + c);
            load_each<kEach>(k_a, a.k_a + c);
        }
        load_each<kEach>(r_k, a.r_k + c);
        load_each<kEach>(gn_weight, a.gn_weight + c);
        load_each<kEach>(gn_bias, a.gn_bias + c);
    }
};

// A lane's channels of one token: results of the products.
template <Rule rule, int kEach> struct Inputs {
    float r[kEach], k[kEach], v[kEach], first[kEach], up_v[kEach], up_w[kEach], up_a[kEach], gate[kEach];

    Inputs() = default;
    template <typename E> __device__ Inputs(const Args &a, int64_t at, const E *) {
        visit<E>(a, at, [](auto &to, const E *from) { load_each<kEach>(to, from); }, *this);
    }

    // Calls load(member, its place) for every member that the rule has, of token and channel
    // `at`; Of has members of these names.
    template <typename E, typename Load, typename Of> static __device__ void visit(const Args &a, int64_t at, Load load, Of &of) {
        const E *rkv = static_cast<const E *>(a.rkv) + at, *up = static_cast<const E *>(a.up) + at;
        if (rule == Rule::Delta || a.gate) load(of.gate, static_cast<const E *>(a.gate) + at);
        if constexpr (rule == Rule::Decay) {
            load(of.k, rkv);
            load(of.v, rkv + a.stride);
            load(of.r, rkv + 2 * a.stride);
            if (a.up) load(of.up_w, up);
        } else {
            load(of.r, rkv);
            load(of.k, rkv + a.stride);
            load(of.v, rkv + 2 * a.stride);
            if (a.v0) {
                load(of.first, static_cast<const E *>(a.v_first) + at);
                load(of.up_v, up);
            }
            load(of.up_w, up + a.stride);
            load(of.up_a, up + 2 * a.stride);
        }
    }
};

// Computes the vectors of a token. Lanes whose first channel i is N or more have no part in
// it.
template <Rule rule, typename E, int N>
__device__ void prepare(const Args &a, int64_t at, int i, const Weights<rule, kEachOf<N>> &w, const Inputs<rule, kEachOf<N>> &in, Token<N> &out) {
    constexpr int kEach = kEachOf<N>;
    const bool has = i < N;
    float kappa[kEach], rate[kEach], square = 0, bonus = 0;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        if (!has) continue;
        float v = in.v[e], k = in.k[e];
        if constexpr (rule == Rule::Delta) {
            if (a.v0)
                v += (in.first[e] - v) * sigmoid(w.v0[e] + in.up_v[e]);
            else
                static_cast<E *>(a.v_first)[at + e] = from_float<E>(v);
            rate[e] = sigmoid(w.a0[e] + in.up_a[e]);
            kappa[e] = k * w.k_k[e];
            square += kappa[e] * kappa[e];
            k *= 1.0f + (rate[e] - 1.0f) * w.k_a[e];
        }
        bonus += in.r[e] * k * w.r_k[e];
        out.r[i + e] = in.r[e];
        out.k[i + e] = k;
        out.v[i + e] = v;
        const float d = w.w0[e] + (rule == Rule::Delta || a.up ? in.up_w[e] : 0.0f);
        out.w[i + e] = __expf(rule == Rule::Delta ? -kDecay * sigmoid(d) : -__expf(d));
    }
    const float norm = rule == Rule::Delta ? 1.0f / fmaxf(sqrtf(warp_sum(square)), kLeastNorm) : 0.0f;
    bonus = warp_sum(bonus);
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        if (!has || rule == Rule::Decay) continue;
        out.kk[i + e] = kappa[e] * norm;
        out.ka[i + e] = kappa[e] * norm * rate[e];
    }
    if (i == 0) out.bonus = bonus;
}

// Finishes a token: head norm, with the delta rule the bonus, and gate, from token.y to y.
template <Rule rule, typename E, int N>
__device__ void finish(const Args &a, int64_t at, int i, const float (&gn_weight)[kEachOf<N>], const float (&gn_bias)[kEachOf<N>],
                       const float (&gate)[kEachOf<N>], const Token<N> &token) {
    constexpr int kEach = kEachOf<N>;
    const bool has = i < N;
    float y[kEach], sum = 0, squares = 0;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        y[e] = has ? token.y[i + e] : 0.0f;
        sum += y[e];
    }
    const float mean = warp_sum(sum) / N;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        y[e] -= mean;
        squares += has ? y[e] * y[e] : 0.0f;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + kHeadEps);
    if (!has) return;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        y[e] = y[e] * scale * gn_weight[e] + gn_bias[e];
        if constexpr (rule == Rule::Delta)
            y[e] = (y[e] + token.bonus * token.v[i + e]) * gate[e];
        else if (a.gate)
            y[e] *= gate[e] * sigmoid(gate[e]);
    }
    store_each<kEach>(static_cast<E *>(a.y) + at, y);
}

// The sum over the four lanes that share a value row.
__device__ inline float row_sum(float v) {
    v += SHFL_XOR(v, 2);
    return v + SHFL_XOR(v, 1);
}

// How N x N values of S lie in a block's registers: each value row belongs to `lanes` lanes;
// each of them has `loads` packs of 16 bytes, `lanes` packs apart.
template <typename S, int N> struct Grid {
    static constexpr int pack = Pack<S>::size;
    static constexpr int lanes = N / pack < 4 ? N / pack : 4;
    static constexpr int loads = N / (pack * lanes);
    static constexpr int threads = N * lanes < kWarp ? kWarp : N * lanes;
};

// A thread's values of S.
template <typename S, int N> struct Part {
    using G = Grid<S, N>;
    float s[G::loads][G::pack];

    // state is the thread's value row; part its lane among those of the row.
    __device__ void load(const S *state, int part) {
#pragma unroll
        for (int m = 0; m < G::loads; m++) {
            const Pack<S> q = reinterpret_cast<const Pack<S> *>(state)[part + m * G::lanes];
#pragma unroll
            for (int e = 0; e < G::pack; e++) s[m][e] = to_float(q.v[e]);
        }
    }

    __device__ void store(S *state, int part) const;

    // Applies one token to S; returns y of this value row, on all of its lanes.
    template <Rule rule> __device__ float step(const Token<N> &t, int value, int part) {
        float removed = 0, y = 0;
        const float v = t.v[value];
        if constexpr (rule == Rule::Delta) {
#pragma unroll
            for (int m = 0; m < G::loads; m++)
#pragma unroll
                for (int e = 0; e < G::pack; e++) removed += s[m][e] * t.kk[(part + m * G::lanes) * G::pack + e];
            removed = row_sum(removed);
        }
#pragma unroll
        for (int m = 0; m < G::loads; m++)
#pragma unroll
            for (int e = 0; e < G::pack; e++) {
                const int c = (part + m * G::lanes) * G::pack + e;
                if constexpr (rule == Rule::Delta) {
                    s[m][e] = s[m][e] * t.w[c] - removed * t.ka[c] + v * t.k[c];
                    y += s[m][e] * t.r[c];
                } else {
                    y += s[m][e] * t.r[c];
                    s[m][e] = s[m][e] * t.w[c] + v * t.k[c];
                }
            }
        y = row_sum(y);
        return rule == Rule::Delta ? y : y + t.bonus * v;
    }

    // The sum over the lanes that share a value row.
    __device__ static float row_sum(float v) {
#pragma unroll
        for (int o = G::lanes / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
        return v;
    }
};

// Rounds a value of S to its stored type. fp16 states are rounded up or down at random, with
// probabilities that make the mean exact: otherwise rounding would swallow a decay near 1.
// The random bits are a hash of the value, so that the same state and inputs always give
// the same result.
template <typename S> __device__ S keep(float v) { return from_float<S>(v); }

template <> __device__ inline half keep<half>(float v) {
    const uint32_t bits = __float_as_uint(v);
    uint32_t h = bits * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    constexpr uint32_t kLost = (1u << 13) - 1;                     // bits that fp16 does not have
    const bool normal = (bits & 0x7fffffffu) >= 0x38800000u; // fp16's least normal number
    if (normal) v = __uint_as_float((bits + (h >> 19 & kLost)) & ~kLost);
    return from_float_bounded<half>(v);
}

template <typename S, int N> __device__ void Part<S, N>::store(S *state, int part) const {
#pragma unroll
    for (int m = 0; m < G::loads; m++) {
        Pack<S> q;
#pragma unroll
        for (int e = 0; e < G::pack; e++) q.v[e] = keep<S>(s[m][e]);
        reinterpret_cast<Pack<S> *>(state)[part + m * G::lanes] = q;
    }
}

} // namespace timemix
