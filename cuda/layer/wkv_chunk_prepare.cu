// wkv_chunk_prepare.cu: gates, decays and the products within a tile, for all tiles of all
// heads at once (wkv_chunk.h has the maths, wkv_chunk_record.h the output).
//
// One warp makes one record after another, all of one head. While it works on the second
// half of a record, the inputs of the next are copied to shared memory. Lane 4g+q has
// tokens 2g and 2g+1 (slots g and g+8) of channels 16s+4q .. +3, in four steps s: in this
// layout its registers are operands A and B of the products over channels (the order of
// channels in such a sum is free). Sums and products within a tile have 16 bits (two bf16
// terms), the inverse is fp32.
#include "layer/wkv_chunk_inverse.h"

using namespace chunk;

namespace {

constexpr int kWarps = 2;
constexpr int kManyWarps = 2048; // so many warps keep a large card busy; with more tiles, each makes several records
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kDecay = 0.60653065971263342f; // e^(-1/2)
constexpr float kLeastNorm = 1e-12f;

__device__ inline float logistic(float v) { return reciprocal(1.0f + power_of_2(-kLog2E * v)); }

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

// ---- inputs -----------------------------------------------------------------

// Starts copying the inputs of a tile. The last token is read in place of those that the
// tile does not have.
template <typename E> __device__ void start_inputs(const ChunkMix &m, int head, ChunkTile tile, Workspace &ws, int lane) {
    const int piece = lane % 8;
    const E *rkv = static_cast<const E *>(m.rkv), *up = static_cast<const E *>(m.up);
#pragma unroll
    for (int row = 0; row < kChunkTokens; row += 4) {
        const int token = row + lane / 8, place = input_place(token, piece);
        const int64_t at = ((int64_t)(tile.first + min(token, tile.count - 1)) * m.heads + head) * kChunkHead + 8 * piece;
        copy16(&ws.input[kK][token][place], rkv + m.stride + at);
        copy16(&ws.input[kUpW][token][place], up + m.stride + at);
        copy16(&ws.input[kUpA][token][place], up + 2 * m.stride + at);
        copy16(&ws.input[kR][token][place], rkv + at);
        copy16(&ws.input[kV][token][place], rkv + 2 * m.stride + at);
        if (m.v0) {
            copy16(&ws.input[kUpV][token][place], up + at);
            copy16(&ws.input[kFirst][token][place], static_cast<const E *>(m.v_first) + at);
        }
    }
    commit_copies();
}

__device__ void load_vectors(const ChunkMix &m, int head, Workspace &ws, int lane) {
    const float *from[kVectors] = {m.w0, m.a0, m.v0 ? m.v0 : m.w0, m.k_k, m.k_a, m.r_k};
#pragma unroll
    for (int i = 0; i < kVectors; i++)
        reinterpret_cast<float2 *>(ws.vector[i])[lane] = reinterpret_cast<const float2 *>(from[i] + head * kChunkHead)[lane];
}

// A lane's four channels of both tokens.
template <typename E> __device__ inline void get(float (&f)[2][4], const Workspace &ws, Input input, int step, int g, int q) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint4 *row = ws.input[input][2 * g + i];
        const uint2 bits = reinterpret_cast<const uint2 *>(row + input_place(2 * g + i, 2 * step + q / 2))[q % 2];
        unpack<E>(bits.x, f[i][0], f[i][1]);
        unpack<E>(bits.y, f[i][2], f[i][3]);
    }
}

__device__ inline void get(float (&f)[4], const Workspace &ws, Vector vector, int step, int q) {
    const float4 v = reinterpret_cast<const float4 *>(ws.vector[vector])[4 * step + q];
    f[0] = v.x, f[1] = v.y, f[2] = v.z, f[3] = v.w;
}

