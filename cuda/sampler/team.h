// team.h: the blocks that draw for one row together. On devices with clusters of blocks
// there are eight, which read each other's shared memory; elsewhere there is one.
// Functions for a team have its Team as T.
//
// What a block writes to its shared memory before sync, the others may read after it; the
// block may overwrite it after the next sync.
#pragma once

#include "device/gpu.h"

// A fence of shared memory alone; others also wait for a thread's writes to device memory.
#if GPU_CUDA && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define RELEASE_SHARED "fence.release.sync_restrict::shared::cta.cluster;"
#else
#define RELEASE_SHARED "fence.acq_rel.cluster;"
#endif

namespace sampling {

constexpr int kClusterBlocks = 8;

template <int blocks, int threads> struct Team {
    static constexpr int kBlocks = blocks, kThreads = threads, kWarps = threads / kWarp;
    static constexpr int kResident = threads < 512 ? 3 : threads < 1024 ? 2 : 1; // blocks that fit a multiprocessor

    __device__ static int rank() { return kBlocks > 1 ? (int)(blockIdx.x % kBlocks) : 0; }

    // The two halves of sync: code between them runs while others arrive. They order shared
    // memory alone; writes to device memory need fences of their own.
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
        if (kBlocks > 1) { // computed each time, or the compiler would keep many addresses in memory
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

// The first lane at which the running sum of v is more than rest, or the last lane.
// Subtracts the sum before that lane from rest.
__device__ inline int find_lane(uint64_t v, uint64_t *rest) {
    const uint64_t upto = warp_scan(v);
    const int lane = __ffs((int)(BALLOT(upto > *rest) | 1u << (kWarp - 1))) - 1;
    *rest -= SHFL(upto - v, lane);
    return lane;
}

} // namespace sampling
