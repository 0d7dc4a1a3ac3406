// wkv_chunk_step.h: 16 value rows of S in one warp, and the step over one tile
// (wkv_chunk.h has the maths).
//
// S lies in registers as C of a product. Neighbouring tiles of it are operands A of
// Uᵀ = Vᵀ Gᵀ + S Wᵀ and of Yᵀ = Vᵀ Hᵀ + S Rᵀ; Uᵀ in turn is one of S + Uᵀ (B̄ diag F).
#pragma once

#include "layer/wkv_chunk_record.h"
#include "layer/wkv_chunk_tile.h"

namespace chunk {

// Rounds a value of S to its stored type, as keep in timemix_head.h.
template <typename S> __device__ inline S keep(float v) { return from_float<S>(v); }

template <> __device__ inline half keep<half>(float v) {
    uint32_t bits = __float_as_uint(v), h = bits * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    constexpr uint32_t kLost = (1u << 13) - 1; // bits that fp16 does not have
    constexpr uint32_t kNormal = 0x38800000u;  // fp16's least normal number
    if ((bits & 0x7fffffffu) >= kNormal) v = __uint_as_float((bits + (h >> 19 & kLost)) & ~kLost);
    return from_float_bounded<half>(v);
}

// Where a thread's values of S are in a matrix [value][key] of a head, for a thread of the
// first four warps: rows 16 warp + g and + 8, keys 8u + 2q and + 1 of tile u.
struct Place {
    const int warp, lane, g, q;

    __device__ Place() : warp(threadIdx.x / kWarp), lane(threadIdx.x % kWarp), g(lane / 4), q(lane % 4) {}

    __device__ int element(int u, int i) const { return (16 * warp + g + i / 2 * 8) * kChunkHead + 8 * u + 2 * q + i % 2; }
};

// S times kStateScale, or a matrix of the same form.
struct State {
    float s[8][4];

    template <typename S> __device__ void load(const S *head, float scale) {
        const Place p;
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[u][i] = to_float(head[p.element(u, i)]) * scale;
    }

    template <typename S> __device__ void store(S *head, float scale) const {
        const Place p;
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) head[p.element(u, i)] = keep<S>(s[u][i] * scale);
    }

    __device__ void set_identity() {
        const Place p;
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[u][i] = p.element(u, i) % (kChunkHead + 1) == 0 ? 1.0f : 0.0f;
    }
};

// Two tiles of C, each as two sums, so that fewer products wait for each other.
struct Sums {
    float c[2][2][4] = {};

    // Adds A B for an operand that prepare_chunks stored, of kTerms terms; A has kTermsA.
    template <int kTermsA, int kTerms> __device__ void add(const Operand &a, const uint4 &hi, const uint4 &lo) {
        multiply<half>(c[0][0], a.hi, hi.x, hi.y);
        multiply<half>(c[0][1], a.hi, hi.z, hi.w);
        if (kTermsA == 2) {
            multiply<half>(c[1][0], a.lo, hi.x, hi.y);
            multiply<half>(c[1][1], a.lo, hi.z, hi.w);
        }
        if (kTerms == 2) {
            multiply<half>(c[1][0], a.hi, lo.x, lo.y);
            multiply<half>(c[1][1], a.hi, lo.z, lo.w);
        }
    }

    __device__ void total(float (&t)[2][4]) const {
#pragma unroll
        for (int n = 0; n < 2; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) t[n][i] = c[0][n][i] + c[1][n][i];
    }
};

// S += Aᵀ B for keys 32 part .. +31, B an image in two terms; A has kTermsA.
// Products of the same tile of S are far apart in the code, so that none waits for another.
template <int kTermsA>
__device__ inline void add_image(State &state, const Operand &a, const ChunkImage (&image)[2], int part, int lane) {
    const int slot = lane % 8 + lane / 8 % 2 * 8;
    uint32_t b[2][2][4]; // by term and 16 keys
#pragma unroll
    for (int term = 0; term < 2; term++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            load_matrices_transposed(b[term][i], &image[term].piece[slot][ChunkImage::place(slot, 4 * part + 2 * i + lane / 16)]);
#pragma unroll
    for (int term = 0; term < 3; term++) {
        if (term == 1 && kTermsA == 1) continue;
#pragma unroll
        for (int u = 0; u < 4; u++) {
            const uint32_t(&pair)[4] = b[term == 2][u / 2];
            multiply<half>(state.s[4 * part + u], term == 1 ? a.lo : a.hi, pair[u % 2 * 2], pair[u % 2 * 2 + 1]);
        }
    }
}

// Values of Y, [slot][value], at kStateScale.
using Outputs = float[kChunkTokens][kChunkHead + 4];

// Applies one tile to S. With kOutputs, writes Y to shared memory; without values, V is zero.
// The order keeps the tensor cores busy: what the next tile waits for comes first.
template <bool kOutputs, typename Record>
__device__ inline void step_tile(State &state, const Record &r, Outputs &outputs, bool values) {
    constexpr bool kDelta = kIsDelta<Record>;
    const Place p;
    const int lane = p.lane;
    uint4 w[kTermsW][4];
    if constexpr (kDelta) {
#pragma unroll
        for (int term = 0; term < kTermsW; term++)
#pragma unroll
            for (int step = 0; step < 4; step++) w[term][step] = r.w[term][step][lane];
    }
    // Vᵀ: value rows 16 warp .. +15 of it, by slots.
    Operand v;
    const int slot = lane % 8 + lane / 16 * 8, place = ChunkImage::place(slot, 2 * p.warp + lane / 8 % 2);
    load_matrices_transposed(v.hi, &r.v[0].piece[slot][place]);
    if (kTermsV == 2) load_matrices_transposed(v.lo, &r.v[kTermsV - 1].piece[slot][place]);
    if (!kOutputs && !values) v = Operand{};

    Operand old[4]; // S before the tile
    Sums u, y;
#pragma unroll
    for (int step = 0; step < 4; step++) split<half>(old[step], state.s[2 * step], state.s[2 * step + 1]);
    if constexpr (kDelta) {
#pragma unroll
        for (int step = 0; step < 4; step++) u.add<2, kTermsW>(old[step], w[0][step], w[kTermsW - 1][step]);
        u.add<kTermsV, kTermsG>(v, r.g[0][lane], r.g[kTermsG - 1][lane]);
    }
#pragma unroll
    for (int part = 0; part < 2; part++) {
#pragma unroll
        for (int i = 4 * part; i < 4 * part + 4; i++) {
            const float2 f = *reinterpret_cast<const float2 *>(&r.f[8 * i + 2 * p.q]);
            state.s[i][0] *= f.x;
            state.s[i][1] *= f.y;
            state.s[i][2] *= f.x;
            state.s[i][3] *= f.y;
        }
        add_image<kTermsV>(state, v, r.k, part, lane);
    }
    float sum[2][4];
    if constexpr (kDelta) {
        Operand ua;
        u.total(sum);
        split<half>(ua, sum[0], sum[1]);
#pragma unroll
        for (int part = 0; part < 2; part++) add_image<2>(state, ua, r.b, part, lane);
    }
    if (!kOutputs) return;
    y.add<kTermsV, kTermsH>(v, r.h[0][lane], r.h[kTermsH - 1][lane]);
#pragma unroll
    for (int step = 0; step < 4; step++) y.add<2, kTermsR>(old[step], r.r[0][step][lane], r.r[kTermsR - 1][step][lane]);
    y.total(sum);
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) outputs[8 * n + 2 * p.q + i % 2][16 * p.warp + p.g + i / 2 * 8] = sum[n][i];
}

} // namespace chunk
