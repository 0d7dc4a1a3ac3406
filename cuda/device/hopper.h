// hopper.h: instructions that only Hopper (sm_90a) has: barriers in shared memory that
// count bytes, copies of tiles by the tensor copy engine (TMA), matrix products of a
// warpgroup (wgmma), and clusters of blocks. Other devices run the same products by
// blaslt.h.
//
// A tile in shared memory has lines of 128 bytes (64 elements of 16 bits) in groups of
// eight; each group begins at a multiple of 1024 bytes and is swizzled by the copy
// engine.
#pragma once

#include <type_traits>

#include "device/gpu.h"

// Whether this build has code for Hopper; the Makefile says so.
#if GPU_CUDA && defined(ROOKERY_HOPPER)
#define HOPPER_HOST 1
#else
#define HOPPER_HOST 0
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER_DEVICE 1
#else
#define HOPPER_DEVICE 0
#endif

namespace hopper {

// Hints to the L2 cache about a copy.
constexpr uint64_t kReadOnce = 0x12F0000000000000, kReadAgain = 0x14F0000000000000, kReadAsOthers = 0x1000000000000000;

// Whether the current device is a Hopper, and this build has code for it.
inline bool is_current() {
#if HOPPER_HOST
    int device = 0, major = 0, minor = 0;
    return cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
           cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess && major == 9 && minor == 0;
#else
    return false;
#endif
}

} // namespace hopper

#if HOPPER_DEVICE

namespace hopper {

__device__ inline uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// ---- barriers: a phase ends when all have arrived and all bytes are there ----------

__device__ inline void barrier_init(uint64_t *b, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}

// After barrier_init of all barriers, before any use by the copy engine.
__device__ inline void barriers_made() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void arrive_expecting(uint64_t *b, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}

__device__ inline void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory"); }

__device__ inline void wait_phase(uint64_t *b, uint32_t parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra OVER;\nbra AGAIN;\nOVER:\n}" ::"r"(
                     shared_address(b)),
                 "r"(parity)
                 : "memory");
}

// ---- tiles from memory -------------------------------------------------------------

// Prefetches a tensor map.
__device__ inline void bring_map(const void *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// Copies the map's box that begins at column x of row y; b counts its bytes.
__device__ inline void copy_tile(uint32_t to, const void *map, uint64_t *b, int x, int y, uint64_t hint) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
                 "l"(map), "r"(shared_address(b)), "r"(x), "r"(y), "l"(hint)
                 : "memory");
}

// ---- registers -------------------------------------------------------------------------

// Changes the registers of a warpgroup's threads; all of its warps call it together.
template <int kLeft> __device__ inline void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kLeft)); }
template <int kNow> __device__ inline void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kNow)); }

// ---- products of a warpgroup ---------------------------------------------------------

// Describes a tile for multiply: eight lines of 128 bytes are 1024 apart.
__device__ inline uint64_t tile_at(uint32_t shared) { return (uint64_t)(shared >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62; }

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending> __device__ inline void wait_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory"); }

#define D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define D32(i) D8(i), D8(i + 8), D8(i + 16), D8(i + 24)
#define R0 "%0,%1,%2,%3,%4,%5,%6,%7"
#define R1 R0 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define R2 R1 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define R3 R2 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define R4 R3 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define R5 R4 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define R6 R5 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define R7 R6 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define PRODUCT_OF(type, n, regs, at_a, at_b, at_across, ...)                                                                                      \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" regs "}, " at_a ", " at_b ", 1, 1, 1, " at_across ", 0;" \
                 : __VA_ARGS__                                                                                                                  \
                 : "l"(a), "l"(b), "n"((int)kAcross))
#define PRODUCT(n, regs, at_a, at_b, at_across, ...)                    \
    if constexpr (std::is_same_v<E, half>)                              \
        PRODUCT_OF("f16", n, regs, at_a, at_b, at_across, __VA_ARGS__); \
    else                                                                \
        PRODUCT_OF("bf16", n, regs, at_a, at_b, at_across, __VA_ARGS__)

// d [64][N] += a [64][16] · b [N][16]ᵀ; with kAcross a lies in memory as [16][64].
// Lane l of warp w has, with g = l/4 and t = l%4, of eight columns n rows 16w+g and
// 16w+g+8, columns 8n+2t and 8n+2t+1: d[4n..4n+3].
template <typename E, int N, bool kAcross> __device__ inline void multiply(float (&d)[N / 2], uint64_t a, uint64_t b) {
    if constexpr (N == 16) {
        PRODUCT("16", R0, "%8", "%9", "%10", D8(0));
    } else if constexpr (N == 32) {
        PRODUCT("32", R1, "%16", "%17", "%18", D8(0), D8(8));
    } else if constexpr (N == 64) {
        PRODUCT("64", R3, "%32", "%33", "%34", D32(0));
    } else {
        static_assert(N == 128, "no such product");
        PRODUCT("128", R7, "%64", "%65", "%66", D32(0), D32(32));
    }
}

#undef PRODUCT
#undef PRODUCT_OF
#undef D8
#undef D32
#undef R0
#undef R1
#undef R2
#undef R3
#undef R4
#undef R5
#undef R6
#undef R7

// An 8 x 8 matrix of 16-bit values: lane l has row l/4, columns 2(l%4) and the next.
__device__ inline uint32_t transpose8(uint32_t v) {
    uint32_t r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(v));
    return r;
}

// ---- blocks of a cluster ------------------------------------------------------------

// A barrier of all threads of the cluster that have not exited, by whole warps. What
// they wrote before it may be read after it.
__device__ inline void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Reads this place of the shared memory of another block of the cluster.
__device__ inline float4 load_of_block(uint32_t shared, int rank) {
    float4 v;
    asm volatile("{\n.reg .u32 there;\nmapa.shared::cluster.u32 there, %4, %5;\nld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(shared), "r"(rank)
                 : "memory");
    return v;
}

__device__ inline void store_shared(uint32_t shared, const float4 &v) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

// A barrier of `threads` threads of the block: all but those that copy.
__device__ inline void barrier_of(int threads) { asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory"); }

} // namespace hopper

#endif
