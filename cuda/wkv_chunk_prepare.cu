// wkv_chunk_prepare.cu: gates, decays and the products within a tile, for all
// tiles of all heads at once (wkv_chunk.h has the maths).
//
// One warp makes one record. Lane 4g+q has tokens 2g and 2g+1 (slots g and g+8)
// of channels 32h+8q .. +7 for h = 0, 1: it loads them by 16 bytes, and they lie
// in its registers as operands A and B of the products over channels need them
// (the order of channels in such a sum is free). Sums and products within a tile
// are good to 16 bits (two bf16 terms), the inverse is fp32.
#include "wkv_chunk_record.h"
#include "wkv_chunk_tile.h"

namespace {

constexpr int kWarps = 4;
constexpr float kDecay = 0.60653065971263342f; // e^(-1/2)
constexpr float kLeastNorm = 1e-12f;
constexpr int kSquareRow = 20; // floats from one row of a 16x16 matrix to the next

// Shared memory of one warp.
struct Workspace {
    // Ā in two bf16 terms, rows padded against bank conflicts.
    alignas(16) uint4 a[2][kChunkTokens][9];
    alignas(16) float q[kChunkTokens][72];           // Q̄
    alignas(16) float ab[kChunkTokens * kSquareRow]; // Ā B̄ᵀ, by tokens
    alignas(16) float ak[kChunkTokens * kSquareRow]; // (Ā K̄ᵀ)ᵀ, by tokens
    alignas(16) float mg[2][kChunkTokens * kSquareRow]; // Mᵀ and Gᵀ, by slots
};

// 16x16 products of one warp, two tiles each.
struct Products {
    float ab[2][4], ak[2][4], qb[2][4], qk[2][4];
};

__device__ inline float logistic(float v) { return __fdividef(1.0f, 1.0f + __expf(-v)); }

__device__ inline float bounded(float v) { return fminf(fmaxf(v, -kHalfMax), kHalfMax); }

template <typename E> __device__ inline void load_or_zero(float (&f)[8], const E *p, bool has) {
    if (has) {
        load8(f, p);
    } else {
#pragma unroll
        for (int e = 0; e < 8; e++) f[e] = 0;
    }
}

// Where the lane's tokens and channels are.
struct Place {
    int g, q, head, count;
    bool has[2];
    int64_t at[2]; // element of channel 8q of the head

    __device__ Place(const ChunkMix &m, ChunkTile tile, int lane, int head_) {
        g = lane / 4;
        q = lane % 4;
        head = head_;
        count = tile.count;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            has[i] = 2 * g + i < count;
            at[i] = ((int64_t)(tile.first + 2 * g + i) * m.heads + head) * kChunkHead + 8 * q;
        }
    }

    // The lane's first channel of half h of the head.
    __device__ int channel(int h) const { return head * kChunkHead + 32 * h + 8 * q; }
};

// A lane's pairs [token][pair of channels] of one array for 8 channels, in two terms.
struct Pairs {
    uint32_t hi[2][4], lo[2][4];

    template <typename T> __device__ void set(int token, int pair, float x, float y) {
        split<T>(hi[token][pair], lo[token][pair], x, y);
    }
    __device__ uint4 row_hi(int token) const { return make_uint4(hi[token][0], hi[token][1], hi[token][2], hi[token][3]); }
    __device__ uint4 row_lo(int token) const { return make_uint4(lo[token][0], lo[token][1], lo[token][2], lo[token][3]); }
    __device__ void operand(Operand &a, int step) const {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a.hi[i] = hi[i % 2][2 * step + i / 2];
            a.lo[i] = lo[i % 2][2 * step + i / 2];
        }
    }
};

// C += X Yᵀ over the 16 channels of step.
__device__ inline void accumulate(float (&c)[2][4], const Operand &x, const Pairs &y, int step) {
#pragma unroll
    for (int n = 0; n < 2; n++)
        multiply<bf16>(c[n], x, y.hi[n][2 * step], y.hi[n][2 * step + 1], y.lo[n][2 * step], y.lo[n][2 * step + 1]);
}

// The inclusive product over the lanes with the same q, in order of g.
__device__ inline float running_product(float v, int g) {
#pragma unroll
    for (int by = 1; by < 8; by *= 2) {
        const float before = SHFL_UP(v, 4 * by);
        if (g >= by) v *= before;
    }
    return v;
}

__device__ inline float sum_over_channels(float v) {
    v += SHFL_XOR(v, 1);
    return v + SHFL_XOR(v, 2);
}

