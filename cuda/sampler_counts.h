// sampler_counts.h: what a slot remembers of the tokens drawn before. The blocks
// of a team all read the list, each for the ids of its part; each lets a share of
// it decay.
#pragma once

#include "sampler_row.h"

namespace sampling {

// What a seen token's logit is lowered by.
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

    // Leaves penalties and bans in lowered, which is zero before, for ids of the part.
    __device__ void lower(const RowInput &in, const int32_t *bans, const Part &part, float *lowered) const {
        const unsigned ids = part.chunks * kDrawChunk;
        const int listed = in.penalised() ? size : 0;
#pragma unroll 4
        for (int i = threadIdx.x; i < listed; i += blockDim.x)
            if (const unsigned at = token[i] - part.first; at < ids) lowered[at] = penalty(in, n[i], first[i]);
        if (in.ban_count == 0) return;
        __syncthreads(); // a token that is both is banned
        for (int i = threadIdx.x; i < in.ban_count; i += blockDim.x) {
            const unsigned at = bans[in.ban_offset + i] - part.first;
            if (at < ids) lowered[at] = INFINITY;
        }
    }

    // Lets the counts decay, a share for each of so many blocks, and counts the
    // token where it is.
    __device__ void decay(float by, int drawn, float weight, int rank, int blocks) const {
        const int end = (int)((int64_t)size * (rank + 1) / blocks);
#pragma unroll 2
        for (int i = (int)((int64_t)size * rank / blocks) + threadIdx.x; i < end; i += blockDim.x) {
            const float more = token[i] == drawn ? weight : 0.0f;
            n[i] = decayed(n[i], by) + more;
            first[i] = decayed(first[i], by);
        }
    }

    // Puts the token at the end, if it is not in the list; by one block.
    __device__ void append(int drawn, float weight, int32_t *count_size, int limit) const {
        int found = size >= limit;
#pragma unroll 4
        for (int i = threadIdx.x; i < size; i += blockDim.x) found |= token[i] == drawn;
        if (__syncthreads_or(found) || threadIdx.x > 0) return;
        token[size] = drawn;
        n[size] = first[size] = weight;
        *count_size = size + 1;
    }

    // Brings the counts to after the draw, by each of a team's blocks; one of them owns
    // the token.
    __device__ void observe(const DrawArgs &a, const RowInput &in, int drawn, int rank, int blocks, bool owns) const {
        const bool exempt = in.exempt && (a.scratch.exempt[drawn / 32] >> drawn % 32 & 1);
        const float weight = exempt ? 0.0f : 1.0f;
        decay(in.decay, drawn, weight, rank, blocks);
        if (owns) append(drawn, weight, a.slots.count_size + in.slot, a.slots.limit);
    }
};

} // namespace sampling
