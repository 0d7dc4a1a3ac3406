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

enum Input { kK, kV, kR, kDecay, kInputs };

// Shared memory of one warp: what products gave, by tokens, in pieces of 16 bytes that are
// permuted so that no two lanes use the same bank; l by tokens; H by slots.
struct Workspace {
    uint4 input[kInputs][kChunkTokens][8];
    float l[kChunkTokens][kRow];
    float h[kChunkTokens][kSquareRow];
};

__device__ inline float bounded(float v) { return fminf(fmaxf(v, -kHalfMax), kHalfMax); }

__device__ inline int input_place(int token, int piece) { return piece ^ (token / 2 % 8); }

// Channels 2 word and 2 word + 1 of a token.
template <typename E> __device__ inline float2 get(const Workspace &ws, Input input, int token, int word) {
    float2 v;
    unpack<E>(reinterpret_cast<const uint32_t *>(&ws.input[input][token][input_place(token, word / 4)])[word % 4], v.x, v.y);
    return v;
}

// Starts copying the inputs of a tile. The last token is read in place of those that the
// tile does not have.
template <typename E> __device__ inline void start_inputs(const ChunkMix &m, int head, ChunkTile tile, Workspace &ws, int lane) {
    const E *rkv = static_cast<const E *>(m.rkv), *decay = static_cast<const E *>(m.up);
#pragma unroll
    for (int row = 0; row < kChunkTokens; row += 4) {
        const int token = row + lane / 8, place = input_place(token, lane % 8);
        const int64_t at = ((int64_t)(tile.first + min(token, tile.count - 1)) * m.heads + head) * kChunkHead + 8 * (lane % 8);
#pragma unroll
        for (int i = kK; i <= kR; i++) copy16(&ws.input[i][token][place], rkv + i * m.stride + at);
        if (decay) copy16(&ws.input[kDecay][token][place], decay + at);
    }
    commit_copies();
}

// Sums of n values over a warp, n a power of 2: at every step a lane keeps half of its values.
// With 32 lane l gets the sum of value l, with 16 that of value l / 2.
template <int n, int o = kWarp / 2> __device__ inline float sums_by_lane(float (&v)[n]) {
    if constexpr (n == 1) {
#pragma unroll
        for (int by = o; by > 0; by /= 2) v[0] += SHFL_XOR(v[0], by);
        return v[0];
    } else {
        const bool upper = threadIdx.x & o;
        float half_[n / 2];
#pragma unroll
        for (int i = 0; i < n / 2; i++) {
            const float kept = upper ? v[i + n / 2] : v[i], given = upper ? v[i] : v[i + n / 2];
            half_[i] = kept + SHFL_XOR(given, o);
        }
        return sums_by_lane<n / 2, o / 2>(half_);
    }
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
    for (int i = 0; i < 2; i++) {
        const int token = 2 * g + i;
#pragma unroll
        for (int half_ = 0; half_ < 2; half_++) {
            const int word = 8 * step + 4 * half_ + q;
            const float2 key = get<E>(ws, kK, token, word), value = get<E>(ws, kV, token, word), own = get<E>(ws, kR, token, word);
            float2 d = {0, 0};
            if (m.up) d = get<E>(ws, kDecay, token, word);
            const bool there = token < tile.count;
            k[i][2 * half_] = there ? key.x : 0.0f, k[i][2 * half_ + 1] = there ? key.y : 0.0f;
            v[i][2 * half_] = value.x, v[i][2 * half_ + 1] = value.y;
            r[i][2 * half_] = own.x, r[i][2 * half_ + 1] = own.y;
            log_w[i][2 * half_] = d.x, log_w[i][2 * half_ + 1] = d.y;
        }
#pragma unroll
        for (int e = 0; e < 4; e++)
            log_w[i][e] = token < tile.count ? -fminf(kLog2E * power_of_2(kLog2E * (w0[e] + log_w[i][e])), kMostDecay) : 0.0f;
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
            *reinterpret_cast<float2 *>(&ws.l[token][at]) = make_float2(l0, l1);
        }
    }
    const int lane = 4 * g + q;
    out.r[0][step][lane] = make_uint4(hi[0], hi[1], hi[2], hi[3]);
    out.r[1][step][lane] = make_uint4(lo[0], lo[1], lo[2], lo[3]);
}

// H of a tile, in shared memory. The rows t and 15-t, for t below 8, have 15 values below the
// diagonal, so that two such pairs are summed over the lanes at once.
template <typename E> __device__ inline void make_h(const float *u, int count, Workspace &ws, int lane) {
    float2 r[kChunkTokens], k[kChunkTokens], l[kChunkTokens];
#pragma unroll
    for (int t = 0; t < kChunkTokens; t++) {
        r[t] = get<E>(ws, kR, t, lane);
        k[t] = get<E>(ws, kK, t, lane);
        if (t >= count) k[t] = {0, 0};
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
            const float x = t == s + 1 ? 1.0f : power_of_2(l[t].x - l[s + 1].x), y = t == s + 1 ? 1.0f : power_of_2(l[t].y - l[s + 1].y);
            sum[i] = r[t].x * k[s].x * x + r[t].y * k[s].y * y;
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
    const ChunkTile where = m.tiles[tile];
    start_inputs<E>(m, head, where, ws, lane);
    wait_copies<0>();
    warp_barrier();
#pragma unroll
    for (int step = 0; step < kChunkHead / 16; step++) add_channels<E>(m, step, where, head, ws, out, lane / 4, lane % 4);
    warp_barrier();
    make_h<E>(m.r_k + head * kChunkHead, where.count, ws, lane);
    store_h(ws, out, lane);
}

} // namespace

void prepare_decay_chunks(const ChunkMix &m, gpuStream stream) {
    const auto kernel = m.bf16 ? prepare<bf16> : prepare<half>;
    kernel<<<(unsigned)ceil_div((int64_t)m.tile_count * m.heads, kWarps), kWarps * kWarp, 0, stream>>>(m);
}
