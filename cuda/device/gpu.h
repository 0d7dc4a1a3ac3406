// gpu.h: the vendor's runtime, number types and shuffles under names of our own.
//
// Only device/ names CUDA or HIP; no other folder may use cuda*, hip*, __shfl* or a
// vendor's number types. Kernels are written for logical warps of 32 lanes: a hardware
// wave of 64 holds two of them, and every shuffle below has width 32.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__HIPCC__)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define GPU_HIP 1
#define GPU_NAME(x) hip##x
#define gpuDriverTooOld hipErrorInsufficientDriver
#define gpuNoDevice hipErrorNoDevice
#define gpuOutOfMemory hipErrorOutOfMemory
#define gpuNotReady hipErrorNotReady
#define gpuMallocPinned(p, n) hipHostMalloc((void **)(p), (n), 0)
#define gpuFreePinned hipHostFree
#define SHFL_XOR(v, mask) __shfl_xor((v), (mask), 32)
#define SHFL_UP(v, by) __shfl_up((v), (by), 32)
#define SHFL(v, lane) __shfl((v), (lane), 32)
#define BALLOT(p) ((uint32_t)(__ballot(p) >> (threadIdx.x % warpSize / kWarp * kWarp)))
#define SYNC_WARP() __threadfence_block() // lanes run together
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define GPU_CUDA 1
#define GPU_NAME(x) cuda##x
#define gpuDriverTooOld cudaErrorInsufficientDriver
#define gpuNoDevice cudaErrorNoDevice
#define gpuOutOfMemory cudaErrorMemoryAllocation
#define gpuNotReady cudaErrorNotReady
#define gpuMallocPinned(p, n) cudaMallocHost((void **)(p), (n))
#define gpuFreePinned cudaFreeHost
#define SHFL_XOR(v, mask) __shfl_xor_sync(0xffffffffu, (v), (mask), 32)
#define SHFL_UP(v, by) __shfl_up_sync(0xffffffffu, (v), (by), 32)
#define SHFL(v, lane) __shfl_sync(0xffffffffu, (v), (lane), 32)
#define BALLOT(p) __ballot_sync(0xffffffffu, (p))
#define SYNC_WARP() __syncwarp()
#endif

using gpuError = GPU_NAME(Error_t);
using gpuStream = GPU_NAME(Stream_t);
using gpuEvent = GPU_NAME(Event_t);
using gpuGraph = GPU_NAME(Graph_t);
using gpuGraphExec = GPU_NAME(GraphExec_t);
#define gpuSuccess GPU_NAME(Success)
#define gpuErrorString GPU_NAME(GetErrorString)
#define gpuLastError GPU_NAME(GetLastError)
#define gpuMalloc GPU_NAME(Malloc)
#define gpuFree GPU_NAME(Free)
#define gpuMemGetInfo GPU_NAME(MemGetInfo)
#define gpuMemcpyAsync GPU_NAME(MemcpyAsync)
#define gpuMemsetAsync GPU_NAME(MemsetAsync)
#define gpuToDevice GPU_NAME(MemcpyHostToDevice)
#define gpuToHost GPU_NAME(MemcpyDeviceToHost)
#define gpuOnDevice GPU_NAME(MemcpyDeviceToDevice)
#define gpuSetDevice GPU_NAME(SetDevice)
#define gpuGetDeviceCount GPU_NAME(GetDeviceCount)
#define gpuGetDeviceProperties GPU_NAME(GetDeviceProperties)
#define gpuDriverVersion GPU_NAME(DriverGetVersion)
#define gpuDeviceSynchronize GPU_NAME(DeviceSynchronize)
#define gpuStreamCreate(s) GPU_NAME(StreamCreateWithFlags)((s), GPU_NAME(StreamNonBlocking))
#define gpuStreamDestroy GPU_NAME(StreamDestroy)
#define gpuStreamSynchronize GPU_NAME(StreamSynchronize)
#define gpuStreamWaitEvent(s, e) GPU_NAME(StreamWaitEvent)((s), (e), 0)
#define gpuEventCreate(e) GPU_NAME(EventCreate)((e))
#define gpuEventCreateUntimed(e) GPU_NAME(EventCreateWithFlags)((e), GPU_NAME(EventDisableTiming))
#define gpuEventDestroy GPU_NAME(EventDestroy)
#define gpuEventRecord GPU_NAME(EventRecord)
#define gpuEventSynchronize GPU_NAME(EventSynchronize)
#define gpuEventQuery GPU_NAME(EventQuery)
#define gpuEventElapsed GPU_NAME(EventElapsedTime)
#define gpuStreamBeginCapture(s) GPU_NAME(StreamBeginCapture)((s), GPU_NAME(StreamCaptureModeThreadLocal))
#define gpuStreamEndCapture GPU_NAME(StreamEndCapture)
#define gpuGraphInstantiate(x, g) GPU_NAME(GraphInstantiateWithFlags)((x), (g), 0)
#define gpuGraphLaunch GPU_NAME(GraphLaunch)
#define gpuGraphDestroy GPU_NAME(GraphDestroy)
#define gpuGraphExecDestroy GPU_NAME(GraphExecDestroy)
#if GPU_HIP
using gpuProperties = hipDeviceProp_t;
#else
using gpuProperties = cudaDeviceProp;
#endif

