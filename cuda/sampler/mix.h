// mix.h: mixes: several rows whose logits make those that one token is
// drawn from, for all of them (rookery.h has the definition). mix makes them, and
// sums up the softmax of each row by itself; the draw is that of any row, and
// tells the others at its end.
#pragma once

#include "sampler/row.h"

namespace sampling {

// Makes the logits of all mixes of a step.
void mix(const DrawArgs &a, gpuStream stream);

// The logarithm of the sum of exp(logit) of an output's own row, by a warp.
__device__ inline double own_norm(const DrawArgs &a, int out) {
    const int chunks = (int)(a.stride / kDrawChunk);
    Extremes all{kNegInf, 0, 0};
    for (int c = threadIdx.x % kWarp; c < chunks; c += kWarp) {
        const float2 part = a.scratch.parts[(int64_t)out * chunks + c];
        all.add_raw(part.x, part.y);
    }
    all.join();
    return (double)all.raw_best + (double)logf(all.raw_sum);
}

// Tells the members of a mix, and the host, what was drawn and what each row alone
// thinks of it. By all threads of a block; returns the first row's own log-
// probability to thread 0.
__device__ inline float tell_members(const DrawArgs &a, int out, int members, int token) {
    float own = 0;
    for (int k = threadIdx.x / kWarp; k <= members; k += blockDim.x / kWarp) {
        const float log_prob = (float)((double)tame(a.logits[(out + k) * a.stride + token]) - own_norm(a, out + k));
        if (threadIdx.x % kWarp > 0) continue;
        if (k == 0) {
            own = log_prob;
            continue;
        }
        a.scratch.results[out + k] = {0, 0.0f, 0, 0u, log_prob};
        a.slots.drawn[a.input[a.row(out + k)].slot] = token;
    }
    __threadfence_system();
    __syncthreads();
    return own;
}

} // namespace sampling
