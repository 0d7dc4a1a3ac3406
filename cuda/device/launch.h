// small_device.h: what the kernels for few tokens need of the device beyond
// gpu.h, each with a portable twin: copies to shared memory that run on their
// own, the tensor cores' product of one tile, and kernels that start while the
// one before them is still at work.
//
// A kernel that is launched by launch_early begins before its predecessor on
// the stream has ended. Up to wait_for_previous it may touch nothing but
// constants and its own shared memory; let_next_start lets its successor begin
// in the same way.
#pragma once

#include <type_traits>

#include "device/gpu.h"

#if GPU_CUDA
#define BALLOT(p) __ballot_sync(0xffffffffu, (p))
#else
#define BALLOT(p) ((uint32_t)(__ballot(p) >> (threadIdx.x % warpSize / kWarp * kWarp)))
#endif

// ---- order between kernels ---------------------------------------------------

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

// What a kernel begins with that has nothing to do ahead of its predecessor's end.
__device__ inline void begin_early() {
    let_next_start();
    wait_for_previous();
}

// Orders what a thread has seen and written before what it writes after, for the
// host too.
__device__ inline void fence_host() {
#if GPU_CUDA && __CUDA_ARCH__ >= 700
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
    __threadfence_system();
#endif
}

// What kernels for few tokens need to know of the current device.
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

// Launches a kernel with `shared` bytes of dynamic shared memory, in teams of so
// many blocks: clusters, if more than one. All kernels ask for the same division
// between shared memory and L1 cache, since a multiprocessor must be idle to change
// it. Errors are kept for gpuLastError.
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

// ---- copies of 16 bytes to shared memory ---------------------------------------

// Copies are finished in groups. A thread sees only its own ones after
// wait_copies, until a barrier.
__device__ inline void copy16(void *shared, const void *global) {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global)
                 : "memory");
#else
    *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global);
#endif
}

// A place in shared memory, found once: finding it anew for every copy takes
// longer than the copy.
template <typename E> class SharedPlace {
  public:
#if GPU_CUDA
    __device__ explicit SharedPlace(void *shared) : at_((uint32_t)__cvta_generic_to_shared(shared)) { asm volatile("" : "+r"(at_)); }
#else
    __device__ explicit SharedPlace(void *shared) : at_(static_cast<E *>(shared)) {}
#endif
    __device__ SharedPlace operator+(int elements) const {
        SharedPlace p = *this;
#if GPU_CUDA
        p.at_ += elements * (uint32_t)sizeof(E);
#else
        p.at_ += elements;
#endif
        return p;
    }

    // copy16 to that many elements from here.
    __device__ void copy16(int elements, const void *global) const {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(at_ + elements * (uint32_t)sizeof(E)), "l"(global) : "memory");
#elif GPU_CUDA
        (void)elements, (void)global;
#else
        ::copy16(at_ + elements, global);
#endif
    }

    // The same of what need not stay in the caches.
    __device__ void copy16_once(int elements, const void *global) const {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
        constexpr uint64_t kReadOnce = 0x12F0000000000000; // as L2 is told
        asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(at_ + elements * (uint32_t)sizeof(E)), "l"(global), "l"(kReadOnce)
                     : "memory");
#else
        copy16(elements, global);
#endif
    }

  private:
#if GPU_CUDA
    uint32_t at_;
#else
    E *at_;
#endif
};

__device__ inline void end_group() {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until no more than kPending groups are unfinished.
template <int kPending> __device__ inline void wait_copies() {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// 16 bytes at p, or zeros without a read. No branch, so that many can be under
// way.
__device__ inline uint4 load16_if(bool wanted, const void *p) {
    uint4 v = {0, 0, 0, 0};
#if GPU_CUDA
    asm volatile("{\n.reg .pred q;\nsetp.ne.b32 q, %5, 0;\n@q ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
                 : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
                 : "l"(p), "r"((int)wanted));
#else
    if (wanted) v = *static_cast<const uint4 *>(p);
#endif
    return v;
}

// Keeps what uses v behind all load16_if before: else each would be waited for
// before the next is made.
__device__ inline void after_loads(uint4 &v) {
#if GPU_CUDA
    asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w));
#else
    (void)v;
#endif
}

// ---- tile product ---------------------------------------------------------------

__device__ inline float low_half(uint32_t v, half) { return __half2float(__ushort_as_half((unsigned short)(v & 0xffff))); }
__device__ inline float low_half(uint32_t v, bf16) { return __uint_as_float(v << 16); }
__device__ inline float high_half(uint32_t v, half e) { return low_half(v >> 16, e); }
__device__ inline float high_half(uint32_t v, bf16) { return __uint_as_float(v & 0xffff0000u); }

// c [16][8] += a [16][16] · b [16][8] by one warp; all values of c in fp32. With
// g = lane/4 and t = lane%4, pairs (2t, 2t+1) first and (2t+8, 2t+9) second:
//   a  row g first, row g+8 first, row g second, row g+8 second (columns by pair)
//   b  column g first, column g second (rows by pair)
//   c  row g columns 2t and 2t+1, row g+8 columns 2t and 2t+1
template <typename E>
__device__ inline void multiply_tile(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<E, half>)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
    const int lane = threadIdx.x % kWarp, t = lane % 4;
    const uint32_t a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
#pragma unroll
    for (int from = 0; from < 4; from++)
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            const uint32_t top = SHFL(a[2 * pair], lane - t + from), bottom = SHFL(a[2 * pair + 1], lane - t + from);
            const uint32_t left = SHFL(b[pair], 8 * t + from), right = SHFL(b[pair], 8 * t + 4 + from);
            const E e{};
            c[0] += low_half(top, e) * low_half(left, e) + high_half(top, e) * high_half(left, e);
            c[1] += low_half(top, e) * low_half(right, e) + high_half(top, e) * high_half(right, e);
            c[2] += low_half(bottom, e) * low_half(left, e) + high_half(bottom, e) * high_half(left, e);
            c[3] += low_half(bottom, e) * low_half(right, e) + high_half(bottom, e) * high_half(right, e);
        }
#endif
}
