// wkv_chunk_decay.cu: the records of RWKV-6's tiles (wkv_chunk.h has the maths,
// wkv_chunk_record.h the output).
//
// One warp makes one record. First lane 4g+q has tokens 2g and 2g+1 (slots g and g+8) of
// channels 16s+2q, +1, +8 and +9, in four steps s: what it computes lies as operands B of the
// products over channels. Then, for H, a lane has two channels of all tokens; sums over lanes
// come last. Logarithms are of base 2, fp32. A token's decay is at least 2^-64: less
// changes nothing, and sums over a tile stay exact enough to subtract.
#include "layer/wkv_chunk_record.h"
#include "layer/wkv_chunk_tile.h"

using namespace chunk;

namespace {

constexpr int kWarps = 2;
constexpr int kRow = kChunkHead + 4, kSquareRow = kChunkTokens + 4; // floats from a row to the next, without bank conflicts
constexpr float kLog2E = 1.4426950408889634f, kMostDecay = 64;

// Shared memory of one warp: r, k and l by tokens; H by slots.
struct Workspace {
    float r[kChunkTokens][kRow], k[kChunkTokens][kRow], l[kChunkTokens][kRow];
    float h[kChunkTokens][kSquareRow];
};

__device__ inline float bounded(float v) { return fminf(fmaxf(v, -kHalfMax), kHalfMax); }

// Sums of n values over a warp, n a power of 2: at every step a lane keeps half of its values.
// With 32 lane l gets the sum of value l, with 16 that of value l / 2.
template <int n> __device__ inline float sums_by_lane(float (&v)[n]) {
    const int lane = threadIdx.x % kWarp;
    int o = kWarp / 2;
#pragma unroll
    for (int left = n / 2; left > 0; left /= 2, o /= 2)
#pragma unroll
        for (int i = 0; i < left; i++) {
            const float kept = lane & o ? v[i + left] : v[i], given = lane & o ? v[i] : v[i + left];
            v[i] = kept + SHFL_XOR(given, o);
        }
    for (; o > 0; o /= 2) v[0] += SHFL_XOR(v[0], o);
    return v[0];
}

// A lane's channels of one token, by pairs: 16 step + 2q, and 8 further.
template <typename E> __device__ inline void load_pairs(float (&f)[4], const void *base, int64_t at) {
    const auto *from = reinterpret_cast<const uint32_t *>(static_cast<const E *>(base) + at);
    unpack<E>(from[0], f[0], f[1]);
    unpack<E>(from[4], f[2], f[3]);
}

// Puts pairs of a slot into an image and its rest.
__device__ inline void store_pairs(ChunkImage (&image)[2], int slot, int step, int q, const float (&v)[4]) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int place = ChunkImage::place(slot, 2 * step + i);
        split<half>(reinterpret_cast<uint32_t *>(&image[0].piece[slot][place])[q], reinterpret_cast<uint32_t *>(&image[1].piece[slot][place])[q],
                    bounded(v[2 * i]), bounded(v[2 * i + 1]));
    }
}

// Everything but H of 16 channels.
template <typename E>
__device__ inline void add_channels(const ChunkMix &m, int step, ChunkTile tile, int head, Workspace &ws, DecayRecord &out, int g, int q) {
    const int c = head * kChunkHead + 16 * step + 2 * q;
    float w0[4], log_w[2][4], r[2][4], k[2][4], v[2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float2 w = *reinterpret_cast<const float2 *>(m.w0 + c + 8 * i);
        w0[2 * i] = w.x, w0[2 * i + 1] = w.y;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) { // the last token stands for those that the tile does not have
        const int token = 2 * g + i;
        const int64_t at = (int64_t)(tile.first + min(token, tile.count - 1)) * m.heads * kChunkHead + c;
        load_pairs<E>(k[i], m.rkv, at);
        load_pairs<E>(v[i], static_cast<const E *>(m.rkv) + m.stride, at);
        load_pairs<E>(r[i], static_cast<const E *>(m.rkv) + 2 * m.stride, at);
        if (m.up)
            load_pairs<E>(log_w[i], m.up, at);
        else
            log_w[i][0] = log_w[i][1] = log_w[i][2] = log_w[i][3] = 0;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            log_w[i][e] = token < tile.count ? -fminf(kLog2E * power_of_2(kLog2E * (w0[e] + log_w[i][e])), kMostDecay) : 0.0f;
            if (token >= tile.count) k[i][e] = 0;
        }
    }
    float l[2][4], upto[4], last[4]; // l of both tokens, L of the second, L of the tile
