// team.h: the blocks that draw for one row together. On devices that have
// clusters of blocks there are eight of them, which read each other's shared
// memory; elsewhere there is one. Functions for a team have its Team as T.
//
// What a block leaves in its shared memory before sync may be read by the others
// after it, and may be overwritten after the sync that follows.
#pragma once

#include "device/gpu.h"

// Fences of shared memory alone; the others wait for all that a thread has written.
#if GPU_CUDA && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define RELEASE_SHARED "fence.release.sync_restrict::shared::cta.cluster;"
#else
#define RELEASE_SHARED "fence.acq_rel.cluster;"
#endif

namespace sampling {

constexpr int kClusterBlocks = 8;

template <int blocks, int threads> struct Team {
    static constexpr int kBlocks = blocks, kThreads = threads, kWarps = threads / kWarp;
    static constexpr int kResident = threads < 512 ? 3 : threads < 1024 ? 2 : 1; // blocks that a multiprocessor has room for

    __device__ static int rank() { return kBlocks > 1 ? (int)(blockIdx.x % kBlocks) : 0; }

    // sync in two: what lies between them is done while others arrive. It orders shared
    // memory alone: what others are to see of the device's needs fences.
    __device__ static void arrive() {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
        __syncwarp();
        if (kBlocks > 1) asm volatile(RELEASE_SHARED "barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
    }

    __device__ static void wait() {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
        __syncwarp();
        if (kBlocks > 1) {
            asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
            return;
        }
#endif
        __syncthreads();
    }

    __device__ static void sync() {
        arrive();
        wait();
    }

    // The same place in the shared memory of a block of the team.
    template <typename T> __device__ static const T *at(T *mine, int rank) {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
        if (kBlocks > 1) { // found anew each time, or many places would be kept in memory
            const T *place;
            asm volatile("mapa.u64 %0, %1, %2;" : "=l"(place) : "l"(mine), "r"(rank));
            return place;
        }
#endif
        (void)rank;
        return mine;
    }
};

// ---- within a warp -------------------------------------------------------------

using ::warp_sum; // of floats

__device__ inline uint32_t warp_max(uint32_t v) {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, v);
#else
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) v = max(v, SHFL_XOR(v, o));
    return v;
#endif
}

using ::warp_max; // of floats

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

// The first lane with which the running sum of v is more than rest, or else the last
// one; what comes before is taken from rest.
__device__ inline int find_lane(uint64_t v, uint64_t *rest) {
    const uint64_t upto = warp_scan(v);
    const int lane = __ffs((int)(BALLOT(upto > *rest) | 1u << (kWarp - 1))) - 1;
    *rest -= SHFL(upto - v, lane);
    return lane;
}

} // namespace sampling
