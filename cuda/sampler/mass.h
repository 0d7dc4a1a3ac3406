// mass.h: the arithmetic of infer/sampler (mass.go, philox.go, cut.go), which is defined
// bit for bit. Every multiplication and addition is rounded by itself: files that include
// this are compiled without fused operations. A mass is 2^((z-m)*scale), an integer in
// units of 2^-44.
#pragma once

#include "device/gpu.h"

namespace sampling {

constexpr float kSoftmaxScale = 1.44269504088896340736f; // log2(e)
constexpr float kNegInf = -INFINITY;
constexpr float kMaxFloat = 3.402823466e+38f;

// What a logit counts as: NaN as -Inf, +Inf as the largest float.
__device__ inline float tame(float z) { return fminf(fmaxf(z, kNegInf), kMaxFloat); }

// (z-m)*scale, but at least -64: below that the mass is 0.
__device__ inline float power(float z, float m, float scale) { return fmaxf((z - m) * scale, -64.0f); }

// 2^y in units of 2^-44, to the nearest integer.
__device__ inline uint64_t mass(float y) {
    const float t = y + 12582912.0f; // 3 * 2^22: the nearest integer is in the low bits
    const float f = y - (t - 12582912.0f);
    float p = 0x1.41fbc2p-13f * f + 0x1.5f3e54p-10f;
    p = p * f + 0x1.3b2d4cp-07f;
    p = p * f + 0x1.c6aee8p-05f;
    p = p * f + 0x1.ebfbdcp-03f;
    p = p * f + 0x1.62e430p-01f;
    p = p * f + 1.0f;
    const uint32_t weight = __float_as_uint(p) + (__float_as_uint(t) << 23); // from 2^-64 to 1
    // The double weight * 2^44, made of its bits; adding 2^52 rounds it to the low bits.
    const double large = __hiloint2double((int)((weight >> 3) + (1023 - 127 + 44 << 20)), (int)(weight << 29)) + 4503599627370496.0;
    return (uint64_t)__double_as_longlong(large) & 0xfffffffffffffull;
}

// The mass of a value z: 2^((z-m)*scale).
__device__ inline uint64_t mass(float z, float m, float scale) { return mass(power(z, m, scale)); }

// An integer with the order of the floats; -0 and +0 are equal.
__device__ inline uint32_t key_of(float z) {
    const uint32_t b = __float_as_uint(z + 0.0f);
    return b >> 31 ? ~b : b | 0x80000000u;
}

__device__ inline float z_of(uint32_t key) { return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key); }

// Word number n of the random stream of a seed: Philox4x32-10.
__device__ inline uint64_t random_word(uint64_t seed, uint64_t n) {
    uint32_t c0 = (uint32_t)n, c1 = (uint32_t)(n >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t hi0 = __umulhi(0xD2511F53u, c0), lo0 = 0xD2511F53u * c0;
        const uint32_t hi1 = __umulhi(0xCD9E8D57u, c2), lo1 = 0xCD9E8D57u * c2;
        c0 = hi1 ^ c1 ^ k0;
        c1 = lo1;
        c2 = hi0 ^ c3 ^ k1;
        c3 = lo0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (uint64_t)c0 | (uint64_t)c1 << 32;
}

} // namespace sampling
