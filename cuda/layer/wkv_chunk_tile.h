// wkv_chunk_tile.h: products of small tiles by one warp, and their operands. Tensor cores
// do them where the device has some (compute capability 8.0 and later); elsewhere, and
// with ROOKERY_PLAIN_TILES, plain arithmetic gives the same up to rounding.
//
// For C += A B with C 16x8, A 16x16 and B 16x8, lane 4g+q (g below 8, q below 4) holds:
//   c[0], c[1]: row g, columns 2q and 2q+1;  c[2], c[3]: the same of row g+8
//   a[0]: row g, columns 2q and 2q+1;  a[1]: row g+8;  a[2], a[3]: 8 columns further
//   b0: column g, rows 2q and 2q+1;  b1: 8 rows further
// Values of A and B are pairs of T (half or bf16), the first in the low bits. So two
// neighbouring tiles of C, rounded to pairs, are an operand A, and the transpose of C is
// an operand B.
#pragma once

#include "device/gpu.h"

#if GPU_CUDA && !defined(ROOKERY_PLAIN_TILES) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define GPU_TILES 1
#else
#define GPU_TILES 0
#endif

namespace chunk {

// ---- pairs ------------------------------------------------------------------

template <typename T> __device__ uint32_t pack(float x, float y);
template <typename T> __device__ void unpack(uint32_t pair, float &x, float &y);

__device__ inline float half_of_bits(uint32_t bits) {
    union {
        uint16_t u;
        half h;
    } c;
    c.u = (uint16_t)bits;
    return to_float(c.h);
}

template <> __device__ inline void unpack<half>(uint32_t pair, float &x, float &y) {
    x = half_of_bits(pair);
    y = half_of_bits(pair >> 16);
}

template <> __device__ inline void unpack<bf16>(uint32_t pair, float &x, float &y) {
    x = __uint_as_float(pair << 16);
    y = __uint_as_float(pair & 0xffff0000u);
}

#if GPU_TILES
template <> __device__ inline uint32_t pack<half>(float x, float y) {
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
}

template <> __device__ inline uint32_t pack<bf16>(float x, float y) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
}
#else
template <> __device__ inline uint32_t pack<half>(float x, float y) {
    union {
        half h[2];
        uint32_t u;
    } c;
    c.h[0] = from_float<half>(x);
    c.h[1] = from_float<half>(y);
    return c.u;
}

template <> __device__ inline uint32_t pack<bf16>(float x, float y) {
    return from_float<bf16>(x).bits | (uint32_t)from_float<bf16>(y).bits << 16;
}
#endif

// A pair in two terms: hi + lo is x to twice the bits of T.
template <typename T> __device__ inline void split(uint32_t &hi, uint32_t &lo, float x, float y) {
    float hx, hy;
    hi = pack<T>(x, y);
    unpack<T>(hi, hx, hy);
    lo = pack<T>(x - hx, y - hy);
}

// ---- products ---------------------------------------------------------------

template <typename T> __device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

#if GPU_TILES
template <> __device__ inline void multiply<half>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <> __device__ inline void multiply<bf16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#else
template <typename T> __device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    const int lane = threadIdx.x % kWarp, q = lane % 4;
#pragma unroll
    for (int pair = 0; pair < 8; pair++) { // k = 2 pair, 2 pair + 1
        const int from = pair % 4, high = pair / 4;
        float x[2][2], y[2][2];
        unpack<T>(SHFL(a[2 * high], lane - q + from), x[0][0], x[0][1]);
        unpack<T>(SHFL(a[2 * high + 1], lane - q + from), x[1][0], x[1][1]);
        unpack<T>(SHFL(high ? b1 : b0, 8 * q + from), y[0][0], y[0][1]);
        unpack<T>(SHFL(high ? b1 : b0, 8 * q + 4 + from), y[1][0], y[1][1]);
#pragma unroll
        for (int i = 0; i < 4; i++) c[i] += x[i / 2][0] * y[i % 2][0] + x[i / 2][1] * y[i % 2][1];
    }
}
#endif

// An operand A in two terms.
struct Operand {
    uint32_t hi[4], lo[4];
};

// From two neighbouring tiles of C.
template <typename T> __device__ inline void split(Operand &a, const float (&left)[4], const float (&right)[4]) {
    split<T>(a.hi[0], a.lo[0], left[0], left[1]);
    split<T>(a.hi[1], a.lo[1], left[2], left[3]);
    split<T>(a.hi[2], a.lo[2], right[0], right[1]);
    split<T>(a.hi[3], a.lo[3], right[2], right[3]);
}

// C += A B with B in two terms as well, without the product of the two low terms.
template <typename T>
__device__ inline void multiply(float (&c)[4], const Operand &a, uint32_t hi0, uint32_t hi1, uint32_t lo0, uint32_t lo1) {
    multiply<T>(c, a.hi, hi0, hi1);
    multiply<T>(c, a.lo, hi0, hi1);
    multiply<T>(c, a.hi, lo0, lo1);
}

// ---- loads from shared memory -----------------------------------------------

// Four 8x8 matrices of 16-bit values. Lane 8i+j gives the address of row j of
// matrix i, 16-byte aligned. Plain: r[i] is row g, columns 2q and 2q+1 of matrix
// i; transposed: column g, rows 2q and 2q+1.
#if GPU_TILES
__device__ inline void load_matrices_transposed(uint32_t (&r)[4], const void *row) {
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
#else
__device__ inline void load_matrices_transposed(uint32_t (&r)[4], const void *row) {
    const int lane = threadIdx.x % kWarp, g = lane / 4, q = lane % 4;
    const unsigned long long at = (unsigned long long)row;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint16_t *top = (const uint16_t *)SHFL(at, 8 * i + 2 * q);
        const uint16_t *next = (const uint16_t *)SHFL(at, 8 * i + 2 * q + 1);
        r[i] = top[g] | (uint32_t)next[g] << 16;
    }
}
#endif

// ---- functions --------------------------------------------------------------

// 2^x and 1/x to about an ulp; subnormal numbers are flushed to zero.
#if GPU_TILES
__device__ inline float power_of_2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#else
__device__ inline float power_of_2(float x) { return exp2f(x); }
__device__ inline float reciprocal(float x) { return 1.0f / x; }
#endif

// ---- ordering and copies ----------------------------------------------------

// Lets all lanes of the warp see what they wrote to shared memory.
__device__ inline void warp_barrier() {
#if GPU_CUDA
    __syncwarp();
#else
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#endif
}

// Copies 16 bytes from global to shared memory, complete when the thread has waited for the
// group that it committed them in. Without tensor cores it copies at once.
#if GPU_TILES
__device__ inline void copy16(void *shared, const void *global) {
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending> __device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory"); }
#else
__device__ inline void copy16(void *shared, const void *global) { *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global); }
__device__ inline void commit_copies() {}
template <int kPending> __device__ inline void wait_copies() {}
#endif

// Allows a kernel more shared memory than 48 KiB. Where the device has less, the launch
// fails.
template <typename K> void allow_shared(K *kernel, size_t bytes) {
    (void)GPU_NAME(FuncSetAttribute)((const void *)kernel, GPU_NAME(FuncAttributeMaxDynamicSharedMemorySize), (int)bytes);
}

} // namespace chunk