#pragma unroll
    for (int e = 0; e < 4; e++) {
        float sum = log_w[0][e] + log_w[1][e];
#pragma unroll
        for (int by = 1; by < 8; by *= 2) {
            const float before = SHFL_UP(sum, 4 * by);
            if (g >= by) sum += before;
        }
        upto[e] = sum;
        last[e] = SHFL(sum, 28 + q);
        const float before = SHFL_UP(sum, 4);
        l[0][e] = g == 0 ? 0.0f : before;
        l[1][e] = l[0][e] + log_w[0][e];
    }
    if (g == 7) {
#pragma unroll
        for (int i = 0; i < 2; i++)
            *reinterpret_cast<float2 *>(&out.f[16 * step + 8 * i + 2 * q]) = make_float2(power_of_2(last[2 * i]), power_of_2(last[2 * i + 1]));
    }
    uint32_t hi[4], lo[4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int token = 2 * g + i, slot = g + 8 * i;
        float faded[4], scaled[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            faded[e] = k[i][e] * power_of_2(last[e] - (i == 0 ? l[1][e] : upto[e]));
            scaled[e] = v[i][e] * kStateScale;
        }
        store_pairs(out.k, slot, step, q, faded);
        store_pairs(out.v, slot, step, q, scaled);
#pragma unroll
        for (int half_ = 0; half_ < 2; half_++) {
            const int at = 16 * step + 8 * half_ + 2 * q;
            const float r0 = r[i][2 * half_], r1 = r[i][2 * half_ + 1], l0 = l[i][2 * half_], l1 = l[i][2 * half_ + 1];
            split<half>(hi[2 * i + half_], lo[2 * i + half_], bounded(r0 * power_of_2(l0)), bounded(r1 * power_of_2(l1)));
            *reinterpret_cast<float2 *>(&ws.r[token][at]) = make_float2(r0, r1);
            *reinterpret_cast<float2 *>(&ws.k[token][at]) = make_float2(k[i][2 * half_], k[i][2 * half_ + 1]);
            *reinterpret_cast<float2 *>(&ws.l[token][at]) = make_float2(l0, l1);
        }
    }
    const int lane = 4 * g + q;
    out.r[0][step][lane] = make_uint4(hi[0], hi[1], hi[2], hi[3]);
    out.r[1][step][lane] = make_uint4(lo[0], lo[1], lo[2], lo[3]);
}

// H of a tile, in shared memory. The rows t and 15-t, for t below 8, have 15 values below the
// diagonal, so that two such pairs are summed over the lanes at once.
__device__ inline void make_h(const float *u, Workspace &ws, int lane) {
    float2 r[kChunkTokens], k[kChunkTokens], l[kChunkTokens];
#pragma unroll
    for (int t = 0; t < kChunkTokens; t++) {
        r[t] = *reinterpret_cast<const float2 *>(&ws.r[t][2 * lane]);
        k[t] = *reinterpret_cast<const float2 *>(&ws.k[t][2 * lane]);
        l[t] = *reinterpret_cast<const float2 *>(&ws.l[t][2 * lane]);
    }
    for (int i = lane; i < kChunkTokens * kSquareRow; i += kWarp) ws.h[0][i] = 0;
    warp_barrier();
    const float2 bonus = reinterpret_cast<const float2 *>(u)[lane];
    float own[kChunkTokens];
#pragma unroll
    for (int t = 0; t < kChunkTokens; t++) own[t] = r[t].x * bonus.x * k[t].x + r[t].y * bonus.y * k[t].y;
    const float diagonal = sums_by_lane(own);
    if (lane % 2 == 0) ws.h[slot_of(lane / 2)][slot_of(lane / 2)] = diagonal;
#pragma unroll
    for (int first = 0; first < 8; first += 2) {
        float sum[kWarp] = {};
#pragma unroll
        for (int i = 0; i < kWarp; i++) {
            const int short_row = first + i / 16, n = i % 16;
            if (n == 15) continue;
            const int t = n < short_row ? short_row : 15 - short_row, s = n < short_row ? n : n - short_row;
            sum[i] = r[t].x * k[s].x * power_of_2(l[t].x - l[s + 1].x) + r[t].y * k[s].y * power_of_2(l[t].y - l[s + 1].y);
        }
        const float whole = sums_by_lane(sum);
        const int short_row = first + lane / 16, n = lane % 16;
        const int t = n < short_row ? short_row : 15 - short_row, s = n < short_row ? n : n - short_row;
        if (n < 15) ws.h[slot_of(t)][slot_of(s)] = whole;
    }
    warp_barrier();
}

__device__ inline void store_h(const Workspace &ws, DecayRecord &out, int lane) {
    const int g = lane / 4, q = lane % 4;
    uint32_t hi[4], lo[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 pair = *reinterpret_cast<const float2 *>(&ws.h[g + i / 2 * 8][i % 2 * 8 + 2 * q]);
        split<half>(hi[i], lo[i], bounded(pair.x), bounded(pair.y));
    }
    out.h[0][lane] = make_uint4(hi[0], hi[1], hi[2], hi[3]);
    out.h[1][lane] = make_uint4(lo[0], lo[1], lo[2], lo[3]);
}

// Warp n makes the record of head n % heads, tile n / heads.
template <typename E> __global__ void __launch_bounds__(kWarps *kWarp) prepare(ChunkMix m) {
    __shared__ Workspace workspaces[kWarps];
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, n = blockIdx.x * kWarps + warp;
    const int head = n % m.heads, tile = n / m.heads;
    if (tile >= m.tile_count) return;
    Workspace &ws = workspaces[warp];
    DecayRecord &out = static_cast<DecayRecord *>(m.records)[(int64_t)tile * m.heads + head];
#pragma unroll
    for (int step = 0; step < kChunkHead / 16; step++) add_channels<E>(m, step, m.tiles[tile], head, ws, out, lane / 4, lane % 4);
    warp_barrier();
    make_h(m.r_k + head * kChunkHead, ws, lane);
    store_h(ws, out, lane);
}

} // namespace

void prepare_decay_chunks(const ChunkMix &m, gpuStream stream) {
    const auto kernel = m.bf16 ? prepare<bf16> : prepare<half>;
    kernel<<<(unsigned)ceil_div((int64_t)m.tile_count * m.heads, kWarps), kWarps * kWarp, 0, stream>>>(m);
}