// Half the head's channels: decays, keys, receptance; their share of the products.
// k has the raw keys, inverse 1/‖κ‖.
template <typename E>
__device__ void take_half(const ChunkMix &m, const Place &p, int h, const float (&k)[2][8], const float (&inverse)[2], float (&bonus)[2],
                          Products &c, Workspace &ws, ChunkRecord &out) {
    const E *receptance = static_cast<const E *>(m.rkv), *up_w = static_cast<const E *>(m.up) + m.stride, *up_a = up_w + m.stride;
    float r[2][8], w[2][8], rate[2][8], vector[8];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        load_or_zero(w[i], up_w + p.at[i] + 32 * h, p.has[i]);
        load_or_zero(rate[i], up_a + p.at[i] + 32 * h, p.has[i]);
        load_or_zero(r[i], receptance + p.at[i] + 32 * h, p.has[i]);
    }
    load8(vector, m.w0 + p.channel(h));
#pragma unroll
    for (int e = 0; e < 8; e++)
#pragma unroll
        for (int i = 0; i < 2; i++) w[i][e] = p.has[i] ? __expf(-kDecay * logistic(vector[e] + w[i][e])) : 1.0f;
    load8(vector, m.a0 + p.channel(h));
#pragma unroll
    for (int e = 0; e < 8; e++)
#pragma unroll
        for (int i = 0; i < 2; i++) rate[i][e] = logistic(vector[e] + rate[i][e]);

    float k_k[8], k_a[8], r_k[8];
    load8(k_k, m.k_k + p.channel(h));
    load8(k_a, m.k_a + p.channel(h));
    load8(r_k, m.r_k + p.channel(h));
    Pairs a, b, kept, q;  // Ā, B̄, K̄, Q̄
    Pairs end_k, end_b;   // K̄ diag F, B̄ diag F, fp16
#pragma unroll
    for (int pair = 0; pair < 4; pair++) {
        float x[6][2][2]; // the six, by token and channel
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int e = 2 * pair + j;
            const float through = running_product(w[0][e] * w[1][e], p.g); // P of the second token
            const float last = SHFL(through, 28 + p.q);                   // F
            float before = SHFL_UP(through, 4);
            if (p.g == 0) before = 1.0f;
            if (p.g == 7) out.f[32 * h + 8 * p.q + e] = last;
            const float decay[2] = {before * w[0][e], through}, previous[2] = {before, decay[0]};
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float unit = k[i][e] * k_k[e] * inverse[i], grown = __fdividef(1.0f, decay[i]);
                const float changed = k[i][e] * (1.0f + (rate[i][e] - 1.0f) * k_a[e]);
                bonus[i] += r[i][e] * changed * r_k[e];
                x[0][i][j] = -unit * previous[i];
                x[1][i][j] = unit * rate[i][e] * grown;
                x[2][i][j] = changed * grown;
                x[3][i][j] = r[i][e] * decay[i];
                x[4][i][j] = bounded(x[2][i][j] * last);
                x[5][i][j] = x[1][i][j] * last;
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            a.set<bf16>(i, pair, x[0][i][0], x[0][i][1]);
            b.set<bf16>(i, pair, x[1][i][0], x[1][i][1]);
            kept.set<bf16>(i, pair, x[2][i][0], x[2][i][1]);
            q.set<bf16>(i, pair, x[3][i][0], x[3][i][1]);
            end_k.set<half>(i, pair, x[4][i][0], x[4][i][1]);
            end_b.set<half>(i, pair, x[5][i][0], x[5][i][1]);
            *reinterpret_cast<float2 *>(&ws.q[p.g + 8 * i][32 * h + 8 * p.q + 2 * pair]) = make_float2(x[3][i][0], x[3][i][1]);
        }
    }
    const int piece = 4 * h + p.q;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int slot = p.g + 8 * i, place = ChunkImage::place(slot, piece);
        ws.a[0][slot][piece] = a.row_hi(i);
        ws.a[1][slot][piece] = a.row_lo(i);
        out.k[0].piece[slot][place] = end_k.row_hi(i);
        out.k[1].piece[slot][place] = end_k.row_lo(i);
        out.b[0].piece[slot][place] = end_b.row_hi(i);
        out.b[1].piece[slot][place] = end_b.row_lo(i);
    }
