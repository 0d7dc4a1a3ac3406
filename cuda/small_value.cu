// small_value.cu: the channel mix's value for few tokens, of which most hidden
// units are zero:
//
//   x += Σ_f hidden_f V_f     V [F][C], over the units f that live in any token
//
// F is cut into slices and each slice's sum kept apart: partial fp32
// [slices][tokens][C], added up in order by a second kernel. Slices and what is
// added within them in which order depend on the shape alone; a unit that lives
// in another token adds exact zeros to this one. Two kernels:
//
//   few tokens   a warp lists the live units of its part of the slice and reads
//                those rows, 512 bytes a warp at a time; sums by fma
//   more tokens  groups of 16 units on tensor cores; rows that live nowhere are
//                zero instead of read
//
// Both also bring the ffn shift to the states, by one more block a token.
#include "small.h"
#include "small_product.h"
#include "vectors.h"

int value_path = 0; // 1: lists, 2: tiles, 0: by tokens

namespace {

constexpr int kChunk = 256; // channels of a block
constexpr int kListWarps = 8, kTileWarps = 4;
constexpr int kTileDepth = 6; // groups of 16 units that are asked for ahead
constexpr int kGroup = 16;

template <typename E> struct ValueArgs {
    const E *hidden, *value;
    float *partial;
    int channels, ffn, tokens, chunks, slices, slice; // units of a slice, a multiple of 32
    ShiftCommit commit;
};

// The last blocks of the grid are for the shift.
template <int kThreads, typename E> __device__ bool commits_shift(const ValueArgs<E> &a, float *parts) {
    const int token = (int)blockIdx.x - a.chunks * a.slices;
    if (token < 0) return false;
    a.commit.template run<kThreads>(token, parts);
    return true;
}

// Live units of part of a slice, in shared memory: h is fp32 [size][kTokens].
template <typename E, int kTokens> __device__ int list_units(const ValueArgs<E> &a, int begin, int end, int *unit, float *h) {
    constexpr int kAhead = kTokens == 1 ? 4 : kTokens <= 4 ? 2 : 1;
    const int lane = threadIdx.x % kWarp;
    int n = 0;
    for (int base = begin; base < end; base += kAhead * kWarp) {
        float v[kAhead][kTokens];
#pragma unroll
        for (int i = 0; i < kAhead; i++) {
            const int f = base + i * kWarp + lane;
#pragma unroll
            for (int t = 0; t < kTokens; t++) v[i][t] = f < end && t < a.tokens ? to_float(a.hidden[(int64_t)t * a.ffn + f]) : 0.0f;
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

template <typename E, int kTokens> __global__ void __launch_bounds__(kListWarps *kWarp, 2) add_listed(ValueArgs<E> a) {
    extern __shared__ float listed[];
    __shared__ float sums[2][kListWarps][kChunk];
    let_next_start();
    wait_for_previous();
    if (commits_shift<kListWarps * kWarp>(a, sums[0][0])) return;
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, part = a.slice / kListWarps;
    const int chunk = blockIdx.x % a.chunks, slice = blockIdx.x / a.chunks;
    const int begin = min(slice * a.slice + warp * part, a.ffn), end = min(begin + part, a.ffn);
    float *h = listed + warp * part * (kTokens + 1);
    int *unit = reinterpret_cast<int *>(h + part * kTokens);
    const int n = list_units<E, kTokens>(a, begin, end, unit, h);

    const int c = chunk * kChunk + lane * 8;
    const bool has = c < a.channels;
    const E *rows = a.value + c;
    float acc[kTokens][8] = {};
    constexpr int kAhead = 8;
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
#pragma unroll
    for (int t = 0; t < kTokens; t++) {
        if (t >= a.tokens) break;
        float *sum = sums[t % 2][0];
#pragma unroll
        for (int e = 0; e < 8; e++) sum[warp * kChunk + lane * 8 + e] = acc[t][e];
        __syncthreads();
        float total = 0;
#pragma unroll
        for (int w = 0; w < kListWarps; w++) total += sum[w * kChunk + threadIdx.x];
        const int channel = chunk * kChunk + threadIdx.x;
        if (channel < a.channels) a.partial[((int64_t)slice * a.tokens + t) * a.channels + channel] = total;
    }
}

// A warp has 64 channels and goes through the slice by groups of 16 units: lane
// (g, t) reads rows 4t to 4t+3 of a group, channels 8g to 8g+7.
template <typename E> __global__ void __launch_bounds__(kTileWarps *kWarp) add_tiles(ValueArgs<E> a) {
    extern __shared__ uint4 shared[];
    let_next_start();
    wait_for_previous();
    if (commits_shift<kTileWarps * kWarp>(a, reinterpret_cast<float *>(shared))) return;
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    const int chunk = blockIdx.x % a.chunks, slice = blockIdx.x / a.chunks;
    const int begin = slice * a.slice, size = min(a.slice, a.ffn - begin), groups = size / kGroup, stride = a.slice + 16;
    uint4 *slots = shared + warp * kTileDepth * 4 * kWarp + lane;
    E *h = reinterpret_cast<E *>(shared + kTileWarps * kTileDepth * 4 * kWarp);
    uint8_t *live = reinterpret_cast<uint8_t *>(h + kMostTokens * stride); // of four units each
    for (int i = threadIdx.x * 8; i < a.tokens * size; i += blockDim.x * 8)
        *reinterpret_cast<uint4 *>(h + i / size * stride + i % size) =
            *reinterpret_cast<const uint4 *>(a.hidden + (int64_t)(i / size) * a.ffn + begin + i % size);
    __syncthreads();
    for (int i = threadIdx.x; i < size / 4; i += blockDim.x) {
        uint32_t low = 0, high = 0;
        for (int n = 0; n < a.tokens; n++) {
            const uint2 v = *reinterpret_cast<const uint2 *>(h + n * stride + i * 4);
            low |= v.x;
            high |= v.y;
        }
        live[i] = ((low & 0x7fff) != 0) | ((low & 0x7fff0000) != 0) << 1 | ((high & 0x7fff) != 0) << 2 | ((high & 0x7fff0000) != 0) << 3;
    }
    __syncthreads();

    const int c = chunk * kChunk + warp * 64 + g * 8;
    const bool has = c < a.channels;
    const E *rows = a.value + (int64_t)(begin + t * 4) * a.channels + c;
    auto copy = [&](int group, uint4 *slot) {
        if (group < groups) {
            const int mask = has ? live[group * 4 + t] : 0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                if (mask >> i & 1)
                    copy16(slot + i * kWarp, rows + ((int64_t)group * kGroup + i) * a.channels);
                else
                    slot[i * kWarp] = uint4{0, 0, 0, 0};
            }
        }
        end_group();
    };
    float acc[4][4] = {};
#pragma unroll
    for (int d = 0; d < kTileDepth; d++) copy(d, slots + d * 4 * kWarp);
    int at = 0;
    for (int group = 0; group < groups; group++) {
        wait_copies<kTileDepth - 1>();
        uint4 *slot = slots + at * 4 * kWarp;
        const uint4 q[4] = {slot[0], slot[kWarp], slot[2 * kWarp], slot[3 * kWarp]};
        uint2 weight = {0, 0};
        if (g < a.tokens) weight = *reinterpret_cast<const uint2 *>(h + g * stride + group * kGroup + t * 4);
        const uint32_t r0[4] = {q[0].x, q[0].y, q[0].z, q[0].w}, r1[4] = {q[1].x, q[1].y, q[1].z, q[1].w};
        const uint32_t r2[4] = {q[2].x, q[2].y, q[2].z, q[2].w}, r3[4] = {q[3].x, q[3].y, q[3].z, q[3].w};
#pragma unroll
        for (int i = 0; i < 4; i++) // channels 8g+2i and 8g+2i+1 as rows g and g+8 of a tile
            multiply_tile<E>(acc[i], (r0[i] & 0xffff) | r1[i] << 16, r0[i] >> 16 | (r1[i] & 0xffff0000u), (r2[i] & 0xffff) | r3[i] << 16,
                             r2[i] >> 16 | (r3[i] & 0xffff0000u), weight.x, weight.y);
        copy(group + kTileDepth, slot);
        at = at + 1 == kTileDepth ? 0 : at + 1;
    }
    if (!has) return;
#pragma unroll
    for (int e = 0; e < 2; e++) {
        const int token = 2 * t + e;
        if (token >= a.tokens) continue;
        float *to = a.partial + ((int64_t)slice * a.tokens + token) * a.channels + c;
#pragma unroll
        for (int i = 0; i < 4; i++) *reinterpret_cast<float2 *>(to + 2 * i) = {acc[i][e], acc[i][2 + e]};
    }
}

// x [n] += partial [slices][n], n in vectors of four.
__global__ void add_partials(float4 *x, const float4 *partial, int n, int slices) {
    let_next_start();
    wait_for_previous();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 old = x[i];
    float4 sum = {0, 0, 0, 0};
#pragma unroll 8
    for (int s = 0; s < slices; s++) {
        const float4 v = partial[(int64_t)s * n + i];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    x[i] = {old.x + sum.x, old.y + sum.y, old.z + sum.z, old.w + sum.w};
}

// Slices so that there are some 256 blocks, within the working memory.
int slice_units(const Pass &p) {
    const int chunks = (int)ceil_div(p.shape->embed, kChunk), wanted = std::min(std::max(256 / chunks, 8), 32);
    const int64_t room = p.act.row_room * p.shape->vocab / ((int64_t)p.tokens * p.shape->embed);
    return (int)round_up(ceil_div(p.shape->ffn, std::min<int64_t>(wanted, room)), 32);
}

template <typename E, int kTokens> void launch_listed(const ValueArgs<E> &a, int blocks, gpuStream stream) {
    launch_early(add_listed<E, kTokens>, blocks, kListWarps * kWarp, (size_t)a.slice * (kTokens + 1) * 4, stream, a);
}

template <typename E> void value(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed;
    ValueArgs<E> a{};
    a.hidden = static_cast<const E *>(p.act.hidden);
    a.value = static_cast<const E *>(l.value);
    a.partial = p.act.logits;
    a.channels = c;
    a.ffn = p.shape->ffn;
    a.tokens = p.tokens;
    a.chunks = (int)ceil_div(c, kChunk);
    a.slice = slice_units(p);
    a.slices = (int)ceil_div(a.ffn, a.slice);
    a.commit = {p.act.x, l.ln2_weight, l.ln2_bias, p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c + c, p.row_slot, c};
    const int blocks = a.chunks * a.slices + p.tokens;
    if (value_path == 2 || (value_path == 0 && p.tokens > 2)) {
        const size_t bytes = kTileWarps * kTileDepth * 4 * kWarp * 16 + kMostTokens * (a.slice + 16) * sizeof(E) + a.slice / 4;
        launch_early(add_tiles<E>, blocks, kTileWarps * kWarp, bytes, p.stream, a);
    } else if (p.tokens == 1) {
        launch_listed<E, 1>(a, blocks, p.stream);
    } else if (p.tokens == 2) {
        launch_listed<E, 2>(a, blocks, p.stream);
    } else if (p.tokens <= 4) {
        launch_listed<E, 4>(a, blocks, p.stream);
    } else {
        launch_listed<E, 8>(a, blocks, p.stream);
    }
    const int n = p.tokens * c / 4;
    launch_early(add_partials, (int)ceil_div(n, 64), 64, 0, p.stream, reinterpret_cast<float4 *>(p.act.x),
                 reinterpret_cast<const float4 *>(a.partial), n, a.slices);
}

} // namespace

void value_sparse(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) { value<decltype(e)>(p, layer); });
}
