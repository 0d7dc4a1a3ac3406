// sampler_candidates.h: a row's likeliest tokens by raw logits, with what the draw
// gave them.
#pragma once

#include "sampler_pick.h"

namespace sampling {

// The distance from the largest value beyond which a mass is zero, or how far
// truncation has to look at all; in powers of two.
constexpr float kMassBits = 45;

// Lists them at dst, the likeliest first; returns how many there are. raw is the
// part of the logits that part has after penalties, most the largest logit of the
// row, norm the logarithm of the sum of their exponentials.
template <int kBlocks>
__device__ __noinline__ int list_candidates(Work<kBlocks> &w, const Part &raw, const Part &part, const Kept &drawn, uint64_t total, float most,
                                            double norm, int top, rk_candidate *dst) {
    using T = Team<kBlocks>;
    uint64_t likely;
    pick(w, raw, Number{-kMaxFloat}, 0, false, &likely);
    const int n = (int)min((uint64_t)top, likely);
    if (n == 0) return 0;
    const Cutoff c = cut(w, raw, Distances(most, kMassBits / kSoftmaxScale), kBins, {(uint64_t)n, 0}, Number{-kMaxFloat});
    const float theta = z_of(c.key);
    int tie_last = INT32_MAX;
    if (c.rest < (uint64_t)c.ties) tie_last = pick(w, raw, Ties{theta}, c.rest - 1, false, &likely);
    // The list has the id as key, and what else there is as measure.
    T::sync();
    if (threadIdx.x == 0) w.count = 0;
    __syncthreads();
    raw.each([&](int first, const float (&z)[kPack]) {
        if (fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])) < theta) return;
#pragma unroll
        for (int e = 0; e < kPack; e++) {
            const int id = first + e;
            if (z[e] < theta || (z[e] == theta && id > tie_last)) continue;
            const int at = atomicAdd(&w.count, 1);
            const float prob = total > 0 ? (float)((double)drawn(id, part.z[id - part.first]) / (double)total) : 0.0f;
            w.mine.key[at] = id;
            w.mine.measure[at] = (uint64_t)__float_as_uint(z[e]) << 32 | __float_as_uint(prob);
        }
    });
    T::sync();
    join_lists(w, n);
    for (int i = T::rank() * T::kThreads + threadIdx.x; i < n; i += kBlocks * T::kThreads) {
        const float z = __uint_as_float((uint32_t)(w.all.measure[i] >> 32));
        const int id = (int)w.all.key[i];
        int before = 0;
        for (int j = 0; j < n; j++) {
            const float other = __uint_as_float((uint32_t)(w.all.measure[j] >> 32));
            before += other > z || (other == z && (int)w.all.key[j] < id);
        }
        dst[before] = {id, (float)((double)z - norm), __uint_as_float((uint32_t)w.all.measure[i])};
    }
    return n;
}

} // namespace sampling