// Raw keys; zero, which changes nothing, where the tile does not have the token.
template <typename E> __device__ inline void get_keys(float (&k)[2][4], const Workspace &ws, int step, int g, int q, int count) {
    get<E>(k, ws, kK, step, g, q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (2 * g + i >= count) k[i][e] = 0;
}

// ---- one step ---------------------------------------------------------------

// Four channels of an array, [token][pair of channels], in two terms.
template <typename T> struct Pairs {
    uint32_t hi[2][2], lo[2][2];

    __device__ Pairs(const float (&x)[2][4]) {
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int pair = 0; pair < 2; pair++) split<T>(hi[i][pair], lo[i][pair], x[i][2 * pair], x[i][2 * pair + 1]);
    }

    __device__ void operand(Operand &a) const {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a.hi[i] = hi[i % 2][i / 2];
            a.lo[i] = lo[i % 2][i / 2];
        }
    }

    // Puts them into images; lo may be null.
    __device__ void store(ChunkImage &hi_image, ChunkImage *lo_image, int step, int g, int q) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int slot = g + 8 * i, place = ChunkImage::place(slot, 2 * step + q / 2);
            reinterpret_cast<uint2 *>(&hi_image.piece[slot][place])[q % 2] = make_uint2(hi[i][0], hi[i][1]);
            if (lo_image) reinterpret_cast<uint2 *>(&lo_image->piece[slot][place])[q % 2] = make_uint2(lo[i][0], lo[i][1]);
        }
    }
};

// C += X Yᵀ over the channels of all lanes.
__device__ inline void accumulate(float (&c)[2][4], const Operand &x, const Pairs<bf16> &y) {
#pragma unroll
    for (int n = 0; n < 2; n++) multiply<bf16>(c[n], x, y.hi[n][0], y.hi[n][1], y.lo[n][0], y.lo[n][1]);
}

// Adds 16 channels to the products: decays, keys, receptance. inverse is 1/‖κ‖ of the lane's
// tokens.
template <typename E>
__device__ inline void add_channels(int step, int count, const float (&inverse)[2], float (&bonus)[2], Products &c, Workspace &ws, ChunkRecord &out,
                          int g, int q) {
    float w[2][4], vector[4], x[2][4];
    get<E>(w, ws, kUpW, step, g, q);
    get(vector, ws, kW0, step, q);
    // P before each token, P after it, and its inverse.
    float previous[2][4], decay[2][4], grown[2][4], last[4];
#pragma unroll
    for (int e = 0; e < 4; e++) {
#pragma unroll
        for (int i = 0; i < 2; i++) w[i][e] = 2 * g + i < count ? power_of_2(-kDecay * kLog2E * logistic(vector[e] + w[i][e])) : 1.0f;
        decay[1][e] = running_product(w[0][e] * w[1][e], g);
        last[e] = SHFL(decay[1][e], 28 + q);
        previous[0][e] = SHFL_UP(decay[1][e], 4);
        if (g == 0) previous[0][e] = 1.0f;
        previous[1][e] = decay[0][e] = previous[0][e] * w[0][e];
#pragma unroll
        for (int i = 0; i < 2; i++) grown[i][e] = reciprocal(decay[i][e]);
    }
    if (g == 7) reinterpret_cast<float4 *>(out.f)[4 * step + q] = make_float4(last[0], last[1], last[2], last[3]);

    float r[2][4], k[2][4], rate[2][4], unit[2][4];
    get_keys<E>(k, ws, step, g, q, count);
    get<E>(rate, ws, kUpA, step, g, q);
    get(vector, ws, kA0, step, q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) rate[i][e] = logistic(vector[e] + rate[i][e]);
    get(vector, ws, kKk, step, q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            unit[i][e] = k[i][e] * vector[e] * inverse[i];
            x[i][e] = -unit[i][e] * previous[i][e];
        }
    const Pairs<bf16> a(x); // Ā
    a.store(ws.a[0], &ws.a[1], step, g, q);
    Operand left, right;
    a.operand(left);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) unit[i][e] *= rate[i][e] * grown[i][e]; // B̄
    const Pairs<bf16> b(unit);
    accumulate(c.ab, left, b);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) unit[i][e] *= last[e];
    Pairs<half>(unit).store(out.b[0], &out.b[1], step, g, q);

    get<E>(r, ws, kR, step, g, q);
    get(vector, ws, kKa, step, q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) k[i][e] *= 1.0f + (rate[i][e] - 1.0f) * vector[e]; // k̃
    get(vector, ws, kRk, step, q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            bonus[i] += r[i][e] * k[i][e] * vector[e];
            k[i][e] *= grown[i][e]; // K̄
            r[i][e] *= decay[i][e]; // Q̄
            x[i][e] = bounded(k[i][e] * last[e]);
        }
    Pairs<half>(x).store(out.k[0], &out.k[1], step, g, q);
    const Pairs<bf16> kept(k), receptance(r);
    receptance.operand(right);
    accumulate(c.ak, left, kept);
    accumulate(c.qb, right, b);
    accumulate(c.qk, right, kept);
