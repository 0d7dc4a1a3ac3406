// sampler_team.h: the blocks that draw for one row together. On devices that have
// clusters of blocks there are eight of them, which read each other's shared
// memory; elsewhere there is one.
//
// What a block leaves in its shared memory before sync may be read by the others
// after it, and may be overwritten after the sync that follows.
#pragma once

#include "small_device.h"

#if GPU_CUDA
#include <cooperative_groups.h>
#endif

namespace sampling {

constexpr int kClusterBlocks = 8;

template <int kBlocks> struct Team {
    static constexpr int kThreads = kBlocks > 1 ? 256 : 1024;
    static constexpr int kWarps = kThreads / kWarp;
    static constexpr int kPartials = kBlocks * kWarps; // one of each warp

    __device__ static int rank() { return kBlocks > 1 ? (int)(blockIdx.x % kBlocks) : 0; }

    __device__ static void sync() {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
        if (kBlocks > 1) return cooperative_groups::this_cluster().sync();
#endif
        __syncthreads();
    }

    // The same place in the shared memory of a block of the team.
    template <typename T> __device__ static const T *at(T *mine, int rank) {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
        if (kBlocks > 1) return cooperative_groups::this_cluster().map_shared_rank(mine, rank);
#endif
        (void)rank;
        return mine;
    }

    // Value number n of all, of which each block has kEach.
    template <int kEach, typename T> __device__ static T get(T *mine, int n) { return at(mine, n / kEach)[n % kEach]; }
};

// ---- within a warp -------------------------------------------------------------

using ::warp_sum; // of floats

__device__ inline uint64_t warp_sum(uint64_t v) {
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
    return v;
}

// Sum of the lanes up to this one.
__device__ inline uint64_t warp_scan(uint64_t v) {
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int o = 1; o < kWarp; o <<= 1) {
        const uint64_t below = SHFL_UP(v, o);
        if (lane >= o) v += below;
    }
    return v;
}

// The first lane with which the running sum of v is more than rest, from which
// what comes before is taken. The lanes' sum is more than rest.
__device__ inline int find_lane(uint64_t v, uint64_t *rest) {
    const uint64_t upto = warp_scan(v);
    const int lane = __ffs((int)BALLOT(upto > *rest)) - 1;
    *rest -= SHFL(upto - v, lane);
    return lane;
}

} // namespace sampling
