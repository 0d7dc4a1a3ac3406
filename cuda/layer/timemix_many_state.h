// timemix_many_state.h: a part of a head's state in the registers of a warp, for
// timemix_many.cu. fp16 and fp32 states have different layouts and products.
#pragma once

#include "device/mma.h"
#include "layer/timemix_head.h"

namespace timemix::many {

constexpr int N = 64;
constexpr int kPieces = 16; // of 16 bytes, a lane's of a part

// How a part lies in a warp: a value row belongs to `lanes` lanes, each with two packs of
// it; the rows of a lane are `apart` rows apart.
template <typename S> struct Layout {
    static constexpr int pack = Pack<S>::size, packs = N / pack, lanes = packs / 2, apart = kWarp / lanes;
    static constexpr int rows = kPieces / 2, parts = N / (rows * apart);
    static constexpr bool y_from_old = std::is_same_v<S, half>; // products, not update, gives y

    // The place of pack p of a row in shared memory. Packs that lanes read together are in
    // different banks.
    __device__ static int place(int row, int p) { return packs == 8 ? p ^ (row & 1) << 2 : p; }
};

// The token's vectors, and values of them that only this kernel needs.
struct Vectors {
    Token<N> token;
    alignas(16) half split[4][N]; // κ̂ and w ⊙ r, each as the sum of two; decay alone: r, and zeros
    float ka_r, k_r;              // (κ̂ ⊙ a)·r, k̃·r
};

__device__ inline void split_two(half (&to)[2], half (&rest)[2], float a, float b) {
    const float v[2] = {a, b};
#pragma unroll
    for (int e = 0; e < 2; e++) {
        to[e] = from_float_bounded<half>(v[e]);
        rest[e] = from_float_bounded<half>(v[e] - to_float(to[e]));
    }
}

// For fp16 states: computes from the token's vectors what the tensor cores need.
template <Rule rule> __device__ inline void split(Vectors &t, int i) {
    const Token<N> &a = t.token;
    const float r[2] = {a.r[i], a.r[i + 1]};
    half v[4][2] = {};
    if constexpr (rule == Rule::Delta) {
        split_two(v[0], v[1], a.kk[i], a.kk[i + 1]);
        split_two(v[2], v[3], a.w[i] * r[0], a.w[i + 1] * r[1]);
    } else {
        split_two(v[0], v[1], r[0], r[1]);
    }
#pragma unroll
    for (int n = 0; n < 4; n++) *reinterpret_cast<half2 *>(&t.split[n][i]) = half2{v[n][0], v[n][1]};
    if constexpr (rule == Rule::Decay) return;
    const float ka_r = warp_sum(a.ka[i] * r[0] + a.ka[i + 1] * r[1]), k_r = warp_sum(a.k[i] * r[0] + a.k[i + 1] * r[1]);
    if (i == 0) t.ka_r = ka_r, t.k_r = k_r;
}

// Rounds two values for storing: as keep in timemix_head.h, but values below fp16's least
// normal number are always rounded towards zero.
__device__ inline uint32_t keep_two(float a, float b) {
    const uint32_t first = __float_as_uint(a), second = __float_as_uint(b);
    const uint32_t h = (first ^ (second << 7 | second >> 25)) * 0x9E3779B1u;
    const uint32_t other = (h ^ h >> 15) * 0x85EBCA77u;
    return halves_toward_zero(__uint_as_float(first + (h >> 19)), __uint_as_float(second + (other >> 19)));
}

// A lane's values of a part.
template <typename S> struct State;

template <> struct State<half> {
    using L = Layout<half>;
    Pack<half> s[L::rows][2];

    __device__ uint32_t pair(int row, int m, int n) const { return reinterpret_cast<const uint32_t *>(&s[row][m])[n]; }

    // S κ̂ and, of the new state, S r, for this lane's rows; with decay alone y. Keys within a
    // product have the order in which lanes hold them.
    template <Rule rule> __device__ void products(const Vectors &t, int lane, const float (&v)[L::rows], float (&removed)[L::rows], float (&y)[L::rows]) const {
        const int first = lane & ~(L::lanes - 1);
        uint4 b[2];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            b[m] = {0, 0, 0, 0};
            if (lane / L::lanes < 4) b[m] = *reinterpret_cast<const uint4 *>(&t.split[lane / L::lanes][(lane % L::lanes + m * L::lanes) * L::pack]);
        }
#pragma unroll
        for (int i = 0; i < L::rows; i += 2) {
            float c[4] = {};
#pragma unroll
            for (int m = 0; m < 2; m++) {
                multiply_tile<half>(c, pair(i, m, 0), pair(i + 1, m, 0), pair(i, m, 1), pair(i + 1, m, 1), b[m].x, b[m].y);
                multiply_tile<half>(c, pair(i, m, 2), pair(i + 1, m, 2), pair(i, m, 3), pair(i + 1, m, 3), b[m].z, b[m].w);
            }
#pragma unroll
            for (int e = 0; e < 2; e++) { // the first lane of a row has S κ̂, the second S (w ⊙ r)
                const float sum = c[2 * e] + c[2 * e + 1];
                removed[i + e] = SHFL(sum, first);
                if constexpr (rule == Rule::Decay)
                    y[i + e] = removed[i + e] + v[i + e] * t.token.bonus;
                else
                    y[i + e] = SHFL(sum, first + 1) - removed[i + e] * t.ka_r + v[i + e] * t.k_r;
            }
        }
    }

