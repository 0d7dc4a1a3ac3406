// gemv_value.h: the kernels of gemv_value.cu. A unit is live if it is not zero in some
// token.
#pragma once

#include "layer/element.h"
#include "layer/gemv_product.h"

template <typename E> struct ValueArgs {
    const E *hidden, *value; // value [F][C]
    const E *gate;           // [T][C], whose sigmoid sums are multiplied by; or null
    float *x, *partial;      // partial [slices][tokens][C]
    int channels, ffn, tokens;
    int slice; // units of a slice
    float *shift;
    const float *next_shift;
    const int32_t *row_slot;
};

__device__ inline int warp_prefix(int v) { // inclusive
#pragma unroll
    for (int o = 1; o < kWarp; o *= 2) {
        const int other = SHFL_UP(v, o);
        if ((int)threadIdx.x % kWarp >= o) v += other;
    }
    return v;
}

// ---- one token, narrow ------------------------------------------------------------

constexpr int kLiveWarps = 16;
constexpr int kLivePacks = 4; // packs of eight hidden units of a lane: F up to 16384

// x += Σ_f hidden_f V_f. A block has 8*kLanes channels; kLanes lanes of a warp read a row of
// V. Each warp lists the live units of its part, a.slice units, in shared memory: the unit
// << 16 and the bits of its value.
template <typename E, int kLanes> __global__ void __launch_bounds__(kLiveWarps *kWarp, 1) add_live(ValueArgs<E> a) {
    extern __shared__ uint32_t listed[];
    __shared__ float sums[kLiveWarps][8 * kLanes];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    const int begin = warp * a.slice, end = min(begin + a.slice, a.ffn);
    uint32_t *list = listed + warp * a.slice;
    const int first = blockIdx.x * 8 * kLanes, c = first + lane % kLanes * 8;
    const E *rows = a.value + c;
    const int mine = first + threadIdx.x; // the channel that this thread finishes
    const bool finishes = threadIdx.x < 8 * kLanes && mine < a.channels;
    let_next_start();
    wait_for_previous();
    float old = 0;
    if (finishes) {
        old = a.x[mine];
        a.shift[(int64_t)a.row_slot[0] * 2 * a.channels + mine] = a.next_shift[mine];
    }
    uint4 hidden[kLivePacks];
#pragma unroll
    for (int i = 0; i < kLivePacks; i++) {
        const int f = begin + (i * kWarp + lane) * 8;
        hidden[i] = f < end ? *reinterpret_cast<const uint4 *>(a.hidden + f) : uint4{0, 0, 0, 0};
    }
    int n = 0;
#pragma unroll
    for (int i = 0; i < kLivePacks; i++) {
        if (i * kWarp * 8 >= a.slice) break;
        const uint32_t f = begin + (i * kWarp + lane) * 8, pairs[4] = {hidden[i].x, hidden[i].y, hidden[i].z, hidden[i].w};
        int live = 0;
#pragma unroll
        for (int e = 0; e < 4; e++) live += ((pairs[e] & 0xffff) != 0) + (pairs[e] >> 16 != 0);
        const int after = warp_prefix(live);
        int at = n + after - live;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (pairs[e] & 0xffff) list[at++] = (f + 2 * e) << 16 | (pairs[e] & 0xffff);
            if (pairs[e] >> 16) list[at++] = (f + 2 * e + 1) << 16 | pairs[e] >> 16;
        }
        n += SHFL(after, kWarp - 1);
    }
    SYNC_WARP();
    float acc[8] = {};
    constexpr int kAhead = 8, kRows = kWarp / kLanes;
    const bool has = c < a.channels;
#pragma unroll 1
    for (int i = lane / kLanes; i < n; i += kAhead * kRows) {
        union {
            uint4 bits;
            Pack<E> pack;
        } q[kAhead];
        float weight[kAhead];
#pragma unroll
        for (int u = 0; u < kAhead; u++) {
            const bool wanted = has && i + u * kRows < n;
            const uint32_t entry = list[wanted ? i + u * kRows : 0];
            weight[u] = wanted ? low_half(entry, E{}) : 0.0f;
            q[u].bits = load16_if(wanted, rows + (int64_t)(entry >> 16) * a.channels);
        }
#pragma unroll
        for (int u = 0; u < kAhead; u++) after_loads(q[u].bits);
#pragma unroll
        for (int u = 0; u < kAhead; u++)
#pragma unroll
            for (int e = 0; e < 8; e++) acc[e] += weight[u] * to_float(q[u].pack.v[e]);
    }
#pragma unroll
    for (int e = 0; e < 8; e++) {
#pragma unroll
        for (int o = kLanes; o < kWarp; o *= 2) acc[e] += SHFL_XOR(acc[e], o);
        if (lane < kLanes) sums[warp][lane * 8 + e] = acc[e];
    }
    __syncthreads();
    if (!finishes) return;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kLiveWarps; w++) sum += sums[w][threadIdx.x];
    if (a.gate) sum *= sigmoid(to_float(a.gate[mine]));
    a.x[mine] = old + sum;
}