#pragma unroll
    for (int step = 0; step < 2; step++) {
        Operand left;
        a.operand(left, step);
        accumulate(c.ab, left, b, step);
        accumulate(c.ak, left, kept, step);
        q.operand(left, step);
        accumulate(c.qb, left, b, step);
        accumulate(c.qk, left, kept, step);
    }
}

// v of the tile: the residual of layer 0's, and how it is kept.
template <typename E> __device__ void take_values(const ChunkMix &m, const Place &p, ChunkRecord &out) {
    const E *value = static_cast<const E *>(m.rkv) + 2 * m.stride, *up_v = static_cast<const E *>(m.up);
    E *first = static_cast<E *>(m.v_first);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float v[2][8], mix[2][8], v0[8];
#pragma unroll
        for (int i = 0; i < 2; i++) load_or_zero(v[i], value + p.at[i] + 32 * h, p.has[i]);
        if (m.v0) {
            float old[2][8];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load_or_zero(mix[i], up_v + p.at[i] + 32 * h, p.has[i]);
                load_or_zero(old[i], first + p.at[i] + 32 * h, p.has[i]);
            }
            load8(v0, m.v0 + p.channel(h));
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int e = 0; e < 8; e++) v[i][e] += (old[i][e] - v[i][e]) * logistic(v0[e] + mix[i][e]);
        } else {
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (p.has[i]) store8(first + p.at[i] + 32 * h, v[i]);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t pair[4];
#pragma unroll
            for (int e = 0; e < 4; e++) pair[e] = pack<half>(bounded(v[i][2 * e] * kStateScale), bounded(v[i][2 * e + 1] * kStateScale));
            const int slot = p.g + 8 * i;
            out.v.piece[slot][ChunkImage::place(slot, 4 * h + p.q)] = make_uint4(pair[0], pair[1], pair[2], pair[3]);
        }
    }
}

// Sets what is above the diagonal (strictly below it: and on it) to zero. Tile n
// of C has slots 8n+2q and 8n+2q+1 of the earlier token, rows of the later one.
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
// X_t = rhs_t + Σ_{s<t} ab_ts X_s with the unit matrix or tril₋(Ā K̄ᵀ) on the right.
__device__ void solve(Workspace &ws, int lane) {
    const int column = lane % 16, which = lane / 16;
    float x[kChunkTokens];
#pragma unroll
    for (int t = 0; t < kChunkTokens; t += 4) {
        const float4 right = *reinterpret_cast<const float4 *>(&ws.ak[column * kSquareRow + t]);
        const float r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
        for (int i = 0; i < 4; i++) x[t + i] = which ? r[i] : (t + i == column ? 1.0f : 0.0f);
    }
#pragma unroll
    for (int t = 1; t < kChunkTokens; t++) {
        float sum[2] = {x[t], 0};
#pragma unroll
        for (int s = 0; s < t; s += 4) {
            const float4 row = *reinterpret_cast<const float4 *>(&ws.ab[t * kSquareRow + s]);
            const float r[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (s + i < t) sum[i % 2] += r[i] * x[s + i];
        }
        x[t] = sum[0] + sum[1];
    }
    float *to = &ws.mg[which][slot_of(column) * kSquareRow];
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

// Two neighbouring tiles of C as operands B of the transpose, fp16.
template <int kTerms> __device__ inline void store_operand(uint4 (&hi)[kWarp], uint4 (*lo)[kWarp], int lane, const float (&left)[4], const float (&right)[4]) {
    uint4 first, second;
    split<half>(first.x, second.x, bounded(left[0]), bounded(left[1]));
    split<half>(first.y, second.y, bounded(right[0]), bounded(right[1]));
    split<half>(first.z, second.z, bounded(left[2]), bounded(left[3]));
    split<half>(first.w, second.w, bounded(right[2]), bounded(right[3]));
    hi[lane] = first;
    if (kTerms == 2) (*lo)[lane] = second;
}

// W = M Ā, R = Q̄ + X Ā, 16 channels at a time.
__device__ void store_wr(const Operand &inverse, const Operand &x, Workspace &ws, ChunkRecord &out, int lane) {
    const int g = lane / 4, q = lane % 4;
#pragma unroll
    for (int step = 0; step < 4; step++) {
        // matrices: slots 0-7 and 8-15 of the first 8 channels, then of the others
        const int slot = lane % 8 + lane / 8 % 2 * 8, piece = 2 * step + lane / 16;
        uint32_t hi[4], lo[4];
        load_matrices_transposed(hi, &ws.a[0][slot][piece]);
        load_matrices_transposed(lo, &ws.a[1][slot][piece]);
        float w[2][4] = {}, r[2][4];
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float2 pair = *reinterpret_cast<const float2 *>(&ws.q[g + 8 * i][16 * step + 8 * n + 2 * q]);
                r[n][2 * i] = pair.x;
                r[n][2 * i + 1] = pair.y;
            }
            multiply<bf16>(w[n], inverse, hi[2 * n], hi[2 * n + 1], lo[2 * n], lo[2 * n + 1]);
            multiply<bf16>(r[n], x, hi[2 * n], hi[2 * n + 1], lo[2 * n], lo[2 * n + 1]);
        }
        store_operand<kTermsW>(out.w[0][step], &out.w[kTermsW - 1][step], lane, w[0], w[1]);
        store_operand<kTermsR>(out.r[0][step], &out.r[kTermsR - 1][step], lane, r[0], r[1]);
    }
}