constexpr int kWarp = 32;

// ---- number types -----------------------------------------------------------

using half = __half;

// bf16 as its bits, so that no vendor's class is needed.
struct bf16 {
    uint16_t bits;
};

constexpr float kHalfMax = 65504.0f;

__host__ __device__ inline float to_float(float v) { return v; }

__host__ __device__ inline float to_float(half v) { return __half2float(v); }

__host__ __device__ inline float to_float(bf16 v) {
    union {
        uint32_t u;
        float f;
    } c;
    c.u = (uint32_t)v.bits << 16;
    return c.f;
}

template <typename E> __host__ __device__ E from_float(float v);

template <> __host__ __device__ inline float from_float<float>(float v) { return v; }

template <> __host__ __device__ inline half from_float<half>(float v) { return __float2half_rn(v); }

// Rounds to nearest, ties to even; NaN stays NaN.
template <> __host__ __device__ inline bf16 from_float<bf16>(float v) {
#if GPU_CUDA && defined(__CUDA_ARCH__)
    return bf16{__bfloat16_as_ushort(__float2bfloat16_rn(v))};
#else
    union {
        float f;
        uint32_t u;
    } c;
    c.f = v;
    if ((c.u & 0x7fffffffu) > 0x7f800000u) return bf16{0x7fff};
    return bf16{(uint16_t)((c.u + 0x7fffu + ((c.u >> 16) & 1)) >> 16)};
#endif
}

// Clamps values to the range of fp16 first.
template <typename E> __device__ inline E from_float_bounded(float v) { return from_float<E>(v); }

template <> __device__ inline half from_float_bounded<half>(float v) {
    return __float2half_rn(fminf(fmaxf(v, -kHalfMax), kHalfMax));
}

// Two values as a pair of fp16, the first in the low bits; rounded towards zero, so that
// finite values stay finite.
__device__ inline uint32_t halves_toward_zero(float a, float b) {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    uint32_t v;
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(b), "f"(a));
    return v;
#else
    return (uint32_t)__half_as_ushort(__float2half_rz(a)) | (uint32_t)__half_as_ushort(__float2half_rz(b)) << 16;
#endif
}

// ---- 16-byte access ---------------------------------------------------------

// As many E as fit 16 bytes.
template <typename E> struct alignas(16) Pack {
    static constexpr int size = 16 / (int)sizeof(E);
    E v[size];
};

// Loads and stores of values that are next used in the next step: they pass the caches.
template <typename E> __device__ inline Pack<E> load_once(const Pack<E> *p) {
    union {
        uint4 bits;
        Pack<E> pack;
    } u;
#if GPU_CUDA
    u.bits = __ldcs(reinterpret_cast<const uint4 *>(p));
#else
    u.pack = *p;
#endif
    return u.pack;
}

template <typename E> __device__ inline void store_once(Pack<E> *p, const Pack<E> &v) {
#if GPU_CUDA
    __stcs(reinterpret_cast<uint4 *>(p), *reinterpret_cast<const uint4 *>(&v));
#else
    *p = v;
#endif
}

// Eight values as floats. p must be 16-byte aligned (32 for float is not needed).
template <typename E> __device__ inline void load8(float (&f)[8], const E *p) {
    constexpr int n = Pack<E>::size;
#pragma unroll
    for (int k = 0; k < 8 / n; k++) {
        Pack<E> q = reinterpret_cast<const Pack<E> *>(p)[k];
#pragma unroll
        for (int i = 0; i < n; i++) f[k * n + i] = to_float(q.v[i]);
    }
}

template <typename E> __device__ inline void store8(E *p, const float (&f)[8]) {
    constexpr int n = Pack<E>::size;
#pragma unroll
    for (int k = 0; k < 8 / n; k++) {
        Pack<E> q;
#pragma unroll
        for (int i = 0; i < n; i++) q.v[i] = from_float<E>(f[k * n + i]);
        reinterpret_cast<Pack<E> *>(p)[k] = q;
    }
}

// ---- reductions -------------------------------------------------------------

__device__ inline float warp_sum(float v) {
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
    return v;
}

__device__ inline float warp_max(float v) {
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) v = fmaxf(v, SHFL_XOR(v, o));
    return v;
}

// Sum over a block of whole warps, at most 32; every thread gets it. shared has
// kWarp floats and may be used again after the next barrier.
__device__ inline float block_sum(float v, float *shared) {
    v = warp_sum(v);
    const int lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
    if (lane == 0) shared[threadIdx.x / kWarp] = v;
    __syncthreads();
    return warp_sum(lane < warps ? shared[lane] : 0.0f);
}

inline int64_t ceil_div(int64_t n, int64_t d) { return (n + d - 1) / d; }
inline int64_t round_up(int64_t n, int64_t d) { return ceil_div(n, d) * d; }
