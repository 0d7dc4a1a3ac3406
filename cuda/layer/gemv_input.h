// gemv_input.h: the inputs X of a product of few tokens, E in shared memory
// [kinds][tokens][stride]. NormInput computes them from x (fp32 [tokens][C]): layer norm
// with or without token shift. Every block computes them for itself: x is small and in
// the L2 cache, and a kernel in between costs more. PlainInput copies activations.
#pragma once

#include "device/copy.h"
#include "device/launch.h"

constexpr float kGemvNormEps = 1e-5f;
constexpr int kMostChannels = 4096; // of a token that one block normalises

__device__ inline float4 load4(const float *p) { return *reinterpret_cast<const float4 *>(p); }
__device__ inline void store4(float *p, float4 v) { *reinterpret_cast<float4 *>(p) = v; }

template <typename E> struct alignas(8) Four {
    E v[4];
};

template <typename E> __device__ void store4(E *p, float4 v) {
    *reinterpret_cast<Four<E> *>(p) = {from_float<E>(v.x), from_float<E>(v.y), from_float<E>(v.z), from_float<E>(v.w)};
}

// LN of x [tokens][C] and, for each kind, its mix with the shift before:
//   xn + (prev - xn) ⊙ mix[kind]
struct NormArgs {
    const float *x, *weight, *bias;
    const float *mix;        // [kinds][C]
    const float *shift;      // of slot s at s*2*C
    const int32_t *row_slot; // of a token
    const int32_t *row;      // the row of x of a token; null: token t has row t
    float *next_shift;       // [tokens][C]: xn
    int channels, tokens, kinds;
    bool early; // row_slot may be read before the previous kernel has ended
};

// The logarithm of how many threads of a block each token gets.
inline int log_token_threads(int tokens, int threads) {
    int log = 0;
    while (2 << log <= threads) log++;
    while (tokens << log > threads) log--;
    return log;
}

