// small_norm.h: layer norm and token shift inside the kernels for few tokens.
//
// Every block computes the inputs of its own product: x is small and in the L2
// cache, and a kernel in between would cost more than reading it once a block.
#pragma once

#include "small_device.h"

constexpr float kSmallNormEps = 1e-5f;
constexpr int kMostChannels = 4096; // of a token that one block normalises

// A token's channels among `threads` threads (whole warps): thread `at` has
// kVectors times four, `threads` vectors apart.
struct Span {
    int at, threads, channels;
    __device__ int channel(int vector) const { return (vector * threads + at) * 4; }
    __device__ bool has(int vector) const { return channel(vector) < channels; }
};

struct Moments {
    float mean, scale; // scale = 1/sqrt(variance + eps)
};

// Mean and variance of a warp's part of a token, for token_moments; parts has
// three floats for each warp of the block.
template <int kVectors> __device__ void warp_moments(const float4 (&v)[kVectors], const Span &span, float *parts) {
    float sum = 0, count = 0, squares = 0;
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int i = 0; i < kVectors; i++) {
        const int vectors = span.channels / 4 - (i * span.threads + span.at - lane);
        count += 4 * min(max(vectors, 0), kWarp);
        if (span.has(i)) sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    }
    const float mean = warp_sum(sum) / fmaxf(count, 1.0f);
#pragma unroll
    for (int i = 0; i < kVectors; i++)
        if (span.has(i)) {
            const float a = v[i].x - mean, b = v[i].y - mean, c = v[i].z - mean, d = v[i].w - mean;
            squares += (a * a + b * b) + (c * c + d * d);
        }
    squares = warp_sum(squares);
    if (lane == 0) {
        float *part = parts + threadIdx.x / kWarp * 3;
        part[0] = count;
        part[1] = mean;
        part[2] = squares;
    }
}

// A token's moments from those of its warps, after a barrier.
__device__ inline Moments token_moments(const float *parts, const Span &span) {
    const int warps = span.threads / kWarp, first = (threadIdx.x - span.at) / kWarp;
    float sum = 0, squares = 0;
    for (int w = 0; w < warps; w++) sum += parts[(first + w) * 3] * parts[(first + w) * 3 + 1];
    const float mean = sum / span.channels;
    for (int w = 0; w < warps; w++) {
        const float d = parts[(first + w) * 3 + 1] - mean;
        squares += parts[(first + w) * 3 + 2] + parts[(first + w) * 3] * d * d;
    }
    return {mean, rsqrtf(squares / span.channels + kSmallNormEps)};
}

__device__ inline float4 normalise(float4 v, Moments m, float4 weight, float4 bias) {
    return {(v.x - m.mean) * m.scale * weight.x + bias.x, (v.y - m.mean) * m.scale * weight.y + bias.y,
            (v.z - m.mean) * m.scale * weight.z + bias.z, (v.w - m.mean) * m.scale * weight.w + bias.w};
}

__device__ inline float4 load4(const float *p) { return *reinterpret_cast<const float4 *>(p); }

template <typename E> struct alignas(8) Four {
    E v[4];
};

template <typename E> __device__ void store4(E *p, float4 v) {
    *reinterpret_cast<Four<E> *>(p) = {from_float<E>(v.x), from_float<E>(v.y), from_float<E>(v.z), from_float<E>(v.w)};
}

// Into how many parts the threads of a block fall, each with a token.
__host__ __device__ inline int token_groups(int tokens) {
    int groups = 1;
    while (groups < tokens) groups *= 2;
    return groups;
}

// How many vectors a thread needs where `threads` threads share `tokens` tokens.
inline int vectors_for(int channels, int tokens, int threads) {
    return (int)ceil_div(channels, 4 * (threads / token_groups(tokens)));
}

// LN(x [tokens][C]) with token shift, of which a kind is one way to mix:
//   xn + (prev - xn) ⊙ mix[kind]
// kShift false: xn alone. kVectors must hold a token's channels; see vectors_for.
struct NormArgs {
    const float *x, *weight, *bias;
    const float *mix;        // [kinds][C]
    const float *shift;      // of slot s at s*2*C
    const int32_t *row_slot; // of a token
    const int32_t *row;      // which row of x a token is, or null: its own number
    int channels, tokens, kinds;
};