// ---- few tokens, wide ---------------------------------------------------------------

constexpr int kChunk = 256; // channels of a block
constexpr int kListWarps = 8;

// Lists the live units of a warp's part of a slice in shared memory, with their values h,
// fp32 [size][kTokens]; returns how many there are.
template <typename E, int kTokens> __device__ int list_units(const ValueArgs<E> &a, int begin, int end, int *unit, float *h) {
    constexpr int kAhead = kTokens == 1 ? 4 : 2;
    const int lane = threadIdx.x % kWarp;
    int n = 0;
#pragma unroll 1
    for (int base = begin; base < end; base += kAhead * kWarp) {
        float v[kAhead][kTokens];
#pragma unroll
        for (int i = 0; i < kAhead; i++) {
            const int f = base + i * kWarp + lane;
#pragma unroll
            for (int t = 0; t < kTokens; t++) v[i][t] = f < end && t < a.tokens ? to_float(a.hidden[t * a.ffn + f]) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kAhead; i++) {
            bool live = false;
#pragma unroll
            for (int t = 0; t < kTokens; t++) live |= v[i][t] != 0.0f;
            const uint32_t mask = BALLOT(live);
            if (live) {
                const int at = n + __popc(mask & ((1u << lane) - 1));
                unit[at] = base + i * kWarp + lane;
#pragma unroll
                for (int t = 0; t < kTokens; t++) h[at * kTokens + t] = v[i][t];
            }
            n += __popc(mask);
        }
    }
    SYNC_WARP();
    return n;
}

// Writes partial; grid (chunks, slices). A warp lists the live units of its part of the
// slice and reads their rows of V, 512 bytes at a time. Sums are by fma, so that a unit that
// is live only in another token adds exact zeros.
template <typename E, int kTokens> __global__ void __launch_bounds__(kListWarps *kWarp, kTokens <= 2 ? 3 : 2) add_listed(ValueArgs<E> a) {
    extern __shared__ float listed_values[];
    __shared__ float sums[2][kListWarps][kChunk];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, part = a.slice / kListWarps;
    const int begin = min((int)blockIdx.y * a.slice + warp * part, a.ffn), end = min(begin + part, a.ffn);
    float *h = listed_values + warp * part * (kTokens + 1);
    int *unit = reinterpret_cast<int *>(h + part * kTokens);
    let_next_start();
    wait_for_previous();
    const int n = list_units<E, kTokens>(a, begin, end, unit, h);

    const int c = blockIdx.x * kChunk + lane * 8;
    const bool has = c < a.channels;
    const E *rows = a.value + c;
    float acc[kTokens][8] = {};
    constexpr int kAhead = 8;
#pragma unroll 1
    for (int i = 0; i < n; i += kAhead) {
        Pack<E> q[kAhead];
#pragma unroll
        for (int u = 0; u < kAhead; u++)
            if (has && i + u < n) q[u] = *reinterpret_cast<const Pack<E> *>(rows + (int64_t)unit[i + u] * a.channels);
#pragma unroll
        for (int u = 0; u < kAhead; u++) {
            if (i + u >= n) break;
#pragma unroll
            for (int t = 0; t < kTokens; t++) {
                const float weight = h[(i + u) * kTokens + t];
#pragma unroll
                for (int e = 0; e < 8; e++) acc[t][e] += weight * to_float(q[u].v[e]);
            }
        }
    }
    const int channel = blockIdx.x * kChunk + threadIdx.x;
#pragma unroll
    for (int t = 0; t < kTokens; t++) {
        if (t >= a.tokens) break;
        float *sum = sums[t % 2][0];
#pragma unroll
        for (int e = 0; e < 8; e += 4) store4(sum + warp * kChunk + lane * 8 + e, float4{acc[t][e], acc[t][e + 1], acc[t][e + 2], acc[t][e + 3]});
        __syncthreads();
        float total = 0;
#pragma unroll
        for (int w = 0; w < kListWarps; w++) total += sum[w * kChunk + threadIdx.x];
        if (channel < a.channels) a.partial[((int64_t)blockIdx.y * a.tokens + t) * a.channels + channel] = total;
    }
}

// ---- more tokens ----------------------------------------------------------------------

constexpr int kGroup = 16;  // units
constexpr int kTileWarps = 16, kTileParts = kTileWarps / 4; // parts of a slice; four warps have the chunk's channels
constexpr int kTileAhead = 4; // groups whose rows are requested at once