#pragma unroll
    for (int i = 0; i < 2; i++) ws.q[g + 8 * i][q_place(g + 8 * i, 4 * step + q)] = make_float4(r[i][0], r[i][1], r[i][2], r[i][3]);
}

// Stores v of 16 channels, after mixing it with layer 0's.
template <typename E>
__device__ inline void store_values(const ChunkMix &m, int step, ChunkTile tile, int head, Workspace &ws, ChunkRecord &out, int g, int q) {
    float v[2][4];
    get<E>(v, ws, kV, step, g, q);
    if (m.v0) {
        float up[2][4], first[2][4], v0[4];
        get<E>(up, ws, kUpV, step, g, q);
        get<E>(first, ws, kFirst, step, g, q);
        get(v0, ws, kV0, step, q);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) v[i][e] += (first[i][e] - v[i][e]) * logistic(v0[e] + up[i][e]);
    } else {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int64_t at = ((int64_t)(tile.first + 2 * g + i) * m.heads + head) * kChunkHead + 16 * step + 4 * q;
            if (2 * g + i < tile.count)
                *reinterpret_cast<uint2 *>(static_cast<E *>(m.v_first) + at) = make_uint2(pack<E>(v[i][0], v[i][1]), pack<E>(v[i][2], v[i][3]));
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) v[i][e] = bounded(v[i][e] * kStateScale);
    Pairs<half>(v).store(out.v[0], kTermsV == 2 ? &out.v[kTermsV - 1] : nullptr, step, g, q);
}

// 1/‖κ‖ of the lane's tokens.
template <typename E> __device__ inline void key_norms(float (&inverse)[2], const Workspace &ws, int g, int q, int count) {
    inverse[0] = inverse[1] = 0;
#pragma unroll
    for (int step = 0; step < kSteps; step++) {
        float k[2][4], k_k[4];
        get_keys<E>(k, ws, step, g, q, count);
        get(k_k, ws, kKk, step, q);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) inverse[i] += k[i][e] * k_k[e] * (k[i][e] * k_k[e]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) inverse[i] = rsqrtf(fmaxf(sum_over_channels(inverse[i]), kLeastNorm * kLeastNorm));
}

// ---- kernel -----------------------------------------------------------------

// Warp n makes the records of head n % heads, tiles n / heads, n / heads + apart ...
template <typename E> __global__ void __launch_bounds__(kWarps *kWarp) prepare(ChunkMix m, int apart) {
    extern __shared__ uint4 memory[];
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, g = lane / 4, q = lane % 4;
    const int n = blockIdx.x * kWarps + warp, head = n % m.heads;
    int tile = n / m.heads;
    if (tile >= apart || tile >= m.tile_count) return;
    Workspace &ws = reinterpret_cast<Workspace *>(memory)[warp];
    load_vectors(m, head, ws, lane);
    ChunkTile where = m.tiles[tile];
    start_inputs<E>(m, head, where, ws, lane);
    for (; tile < m.tile_count; tile += apart) {
        ChunkRecord &out = static_cast<ChunkRecord *>(m.records)[(int64_t)tile * m.heads + head];
        const ChunkTile next = m.tiles[min(tile + apart, m.tile_count - 1)];
        wait_copies<0>();
        warp_barrier();
        float inverse[2], bonus[2] = {0, 0};
        key_norms<E>(inverse, ws, g, q, where.count);
        Products c = {};
#pragma unroll 1 // the whole loop stays in the instruction cache
        for (int step = 0; step < kSteps; step++) {
            store_values<E>(m, step, where, head, ws, out, g, q);
            add_channels<E>(step, where.count, inverse, bonus, c, ws, out, g, q);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            bonus[i] = sum_over_channels(bonus[i]);
            if (q == 0) out.bonus[g + 8 * i] = bonus[i];
        }
        warp_barrier();
        if (tile + apart < m.tile_count) start_inputs<E>(m, head, next, ws, lane);
        where = next;
        finish_record(c, ws, out, lane);
    }
}

template <typename E> void launch(const ChunkMix &m, gpuStream stream) {
    const int apart = std::min(m.tile_count, std::max(1, kManyWarps / m.heads));
    const size_t shared = kWarps * sizeof(Workspace);
    allow_shared(prepare<E>, shared);
    prepare<E><<<ceil_div((int64_t)apart * m.heads, kWarps), kWarps * kWarp, shared, stream>>>(m, apart);
}

} // namespace

void prepare_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.bf16)
        launch<bf16>(m, stream);
    else
        launch<half>(m, stream);
}
