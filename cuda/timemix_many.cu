// timemix_many.cu: the recurrence for many rows of one token and heads of 64.
//
// Where there are enough heads of rows to fill the card, a head belongs to two
// warps: a thread has a quarter of four value rows of S, so that each of the
// token's vectors is read from shared memory once for four rows. S is read ahead
// of everything else and written as it is made, past the caches.
#include "small_device.h"
#include "timemix_head.h"

namespace timemix {

namespace {

constexpr int N = 64, kRows = 4, kParts = 4; // value rows of a thread, threads of a row
constexpr int kThreads = 64;                 // of a head
constexpr int kFewHeads = 2048;              // below which mix_single is faster

// Two values as they are kept; see keep in timemix_head.h.
__device__ inline void keep_two(float (&to)[2], float a, float b) { to[0] = a, to[1] = b; }

__device__ inline void keep_two(half (&to)[2], float a, float b) {
    const uint32_t first = __float_as_uint(a), second = __float_as_uint(b);
    uint32_t h = (first ^ (second << 7 | second >> 25)) * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    constexpr uint32_t kLost = (1u << 13) - 1; // bits that fp16 has not
    to[0] = from_float_bounded<half>(__uint_as_float((first + (h >> 19)) & ~kLost));
    to[1] = from_float_bounded<half>(__uint_as_float((second + (h >> 6 & kLost)) & ~kLost));
}

// grid (heads / kHeads, rows)
template <typename E, typename S, int kHeads> __global__ void __launch_bounds__(kThreads *kHeads, 8 / kHeads) mix_heads(Args a) {
    constexpr int kPack = Pack<S>::size, kLoads = N / (kPack * kParts);
    __shared__ Token<N> tokens[kHeads];
    begin_early();
    const int head = blockIdx.x * kHeads + threadIdx.x / kThreads, thread = threadIdx.x % kThreads, row = blockIdx.y, slot = a.row_slot[row];
    if (slot == a.spare) return;
    Token<N> &token = tokens[threadIdx.x / kThreads];
    const int part = thread % kParts, value = thread / kParts; // its rows are kThreads / kParts apart
    Pack<S> *state = static_cast<Pack<S> *>(a.state) + (((int64_t)slot * (a.channels / N) + head) * N + value) * (N / kPack) + part;
    constexpr int kApart = kThreads / kParts * (N / kPack);
    Pack<S> s[kRows][kLoads];
#pragma unroll
    for (int i = 0; i < kRows; i++)
#pragma unroll
        for (int m = 0; m < kLoads; m++) s[i][m] = load_once(state + i * kApart + m * kParts);

    const int i0 = thread % kWarp * kEachOf<N>, channel = head * N + i0;
    const int64_t at = (int64_t)row * a.channels + channel;
    if (thread < kWarp) {
        const Inputs<kEachOf<N>> in(a, at, static_cast<const E *>(nullptr));
        const Weights<kEachOf<N>> w(a, channel);
        prepare<E, N>(a, at, i0, w, in, token);
    }
    __syncthreads();

    float removed[kRows] = {}, y[kRows] = {}, v[kRows];
#pragma unroll
    for (int m = 0; m < kLoads; m++) {
        float kk[kPack];
        load_each<kPack>(kk, token.kk + (part + m * kParts) * kPack);
#pragma unroll
        for (int i = 0; i < kRows; i++)
#pragma unroll
            for (int e = 0; e < kPack; e++) removed[i] += to_float(s[i][m].v[e]) * kk[e];
    }
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        removed[i] = row_sum(removed[i]);
        v[i] = token.v[value + i * (kThreads / kParts)];
    }
#pragma unroll
    for (int m = 0; m < kLoads; m++) {
        const int first = (part + m * kParts) * kPack;
        float w[kPack], ka[kPack], k[kPack], r[kPack];
        load_each<kPack>(w, token.w + first);
        load_each<kPack>(ka, token.ka + first);
        load_each<kPack>(k, token.k + first);
        load_each<kPack>(r, token.r + first);
#pragma unroll
        for (int i = 0; i < kRows; i++) {
            Pack<S> kept;
#pragma unroll
            for (int e = 0; e < kPack; e += 2) {
                float next[2];
#pragma unroll
                for (int o = 0; o < 2; o++) {
                    next[o] = to_float(s[i][m].v[e + o]) * w[e + o] - removed[i] * ka[e + o] + v[i] * k[e + o];
                    y[i] += next[o] * r[e + o];
                }
                S two[2];
                keep_two(two, next[0], next[1]);
                kept.v[e] = two[0], kept.v[e + 1] = two[1];
            }
            store_once(state + i * kApart + m * kParts, kept);
        }
    }
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        const float all = row_sum(y[i]);
        if (part == i) token.y[value + i * (kThreads / kParts)] = all;
    }
    __syncthreads();
    if (thread >= kWarp) return;
    float weight[kEachOf<N>], bias[kEachOf<N>], gate[kEachOf<N>];
    load_each<kEachOf<N>>(weight, a.gn_weight + channel);
    load_each<kEachOf<N>>(bias, a.gn_bias + channel);
    load_each<kEachOf<N>>(gate, static_cast<const E *>(a.up) + 3 * a.stride + at);
    finish<E, N>(a, at, i0, weight, bias, gate, token);
}

template <typename E, typename S> void launch(const Pass &p, const Args &a) {
    const int heads = p.shape->heads;
    if (heads % 2 == 0)
        launch_early(mix_heads<E, S, 2>, dim3(heads / 2, p.rows), 2 * kThreads, 0, p.stream, a);
    else
        launch_early(mix_heads<E, S, 1>, dim3(heads, p.rows), kThreads, 0, p.stream, a);
}

} // namespace

bool mix_many(const Pass &p, const Args &a) {
    if (!p.single || p.shape->head_size != N || p.shape->heads * p.rows < kFewHeads) return false;
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        if (p.slots.wkv_half)
            launch<E, half>(p, a);
        else
            launch<E, float>(p, a);
    });
    return true;
}

} // namespace timemix
