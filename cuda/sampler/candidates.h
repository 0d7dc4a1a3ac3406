// candidates.h: a row's likeliest tokens by raw logits, each with the probability that
// the draw gave it.
#pragma once

#include "sampler/pick.h"

namespace sampling {

// Lists them at dst, the likeliest first; returns how many there are. raw is the
// part of the logits that part has after penalties. Bins are empty.
template <typename T> __device__ __noinline__ int list_candidates(Work<T> &w, Part raw, Part part, Kept drawn, uint64_t total, int top, rk_candidate *dst) {
    const float most = w.look.raw_best;
    const double norm = w.look.norm;
    uint64_t likely;
    pick(w, raw, Number{-kMaxFloat}, 0, false, &likely);
    const int n = (int)min((uint64_t)top, likely);
    if (n == 0) return 0;
    const Cutoff c = cut(w, raw, Distances(most, kMassBits / kSoftmaxScale), {(uint64_t)n, 0}, Number{-kMaxFloat});
    const float theta = z_of(c.key);
    int tie_last = INT32_MAX;
    if (c.rest < (uint64_t)c.ties) tie_last = pick(w, raw, Ties{theta}, c.rest - 1, false, &likely);
    // The list has logits as keys and probabilities as measures.
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
            w.mine[at] = {__float_as_uint(prob), __float_as_uint(z[e]), id};
        }
    });
    T::sync();
    join_lists(w, n);
    for (int i = T::rank() * T::kThreads + threadIdx.x; i < n; i += T::kBlocks * T::kThreads) {
        const Short own = w.all[i];
        const float z = __uint_as_float(own.key);
        int before = 0;
        for (int j = 0; j < n; j++) {
            const float other = __uint_as_float(w.all[j].key);
            before += other > z || (other == z && w.all[j].id < own.id);
        }
        dst[before] = {own.id, (float)((double)z - norm), __uint_as_float((uint32_t)own.measure)};
    }
    return n;
}

} // namespace sampling