// grid (heads, tiles / kWarps)
template <typename E> __global__ void __launch_bounds__(kWarps *kWarp) prepare(ChunkMix m) {
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, tile = blockIdx.y * kWarps + warp;
    if (tile >= m.tile_count) return;
    Workspace &ws = reinterpret_cast<Workspace *>(shared)[warp];
    ChunkRecord &out = static_cast<ChunkRecord *>(m.records)[(int64_t)tile * m.heads + blockIdx.x];
    const Place p(m, m.tiles[tile], lane, blockIdx.x);

    float k[2][2][8], inverse[2] = {0, 0}, bonus[2] = {0, 0}; // k by half and token
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float k_k[8];
        load8(k_k, m.k_k + p.channel(h));
#pragma unroll
        for (int i = 0; i < 2; i++) {
            load_or_zero(k[h][i], static_cast<const E *>(m.rkv) + m.stride + p.at[i] + 32 * h, p.has[i]);
#pragma unroll
            for (int e = 0; e < 8; e++) inverse[i] += k[h][i][e] * k_k[e] * (k[h][i][e] * k_k[e]);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) inverse[i] = 1.0f / fmaxf(sqrtf(sum_over_channels(inverse[i])), kLeastNorm);

    Products c = {};
#pragma unroll
    for (int h = 0; h < 2; h++) take_half<E>(m, p, h, k[h], inverse, bonus, c, ws, out);
    take_values<E>(m, p, out);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        bonus[i] = sum_over_channels(bonus[i]);
        if (p.q == 0) out.bonus[p.g + 8 * i] = bonus[i];
    }

    mask(c.ab, p.g, p.q, true);
    mask(c.ak, p.g, p.q, true);
    mask(c.qb, p.g, p.q, false);
    mask(c.qk, p.g, p.q, false);
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = 2 * p.g + i / 2, column = token_of(8 * n + 2 * p.q + i % 2);
            ws.ab[row * kSquareRow + column] = c.ab[n][i];
            ws.ak[column * kSquareRow + row] = c.ak[n][i];
        }
    warp_barrier();
    solve(ws, lane);
    warp_barrier();

    Operand qb, inverse_m, xa;
    float square[2][4], x[2][4] = {};
    split<bf16>(qb, c.qb[0], c.qb[1]);
    multiply_square(c.qk, qb, ws.mg[1], p.g, p.q); // H
    store_operand<kTermsH>(out.h[0], &out.h[kTermsH - 1], lane, c.qk[0], c.qk[1]);
    load_square(square, ws.mg[1], p.g, p.q);
    store_operand<kTermsG>(out.g[0], &out.g[kTermsG - 1], lane, square[0], square[1]);
    multiply_square(x, qb, ws.mg[0], p.g, p.q);
    split<bf16>(xa, x[0], x[1]);
    load_square(square, ws.mg[0], p.g, p.q);
    split<bf16>(inverse_m, square[0], square[1]);
    store_wr(inverse_m, xa, ws, out, lane);
}

template <typename E> void launch(const ChunkMix &m, gpuStream stream) {
    constexpr size_t shared = kWarps * sizeof(Workspace);
    gpuAllowShared(prepare<E>, shared);
    prepare<E><<<dim3(m.heads, chunk_tiles(m.tile_count * (kChunkTokens / kWarps))), kWarps * kWarp, shared, stream>>>(m);
}

} // namespace

void prepare_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.bf16)
        launch<bf16>(m, stream);
    else
        launch<half>(m, stream);
}
