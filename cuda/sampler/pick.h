// pick.h: the id of a row at which a running sum passes a number, found by its team of
// blocks.
#pragma once

#include "sampler/cut.h"

namespace sampling {

// The first id of a chunk at which the running sum of measure is more than rest. The block
// that has the chunk calls it and finds the id in w.id.
template <typename T, typename F> __device__ void pick_in_chunk(Work<T> &w, const Part &part, int chunk, const F measure, uint64_t rest) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    uint64_t each[kPack], sum = 0, own = 0;
    int id = 0;
    if (warp < kPacks) {
        part.pack(chunk, warp, [&](int at, const float (&z)[kPack]) {
            id = at;
#pragma unroll
            for (int e = 0; e < kPack; e++) sum += each[e] = measure(at + e, z[e]);
        });
        own = warp_sum(sum);
        if (lane == 0) w.pack[warp] = own;
    }
    __syncthreads();
    if (warp >= kPacks) return;
    for (int j = 0; j < warp; j++) rest -= w.pack[j]; // wraps around if the id is in an earlier pack
    if (rest >= own) return;
    uint64_t before = warp_scan(sum) - sum;
#pragma unroll
    for (int k = 0; k < kPack; k++) {
        if (rest >= before && rest < before + each[k]) w.id = id + k;
        before += each[k];
    }
}

// The smallest id at which the running sum of measure over ids is more than rest, or with
// `fraction` more than rest/2^64 of the whole sum. *total is the whole sum; the id is 0 if
// that is 0.
template <typename T, typename F>
__device__ int pick(Work<T> &w, const Part &part, const F measure, uint64_t rest, bool fraction, uint64_t *total) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    uint64_t own = 0;
    for (int c = warp; c < part.chunks; c += T::kWarps) {
        uint64_t sum = 0;
        part.each(c, [&](int id, const float (&z)[kPack]) { sum += measure.sum(id, z); });
        sum = warp_sum(sum);
        if (lane == 0) w.chunk[c] = {(uint32_t)sum, (uint32_t)(sum >> 32)};
        own += sum;
    }
    if (lane == 0) w.total[warp] = own;
    T::sync();
    uint64_t block = 0;
    if (lane < T::kBlocks)
#pragma unroll
        for (int i = 0; i < T::kWarps; i++) block += T::at(w.total, lane)[i];
    *total = warp_sum(block);
    if (*total == 0) {
        T::sync();
        return 0;
    }
    if (fraction) rest = __umul64hi(*total, rest);
    const int owner = find_lane(block, &rest);
    if (owner == T::rank()) {
        int first = 0; // of 32 chunks
        for (;; first += kWarp) {
            const uint64_t sum = warp_sum(first + lane < part.chunks ? whole(w.chunk[first + lane]) : 0);
            if (rest < sum) break;
            rest -= sum;
        }
        const int chunk = first + find_lane(first + lane < part.chunks ? whole(w.chunk[first + lane]) : 0, &rest);
        pick_in_chunk(w, part, chunk, measure, rest);
    }
    T::sync();
    return *T::at(&w.id, owner);
}

} // namespace sampling