// Writes partial; grid (chunks, slices). Multiplies groups of 16 units on tensor cores. A
// row of V whose unit is zero in every token is not read: zeros stand for it. A warp has 64
// channels and a part of the slice; lane (g, t) reads rows 4t to 4t+3 of a group, channels
// 8g to 8g+7.
template <typename E> __global__ void __launch_bounds__(kTileWarps *kWarp, 1) add_tiles(ValueArgs<E> a) {
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    const int begin = blockIdx.y * a.slice, size = min(a.slice, a.ffn - begin), stride = a.slice + 16;
    E *h = reinterpret_cast<E *>(shared);                               // [tokens][stride]
    uint8_t *live = reinterpret_cast<uint8_t *>(h + a.tokens * stride); // a bit for each of four units
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int n = 0; n < a.tokens; n++)
#pragma unroll 1
        for (int i = threadIdx.x * 8; i < size; i += blockDim.x * 8) copy16(h + n * stride + i, a.hidden + n * a.ffn + begin + i);
    end_group();
    wait_copies<0>();
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < size / 4; i += blockDim.x) {
        uint32_t low = 0, high = 0;
#pragma unroll 1
        for (int n = 0; n < a.tokens; n++) {
            const uint2 v = *reinterpret_cast<const uint2 *>(h + n * stride + i * 4);
            low |= v.x;
            high |= v.y;
        }
        live[i] = (low << 16 != 0) | (low >> 16 != 0) << 1 | (high << 16 != 0) << 2 | (high >> 16 != 0) << 3;
    }
    __syncthreads();

    const int c = blockIdx.x * kChunk + warp % 4 * 64 + g * 8, part = warp / 4;
    const bool has = c < a.channels;
    const int whole = a.slice / kTileParts / kGroup, first = part * whole, groups = min(whole, size / kGroup - first);
    const E *rows = a.value + (int64_t)(begin + first * kGroup + t * 4) * a.channels + c;
    const uint8_t *live_at = live + first * 4 + t;
    const E *h_at = h + g * stride + first * kGroup + t * 4;
    float acc[4][4] = {};
#pragma unroll 1
    for (int group = 0; group < groups; group += kTileAhead) {
        uint4 q[kTileAhead][4];
#pragma unroll
        for (int u = 0; u < kTileAhead; u++) {
            const int mask = has && group + u < groups ? live_at[(group + u) * 4] : 0;
#pragma unroll
            for (int i = 0; i < 4; i++) q[u][i] = load16_if(mask >> i & 1, rows + ((group + u) * kGroup + i) * a.channels);
        }
#pragma unroll
        for (int u = 0; u < kTileAhead; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) after_loads(q[u][i]);
#pragma unroll
        for (int u = 0; u < kTileAhead; u++) {
            uint2 weight = {0, 0};
            if (g < a.tokens && group + u < groups) weight = *reinterpret_cast<const uint2 *>(h_at + (group + u) * kGroup);
            const uint32_t r0[4] = {q[u][0].x, q[u][0].y, q[u][0].z, q[u][0].w}, r1[4] = {q[u][1].x, q[u][1].y, q[u][1].z, q[u][1].w};
            const uint32_t r2[4] = {q[u][2].x, q[u][2].y, q[u][2].z, q[u][2].w}, r3[4] = {q[u][3].x, q[u][3].y, q[u][3].z, q[u][3].w};
#pragma unroll
            for (int i = 0; i < 4; i++) // channels 8g+2i and 8g+2i+1 as rows g and g+8 of a tile
                multiply_tile<E>(acc[i], (r0[i] & 0xffff) | r1[i] << 16, r0[i] >> 16 | (r1[i] & 0xffff0000u), (r2[i] & 0xffff) | r3[i] << 16,
                                 r2[i] >> 16 | (r3[i] & 0xffff0000u), weight.x, weight.y);
        }
    }
    // Adds up the parts in order; h and live are not needed any more.
    __syncthreads();
    float4 *sums = reinterpret_cast<float4 *>(shared) + warp % 4 * kWarp + lane;
    constexpr int kPart = 4 * kWarp; // float4 of one i of a part
    if (part > 0)
#pragma unroll
        for (int i = 0; i < 4; i++) sums[((part - 1) * 4 + i) * kPart] = {acc[i][0], acc[i][1], acc[i][2], acc[i][3]};
    __syncthreads();
    if (!has || part > 0) return;
#pragma unroll
    for (int p = 0; p < kTileParts - 1; p++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float4 v = sums[(p * 4 + i) * kPart];
            acc[i][0] += v.x, acc[i][1] += v.y, acc[i][2] += v.z, acc[i][3] += v.w;
        }
#pragma unroll
    for (int e = 0; e < 2; e++) {
        const int token = 2 * t + e;
        if (token >= a.tokens) continue;
        float *to = a.partial + ((int64_t)blockIdx.y * a.tokens + token) * a.channels + c;
#pragma unroll
        for (int i = 0; i < 4; i++) *reinterpret_cast<float2 *>(to + 2 * i) = {acc[i][e], acc[i][2 + e]};
    }
}
