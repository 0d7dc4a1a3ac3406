// counts.h: how often a slot's tokens occurred. All blocks of a team read the list, each
// for the ids of its part; the block that has the drawn token updates it.
#pragma once

#include "sampler/row.h"

namespace sampling {

// How much a seen token's logit is lowered.
__device__ inline float penalty(const RowInput &in, float n, float first) {
    if (in.rapid_penalty) return in.presence * first + in.frequency * (n - first);
    return in.presence + in.frequency * n;
}

__device__ inline float decayed(float n, float decay) {
    n *= decay;
    return n < 0x1p-64f ? 0.0f : n;
}

struct Seen {
    int32_t *token;
    float *n, *first;
    int size;

    __device__ Seen(const SlotView &slots, int slot) {
        const int64_t at = (int64_t)slot * slots.limit;
        token = slots.count_token + at;
        n = slots.count_n + at;
        first = slots.count_first + at;
        size = slots.count_size[slot];
    }

    // Writes penalties and bans of the part's ids to lowered, which is zero before. The list
    // has room for limit tokens; its first ones are read before its size is known.
    __device__ void lower(const RowInput &in, const int32_t *bans, const Part &part, float *lowered, int limit) const {
        if (in.penalised())
            for (int from = threadIdx.x; from == (int)threadIdx.x || from < size; from += kAtOnce * blockDim.x) {
                unsigned at[kAtOnce];
                float v[kAtOnce], f[kAtOnce];
#pragma unroll
                for (int k = 0; k < kAtOnce; k++) {
                    const int i = min(from + k * (int)blockDim.x, limit - 1);
                    at[k] = token[i] - part.first;
                    v[k] = n[i], f[k] = first[i];
                }
#pragma unroll
                for (int k = 0; k < kAtOnce; k++)
                    if (from + k * (int)blockDim.x < size && at[k] < (unsigned)part.chunks * kDrawChunk) lowered[at[k]] = penalty(in, v[k], f[k]);
            }
        if (in.ban_count == 0) return;
        __syncthreads(); // a token that is both seen and banned stays banned
        for (int i = threadIdx.x; i < in.ban_count; i += blockDim.x) {
            const unsigned at = bans[in.ban_offset + i] - part.first;
            if (at < (unsigned)part.chunks * kDrawChunk) lowered[at] = INFINITY;
        }
    }

    // Updates the counts after the draw: they decay, and the token is counted, at the end of
    // the list if it is new. All threads of a block do it but the first warp, which tells the
    // host.
    __device__ void observe(const DrawArgs &a, const RowInput &in, int drawn) const {
        const bool exempt = in.exempt && (a.scratch.exempt[drawn / 32] >> drawn % 32 & 1);
        const float weight = exempt ? 0.0f : 1.0f;
        const int step = blockDim.x - kWarp;
        int found = size >= a.slots.limit;
        for (int from = (int)threadIdx.x - kWarp; from >= 0 && from < size; from += kAtOnce * step) {
            int32_t t[kAtOnce];
            float v[kAtOnce], f[kAtOnce];
#pragma unroll
            for (int k = 0; k < kAtOnce; k++) {
                const int i = min(from + k * step, size - 1);
                t[k] = token[i], v[k] = n[i], f[k] = first[i];
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; k++) {
                const int i = from + k * step;
                if (i >= size) break;
                found |= t[k] == drawn;
                n[i] = decayed(v[k], in.decay) + (t[k] == drawn ? weight : 0.0f);
                first[i] = decayed(f[k], in.decay);
            }
        }
        if (__syncthreads_or(found) || threadIdx.x != kWarp) return;
        token[size] = drawn;
        n[size] = first[size] = weight;
        a.slots.count_size[in.slot] = size + 1;
    }

  private:
    static constexpr int kAtOnce = 4; // counts that a thread reads at once
};

} // namespace sampling
