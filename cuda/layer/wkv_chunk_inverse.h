// wkv_chunk_inverse.h: from the products over a tile's channels to its record: M, G, H, W
// and R (wkv_chunk.h has the maths). One warp has one tile of one head.
#pragma once

#include "layer/wkv_chunk_record.h"
#include "layer/wkv_chunk_tile.h"

namespace chunk {

constexpr int kSteps = kChunkHead / 16;
constexpr int kSquareRow = 20; // floats from one row of a 16x16 matrix to the next

enum Input { kR, kK, kV, kUpV, kUpW, kUpA, kFirst, kInputs };
enum Vector { kW0, kA0, kV0, kKk, kKa, kRk, kVectors };

// Shared memory of one warp. Pieces of 16 bytes are permuted within rows, so that no two
// lanes use the same bank.
struct Workspace {
    uint4 input[kInputs][kChunkTokens][8];
    float vector[kVectors][kChunkHead];
    ChunkImage a[2];                        // Ā in two bf16 terms
    float4 q[kChunkTokens][kChunkHead / 4]; // Q̄
    // Ā B̄ᵀ and (Ā K̄ᵀ)ᵀ by tokens, and after solve Mᵀ and Gᵀ by slots.
    float square[2][kChunkTokens * kSquareRow];
};

// The place of piece p of a token's input: pairs of pieces are exchanged.
__device__ inline int input_place(int token, int p) { return p ^ (token / 2 % 4 * 2); }

// The place of a group of four channels of Q̄.
__device__ inline int q_place(int slot, int group) { return group ^ (slot % 2 * 4 + slot / 2 % 2 * 2); }

// 16x16 products of one warp, two tiles each.
struct Products {
    float ab[2][4], ak[2][4], qb[2][4], qk[2][4];
};

__device__ inline float bounded(float v) { return fminf(fmaxf(v, -kHalfMax), kHalfMax); }

// ---- 16x16 matrices ---------------------------------------------------------

// Clears what is above the diagonal, and with `strict` the diagonal too. Columns of tile n of
// C are slots 8n+2q and 8n+2q+1 of the earlier token, rows the later token.
__device__ inline void mask(float (&c)[2][4], int g, int q, bool strict) {
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = 2 * g + i / 2, column = token_of(8 * n + 2 * q + i % 2);
            if (column > row || (strict && column == row)) c[n][i] = 0;
        }
}

// By forward substitution, lane c finds column c of M, and lane 16+c that of G:
// X_t = rhs_t + Σ_{s<t} (Ā B̄ᵀ)_ts X_s with the unit matrix or tril₋(Ā K̄ᵀ) on the right.
__device__ inline void solve(Workspace &ws, int lane) {
    const int column = lane % 16, which = lane / 16;
    float x[kChunkTokens];
#pragma unroll
    for (int t = 0; t < kChunkTokens; t += 4) {
        const float4 right = *reinterpret_cast<const float4 *>(&ws.square[1][column * kSquareRow + t]);
        const float r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
        for (int i = 0; i < 4; i++) x[t + i] = which ? r[i] : (t + i == column ? 1.0f : 0.0f);
    }
#pragma unroll
    for (int t = 1; t < kChunkTokens; t++) {
        float sum[2] = {x[t], 0};
#pragma unroll
        for (int s = 0; s < t; s += 4) {
            const float4 row = *reinterpret_cast<const float4 *>(&ws.square[0][t * kSquareRow + s]);
            const float r[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (s + i < t) sum[i % 2] += r[i] * x[s + i];
        }
        x[t] = sum[0] + sum[1];
    }
    warp_barrier();
    float *to = &ws.square[which][slot_of(column) * kSquareRow];
#pragma unroll
    for (int s = 0; s < kChunkTokens; s += 4)
        *reinterpret_cast<float4 *>(to + s) = make_float4(x[token_of(s)], x[token_of(s + 1)], x[token_of(s + 2)], x[token_of(s + 3)]);
}

// A 16x16 matrix whose transpose is in shared memory, as two tiles of C.
__device__ inline void load_square(float (&c)[2][4], const float *transposed, int g, int q) {
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) c[n][i] = transposed[(8 * n + 2 * q + i % 2) * kSquareRow + g + i / 2 * 8];
}

