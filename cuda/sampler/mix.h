// mix.h: mixes: one token is drawn for several rows, from
//
//   z = weight_0*z_0 + weight_1*z_1 + ...     (rookery.h has the definition)
//
// mix computes z, fp32 [outputs/2][stride], and the softmax sum of each row by itself. The
// draw is that of any row.
#pragma once

#include "sampler/row.h"

namespace sampling {

// Makes the logits of all mixes of a step.
void mix(const DrawArgs &a, gpuStream stream);

// log Σ exp(logit) of an output's own row, by a warp.
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

// Writes to the results of the other members of a mix the log-probability of its token by
// each of them alone. All threads of a block call it; thread 0 gets that of the first row.
__device__ inline float rate_members(const DrawArgs &a, int out, int members, int token) {
    float own = 0;
    for (int k = threadIdx.x / kWarp; k <= members; k += blockDim.x / kWarp) {
        const float log_prob = (float)((double)tame(a.logits[(out + k) * a.stride + token]) - own_norm(a, out + k));
        if (threadIdx.x % kWarp > 0) continue;
        if (k == 0) {
            own = log_prob;
            continue;
        }
        a.scratch.results[out + k] = {0, 0.0f, 0, 0u, log_prob};
    }
    __threadfence_system();
    __syncthreads();
    return own;
}

} // namespace sampling