// A token belongs to 1 << log_threads threads, a warp or more, each with kVectors vectors of
// four channels. Without kShift there is one kind, xn itself.
template <typename E, int kVectors, bool kShift> struct NormInput : NormArgs {
    static constexpr bool kAtOnce = true; // fill makes all kinds that a block needs
    static constexpr int kMostThreads = kVectors == 1 ? 8 * kWarp : 16 * kWarp;
    int threads, log_threads; // of the block, of a token
    float per_channel;

    // What a thread reads before the previous kernel has ended.
    struct Ahead {
        float4 weight[kVectors], bias[kVectors], mix[kVectors], prev[kVectors];
    };

    NormInput(const NormArgs &a, int block, int log) : NormArgs(a), threads(block), log_threads(log), per_channel(1.0f / a.channels) {}

    __device__ int channel(int vector) const { return ((vector << log_threads) + (threadIdx.x & ((1 << log_threads) - 1))) * 4; }

    __device__ void read_ahead(Ahead &a, int kind) const { read_ahead(a, kind, min((int)threadIdx.x >> log_threads, tokens - 1)); }

    __device__ void read_ahead(Ahead &a, int kind, int token) const {
#pragma unroll
        for (int i = 0; i < kVectors; i++) {
            const int c = channel(i);
            if (c >= channels) break;
            a.weight[i] = load4(weight + c);
            a.bias[i] = load4(bias + c);
            if (kShift) a.mix[i] = load4(mix + kind * channels + c);
            if (kShift && early) a.prev[i] = load4(shift + (int64_t)row_slot[token] * 2 * channels + c);
        }
    }

    // Writes kinds first to last of all tokens to out [last-first+1][tokens][stride].
    __device__ void fill(Ahead &a, E *out, int stride, int first, int last, float *sums) const {
        const int token = threadIdx.x >> log_threads;
        fill_token(a, out + token * stride, tokens * stride, token, token < tokens, first, last, sums, blockIdx.x == 0);
    }

    // The same for one token, with `part` elements from kind to kind. Writes next_shift if
    // `keeps`. sums has two floats for each warp.
    __device__ void fill_token(Ahead &a, E *out, int part, int token, bool has_token, int first, int last, float *sums, bool keeps) const {
        const int warp = threadIdx.x / kWarp, n = has_token ? token : 0, from = (row ? row[n] : n) * channels;
        float4 v[kVectors];
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kVectors; i++) {
            const int c = channel(i);
            v[i] = c < channels ? load4(x + from + c) : float4{0, 0, 0, 0};
            sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
        }
        if (kShift && !early) {
            const float *before = shift + (int64_t)row_slot[n] * 2 * channels;
#pragma unroll
            for (int i = 0; i < kVectors; i++)
                if (channel(i) < channels) a.prev[i] = load4(before + channel(i));
        }
        const float mean = total(sum, sums, warp) * per_channel;
        sum = 0;
#pragma unroll
        for (int i = 0; i < kVectors; i++) {
            if (channel(i) >= channels) break;
            v[i] = {v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean};
            sum += (v[i].x * v[i].x + v[i].y * v[i].y) + (v[i].z * v[i].z + v[i].w * v[i].w);
        }
        const float scale = rsqrtf(total(sum, sums + blockDim.x / kWarp, warp) * per_channel + kGemvNormEps);
        if (!has_token) return;
#pragma unroll
        for (int i = 0; i < kVectors; i++) {
            const int c = channel(i);
            if (c >= channels) break;
            const float4 w = a.weight[i], b = a.bias[i];
            const float4 xn = {v[i].x * scale * w.x + b.x, v[i].y * scale * w.y + b.y, v[i].z * scale * w.z + b.z, v[i].w * scale * w.w + b.w};
            if (!kShift) {
                store4(out + c, xn);
                continue;
            }
            if (keeps) store4(next_shift + n * channels + c, xn);
            const float4 d = {a.prev[i].x - xn.x, a.prev[i].y - xn.y, a.prev[i].z - xn.z, a.prev[i].w - xn.w};
            float4 m = a.mix[i];
#pragma unroll 1
            for (int kind = first;;) {
                store4(out + (kind - first) * part + c, float4{xn.x + d.x * m.x, xn.y + d.y * m.y, xn.z + d.z * m.z, xn.w + d.w * m.w});
                if (++kind > last) break;
                m = load4(mix + kind * channels + c);
            }
        }
    }

  private:
    // The sum over a token's warps, in order. All threads of the block call it.
    __device__ float total(float v, float *sums, int warp) const {
        const int warps = (1 << log_threads) / kWarp, first = warp & ~(warps - 1);
        v = warp_sum(v);
        if (warps == 1) return v;
        if (threadIdx.x % kWarp == 0) sums[warp] = v;
        __syncthreads();
        v = 0;
#pragma unroll
        for (int w = 0; w < 16; w++)
            if (w < warps) v += sums[first + w];
        return v;
    }
};

// Activations of a kernel before: E [kinds][part/C][C].
template <typename E> struct PlainInput {
    static constexpr bool kAtOnce = false;
    static constexpr int kMostThreads = 16 * kWarp;
    const E *x;
    int64_t part; // elements between kinds
    int channels, tokens;

    struct Ahead {};

    __device__ void read_ahead(Ahead &, int) const {}

    __device__ void fill(Ahead &, E *out, int stride, int kind, int, float *) const {
        const E *from = x + kind * part;
#pragma unroll 1
        for (int t = 0; t < tokens; t++)
#pragma unroll 1
            for (int c = threadIdx.x * 8; c < channels; c += blockDim.x * 8) copy16(out + t * stride + c, from + t * channels + c);
        end_group();
        wait_copies<0>();
    }
};

// NormInput as a kernel of its own, for products whose blocks would have to read too much.
// A block has one token and kind; out is [kinds][part/C][C].
template <typename E, bool kShift> __global__ void __launch_bounds__(512) normalise_rows(NormInput<E, 2, kShift> input, E *out, int part) {
    __shared__ float sums[2 * kWarp];
    const int kind = blockIdx.x % input.kinds, token = blockIdx.x / input.kinds;
    typename NormInput<E, 2, kShift>::Ahead ahead;
    let_next_start();
    input.read_ahead(ahead, kind, token);
    wait_for_previous();
    input.fill_token(ahead, out + (int64_t)kind * part + token * input.channels, 0, token, true, kind, kind, sums, kind == 0);
}
