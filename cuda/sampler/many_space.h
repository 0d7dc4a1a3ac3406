// many_space.h: shared memory of a block of draw_many, and its bins.
#pragma once

#include "sampler/candidates.h"

namespace sampling {

constexpr int kMostChunks = 128, kMostListed = 4096, kMostTies = 512; // of a row: chunks, seen tokens, values near the cut

// The logarithm of a sum of exponentials, as best + log(sum).
struct alignas(8) Softmax {
    float best = kNegInf, sum = 0;

    __device__ void add(float most, float more) {
        const float all = fmaxf(best, most);
        if (!(all > kNegInf)) return;
        sum = sum * __expf(best - all) + more * __expf(most - all);
        best = all;
    }

    // Combines those of all lanes.
    __device__ void join() {
        const float most = warp_max(best);
        sum = warp_sum(most > kNegInf ? sum * __expf(best - most) : 0.0f);
        best = most;
    }
};

// Sums over untouched values, and over touched ones after and before penalties.
struct Sums {
    Softmax rest, lowered, raw;

    __device__ void join() { rest.join(), lowered.join(), raw.join(); }
};

// Shared memory of a block.
template <int kThreads> struct Space {
    static constexpr int kWarps = kThreads / kWarp;

    uint32_t bin[kBins];
    uint2 chunk[kMostChunks]; // masses above the cut, in two words
    uint32_t touched[kMostChunks * kDrawChunk / 32];
    int32_t id[kMostListed]; // of seen tokens; -1 if banned
    float z[kMostListed];    // theirs, after penalties
    uint64_t measure[kMostTies];
    uint32_t key[kMostTies];
    int32_t tie[kMostTies]; // ids
    alignas(16) float last[kDrawChunk]; // the chunk that is drawn from
    Sums sums[kWarps];
    uint64_t total[2][kWarps];
    int count, token, first_bin, last_bin;
    uint32_t theta;
};

// An approximation of 2^x.
__device__ inline float exp2_near(float x) {
#if GPU_CUDA
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}

// The bins of the second pass, and a value's approximate part of a sum of 2^30.
struct Rough {
    float m, resolution, shift;

    // total: about Σ 2^((z-m)*kSoftmaxScale). All values beyond the last bin together have less
    // than a quarter of what top_p leaves out.
    __device__ Rough(float m, float total, int limit, float top_p) : m(m) {
        const float widest = 2 + log2f((float)limit) - log2f(1 - top_p) - log2f(total);
        resolution = (kBins - 1) / fminf(fmaxf(widest, 1), kMassBits);
        shift = 30 - ceilf(log2f(total));
    }

    __device__ float distance(float z) const { return (m - z) * kSoftmaxScale; }
    __device__ int bin(float distance) const { return (int)fminf(distance * resolution, kBins - 1); }
    __device__ uint32_t share(float distance) const { return (uint32_t)__float2int_rn(exp2_near(shift - distance)); }

    // The smallest value that lies in this bin or one before it.
    __device__ float least(int to) const {
        uint32_t low = key_of(kNegInf), high = key_of(m);
        if (to < 0) return INFINITY;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (bin(distance(z_of(middle))) <= to)
                high = middle;
            else
                low = middle + 1;
        }
        return z_of(high);
    }
};

} // namespace sampling