template <typename E, int kVectors, bool kShift> struct NormInput : NormArgs {
    explicit NormInput(const NormArgs &a) : NormArgs(a) {}

    __device__ Span span() const {
        const int threads = blockDim.x / token_groups(tokens);
        return {(int)threadIdx.x % threads, threads, channels};
    }

    // Brings the constants to the L2 cache, a line a thread of the grid.
    __device__ void prefetch() const {
        const int at = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
        if (at < channels) {
            prefetch_l2(weight + at);
            prefetch_l2(bias + at);
        }
        if (kShift && at < kinds * channels) prefetch_l2(mix + at);
    }

    // Writes one kind to out [tokens][stride]. first: the moments are not yet in
    // parts. The caller puts barriers around it.
    __device__ void fill(E *out, int stride, int kind, bool first, float *parts) const {
        const Span s = span();
        const int token = threadIdx.x / s.threads;
        fill_token(out + token * stride, token, s, kind, first, parts);
    }

    // The same for one token by the threads of s, its kind to out.
    __device__ void fill_token(E *out, int token, const Span &s, int kind, bool first, float *parts) const {
        const bool has_token = token < tokens;
        const int n = has_token ? token : 0;
        const float *from = x + (int64_t)(row ? row[n] : n) * channels;
        const float *before = kShift ? shift + (int64_t)row_slot[n] * 2 * channels : nullptr;
        float4 v[kVectors], prev[kVectors], w[kVectors], b[kVectors], m[kVectors];
        constexpr bool kAhead = kVectors <= 4; // all loads at once, if registers suffice
#pragma unroll
        for (int i = 0; i < kVectors; i++)
            if (s.has(i)) {
                v[i] = load4(from + s.channel(i));
                if (kAhead) load_others(i, s, before, kind, prev, w, b, m);
            }
        if (first) {
            warp_moments<kVectors>(v, s, parts);
            __syncthreads();
        }
        const Moments moments = token_moments(parts, s);
#pragma unroll
        for (int i = 0; i < kVectors; i++)
            if (has_token && s.has(i)) {
                if (!kAhead) load_others(i, s, before, kind, prev, w, b, m);
                float4 xn = normalise(v[i], moments, w[i], b[i]);
                if (kShift) {
                    xn.x += (prev[i].x - xn.x) * m[i].x;
                    xn.y += (prev[i].y - xn.y) * m[i].y;
                    xn.z += (prev[i].z - xn.z) * m[i].z;
                    xn.w += (prev[i].w - xn.w) * m[i].w;
                }
                store4(out + s.channel(i), xn);
            }
    }

  private:
    __device__ void load_others(int i, const Span &s, const float *before, int kind, float4 (&prev)[kVectors], float4 (&w)[kVectors],
                                float4 (&b)[kVectors], float4 (&m)[kVectors]) const {
        w[i] = load4(weight + s.channel(i));
        b[i] = load4(bias + s.channel(i));
        if (kShift) {
            prev[i] = load4(before + s.channel(i));
            m[i] = load4(mix + (int64_t)kind * channels + s.channel(i));
        }
    }
};

// Activations that a kernel before has made: E [kinds][part/C][C].
template <typename E> struct PlainInput {
    const E *x;
    int64_t part; // elements between kinds
    int channels, tokens;

    __device__ void prefetch() const {}
    __device__ void fill(E *out, int stride, int kind, bool, float *) const {
        const E *from = x + kind * part;
        for (int i = threadIdx.x * 8; i < tokens * channels; i += blockDim.x * 8)
            *reinterpret_cast<uint4 *>(out + i / channels * stride + i % channels) = *reinterpret_cast<const uint4 *>(from + i);
    }
};

// NormInput as a kernel of its own, for products whose blocks would read too
// much: grid (kinds, tokens); out [kinds][part/C][C].
template <typename E, int kVectors, bool kShift>
__global__ void __launch_bounds__(256) normalise_rows(NormInput<E, kVectors, kShift> input, E *out, int64_t part) {
    __shared__ float parts[3 * kWarp];
    let_next_start();
    input.prefetch();
    wait_for_previous();
    const int kind = blockIdx.x % input.kinds, token = blockIdx.x / input.kinds;
    const Span s{(int)threadIdx.x, (int)blockDim.x, input.channels};
    input.fill_token(out + kind * part + (int64_t)token * input.channels, token, s, kind, true, parts);
}

// The new shift of one token: LN(x) to the state, by a block of its own of at
// least 128 threads.
struct ShiftCommit {
    const float *x, *weight, *bias;
    float *shift; // of slot s at s*2*C
    const int32_t *row_slot;
    int channels; // at most kMostChannels

    template <int kThreads> __device__ void run(int token, float *parts) const {
        constexpr int kVectors = kMostChannels / 4 / kThreads;
        const Span s{(int)threadIdx.x, kThreads, channels};
        const float *from = x + (int64_t)token * channels;
        float *to = shift + (int64_t)row_slot[token] * 2 * channels;
        float4 v[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; i++)
            if (s.has(i)) v[i] = load4(from + s.channel(i));
        warp_moments<kVectors>(v, s, parts);
        __syncthreads();
        const Moments moments = token_moments(parts, s);
#pragma unroll
        for (int i = 0; i < kVectors; i++)
            if (s.has(i))
                *reinterpret_cast<float4 *>(to + s.channel(i)) =
                    normalise(v[i], moments, load4(weight + s.channel(i)), load4(bias + s.channel(i)));
    }
};