    template <Rule rule>
    __device__ void update(const Token<N> &t, int part, const float (&v)[L::rows], const float (&removed)[L::rows], float (&)[L::rows]) {
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int h = 0; h < L::pack; h += 4) {
                const int first = (part + m * L::lanes) * L::pack + h;
                float w[4], ka[4], k[4];
                load_each<4>(w, t.w + first);
                if constexpr (rule == Rule::Delta) load_each<4>(ka, t.ka + first);
                load_each<4>(k, t.k + first);
#pragma unroll
                for (int i = 0; i < L::rows; i++)
#pragma unroll
                    for (int e = 0; e < 4; e += 2) {
                        float next[2];
#pragma unroll
                        for (int o = 0; o < 2; o++) {
                            next[o] = to_float(s[i][m].v[h + e + o]) * w[e + o];
                            if constexpr (rule == Rule::Delta) next[o] -= removed[i] * ka[e + o];
                            next[o] += v[i] * k[e + o];
                        }
                        reinterpret_cast<uint32_t *>(&s[i][m])[(h + e) / 2] = keep_two(next[0], next[1]);
                    }
            }
        }
    }

    // Stores from this lane's first pack on. Neighbouring rows exchange halves, so that the
    // warp stores whole rows at once, in half as many transactions.
    __device__ void store(Pack<half> *to, int lane) const {
        const bool odd = lane / L::lanes & 1;
        Pack<half> *even_row = to + (odd ? L::lanes - L::packs : 0), *odd_row = to + (odd ? L::lanes : L::packs);
#pragma unroll
        for (int i = 0; i < L::rows; i++) {
            Pack<half> low, high;
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint32_t first = pair(i, 0, n), second = pair(i, 1, n);
                const uint32_t mine = odd ? second : first, other = SHFL_XOR(odd ? first : second, L::lanes);
                reinterpret_cast<uint32_t *>(&low)[n] = odd ? other : mine;
                reinterpret_cast<uint32_t *>(&high)[n] = odd ? mine : other;
            }
            store_once(even_row + i * L::apart * L::packs, low);
            store_once(odd_row + i * L::apart * L::packs, high);
        }
    }
};

template <> struct State<float> {
    using L = Layout<float>;
    Pack<float> s[L::rows][2];

    __device__ static float row_sum(float v) {
#pragma unroll
        for (int o = L::lanes / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
        return v;
    }

    // With decay alone removed is S r.
    template <Rule rule>
    __device__ void products(const Vectors &t, int lane, const float (&)[L::rows], float (&removed)[L::rows], float (&)[L::rows]) const {
#pragma unroll
        for (int i = 0; i < L::rows; i++) removed[i] = 0;
#pragma unroll
        for (int m = 0; m < 2; m++) {
            float kk[L::pack];
            load_each<L::pack>(kk, (rule == Rule::Delta ? t.token.kk : t.token.r) + (lane % L::lanes + m * L::lanes) * L::pack);
#pragma unroll
            for (int i = 0; i < L::rows; i++)
#pragma unroll
                for (int e = 0; e < L::pack; e++) removed[i] += s[i][m].v[e] * kk[e];
        }
#pragma unroll
        for (int i = 0; i < L::rows; i++) removed[i] = row_sum(removed[i]);
    }

    template <Rule rule>
    __device__ void update(const Token<N> &t, int part, const float (&v)[L::rows], const float (&removed)[L::rows], float (&y)[L::rows]) {
#pragma unroll
        for (int i = 0; i < L::rows; i++) y[i] = 0;
#pragma unroll
        for (int m = 0; m < 2; m++) {
            const int first = (part + m * L::lanes) * L::pack;
            float w[L::pack], ka[L::pack], k[L::pack], r[L::pack];
            load_each<L::pack>(w, t.w + first);
            load_each<L::pack>(k, t.k + first);
            if constexpr (rule == Rule::Delta) {
                load_each<L::pack>(ka, t.ka + first);
                load_each<L::pack>(r, t.r + first);
            }
#pragma unroll
            for (int i = 0; i < L::rows; i++)
#pragma unroll
                for (int e = 0; e < L::pack; e++) {
                    float &next = s[i][m].v[e];
                    if constexpr (rule == Rule::Delta) {
                        next = next * w[e] - removed[i] * ka[e] + v[i] * k[e];
                        y[i] += next * r[e];
                    } else {
                        next = next * w[e] + v[i] * k[e];
                    }
                }
        }
#pragma unroll
        for (int i = 0; i < L::rows; i++) y[i] = rule == Rule::Delta ? row_sum(y[i]) : removed[i] + v[i] * t.bonus;
    }

    __device__ void store(Pack<float> *to, int) const {
#pragma unroll
        for (int i = 0; i < L::rows; i++)
#pragma unroll
            for (int m = 0; m < 2; m++) store_once(to + i * L::apart * L::packs + m * L::lanes, s[i][m]);
    }
};

} // namespace timemix::many