// C += A X with X 16x16, its transpose in shared memory.
__device__ inline void multiply_square(float (&c)[2][4], const Operand &a, const float *transposed, int g, int q) {
#pragma unroll
    for (int n = 0; n < 2; n++) {
        const float *column = transposed + (8 * n + g) * kSquareRow + 2 * q;
        const float2 upper = *reinterpret_cast<const float2 *>(column), lower = *reinterpret_cast<const float2 *>(column + 8);
        uint32_t hi[2], lo[2];
        split<bf16>(hi[0], lo[0], upper.x, upper.y);
        split<bf16>(hi[1], lo[1], lower.x, lower.y);
        multiply<bf16>(c[n], a, hi[0], hi[1], lo[0], lo[1]);
    }
}

// ---- the record -------------------------------------------------------------

// Two neighbouring tiles of C as operands B of the transpose, fp16.
template <int kTerms>
__device__ inline void store_operand(uint4 (&hi)[kWarp], uint4 (*lo)[kWarp], int lane, const float (&left)[4], const float (&right)[4]) {
    uint4 first, second;
    split<half>(first.x, second.x, bounded(left[0]), bounded(left[1]));
    split<half>(first.y, second.y, bounded(right[0]), bounded(right[1]));
    split<half>(first.z, second.z, bounded(left[2]), bounded(left[3]));
    split<half>(first.w, second.w, bounded(right[2]), bounded(right[3]));
    hi[lane] = first;
    if (kTerms == 2) (*lo)[lane] = second;
}

// W = M Ā, R = Q̄ + (X M) Ā, 16 channels at a time.
__device__ inline void store_wr(const Operand &inverse, const Operand &x_inverse, const Workspace &ws, ChunkRecord &out, int lane) {
    const int g = lane / 4, q = lane % 4;
#pragma unroll
    for (int step = 0; step < kSteps; step++) {
        // matrices: slots 0-7 and 8-15 of the first 8 channels, then of the others
        const int slot = lane % 8 + lane / 8 % 2 * 8, place = ChunkImage::place(slot, 2 * step + lane / 16);
        uint32_t hi[4], lo[4];
        load_matrices_transposed(hi, &ws.a[0].piece[slot][place]);
        load_matrices_transposed(lo, &ws.a[1].piece[slot][place]);
        float w[2][4] = {}, r[2][4];
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float4 *row = ws.q[g + 8 * i];
                const float2 pair = reinterpret_cast<const float2 *>(row + q_place(g + 8 * i, 4 * step + 2 * n + q / 2))[q % 2];
                r[n][2 * i] = pair.x;
                r[n][2 * i + 1] = pair.y;
            }
            multiply<bf16>(w[n], inverse, hi[2 * n], hi[2 * n + 1], lo[2 * n], lo[2 * n + 1]);
            multiply<bf16>(r[n], x_inverse, hi[2 * n], hi[2 * n + 1], lo[2 * n], lo[2 * n + 1]);
        }
        store_operand<kTermsW>(out.w[0][step], &out.w[kTermsW - 1][step], lane, w[0], w[1]);
        store_operand<kTermsR>(out.r[0][step], &out.r[kTermsR - 1][step], lane, r[0], r[1]);
    }
}

// Computes and stores the record from the products over channels.
__device__ inline void finish_record(Products &c, Workspace &ws, ChunkRecord &out, int lane) {
    const int g = lane / 4, q = lane % 4;
    mask(c.ab, g, q, true);
    mask(c.ak, g, q, true);
    mask(c.qb, g, q, false);
    mask(c.qk, g, q, false);
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = 2 * g + i / 2, column = token_of(8 * n + 2 * q + i % 2);
            ws.square[0][row * kSquareRow + column] = c.ab[n][i];
            ws.square[1][column * kSquareRow + row] = c.ak[n][i];
        }
    warp_barrier();
    solve(ws, lane);
    warp_barrier();

    Operand x, inverse, x_inverse;
    float square[2][4], product[2][4] = {};
    split<bf16>(x, c.qb[0], c.qb[1]);
    multiply_square(c.qk, x, ws.square[1], g, q); // H
    store_operand<kTermsH>(out.h[0], &out.h[kTermsH - 1], lane, c.qk[0], c.qk[1]);
    load_square(square, ws.square[1], g, q); // G
    store_operand<kTermsG>(out.g[0], &out.g[kTermsG - 1], lane, square[0], square[1]);
    multiply_square(product, x, ws.square[0], g, q);
    split<bf16>(x_inverse, product[0], product[1]);
    load_square(square, ws.square[0], g, q);
    split<bf16>(inverse, square[0], square[1]);
    store_wr(inverse, x_inverse, ws, out, lane);
}

} // namespace chunk
