// mma.h: the product of one 16 x 8 tile by a warp: on tensor cores, or by shuffles on
// devices without them.
#pragma once

#include <type_traits>

#include "device/gpu.h"

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
