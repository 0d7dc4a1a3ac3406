// launch.h: launching kernels that overlap, and in clusters of blocks.
//
// A kernel launched by launch_early may begin before its predecessor on the stream
// has ended. Until it has called wait_for_previous it may read only what no unfinished
// kernel writes, and write only its own shared memory. let_next_start allows its
// successor to begin in the same way.
// Devices without this order (before compute capability 9.0) run kernels one after
// another; both calls do nothing there.
#pragma once

#include "device/gpu.h"

__device__ inline void wait_for_previous() {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__device__ inline void let_next_start() {
#if GPU_CUDA && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// The beginning of a kernel that has nothing to do before its predecessor has ended.
__device__ inline void begin_early() {
    let_next_start();
    wait_for_previous();
}

// Orders a thread's reads and writes before its later writes, also as the host sees them.
__device__ inline void fence_host() {
#if GPU_CUDA && __CUDA_ARCH__ >= 700
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
    __threadfence_system();
#endif
}

// Properties of the current device that launches depend on.
struct DeviceLimits {
    int multiprocessors = 1;
    size_t shared = 48 << 10; // bytes a block can have
    bool starts_early = false;
    bool clusters = false; // of eight blocks
};

inline DeviceLimits device_limits() {
    DeviceLimits limits;
    int device = 0, value = 0;
    if (GPU_NAME(GetDevice)(&device) != gpuSuccess) return limits;
#if GPU_CUDA
    if (cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device) == cudaSuccess) limits.multiprocessors = value;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess) limits.shared = value;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess) limits.starts_early = limits.clusters = value >= 9;
#else
    if (hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, device) == hipSuccess) limits.multiprocessors = value;
    if (hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSharedMemoryPerBlock, device) == hipSuccess) limits.shared = value;
#endif
    return limits;
}

// Launches a kernel with `shared` bytes of dynamic shared memory, in teams of `team` blocks
// (clusters, if more than one). All kernels ask for the same division between shared memory
// and L1 cache, since a multiprocessor must be idle to change it. Errors are kept for
// gpuLastError.
template <typename... P, typename... A>
void launch_teams(void (*kernel)(P...), dim3 teams, int team, int threads, size_t shared, gpuStream stream, A... args) {
    teams.x *= team;
#if GPU_CUDA
    cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (shared > 0) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t config{};
    config.gridDim = teams;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    if (device_limits().starts_early) {
        cudaLaunchAttribute &early = attributes[config.numAttrs++];
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
    }
    if (team > 1) {
        cudaLaunchAttribute &cluster = attributes[config.numAttrs++];
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = team;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    }
    cudaLaunchKernelEx(&config, kernel, P(args)...);
#else
    kernel<<<teams, threads, shared, stream>>>(P(args)...);
#endif
}

template <typename... P, typename... A>
void launch_early(void (*kernel)(P...), dim3 blocks, int threads, size_t shared, gpuStream stream, A... args) {
    launch_teams(kernel, blocks, 1, threads, shared, stream, args...);
}
