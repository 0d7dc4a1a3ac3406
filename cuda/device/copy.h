// copy.h: asynchronous copies of 16 bytes from global to shared memory, and loads of
// 16 bytes under a condition. Devices without them copy at once.
#pragma once

#include "device/gpu.h"

// Copies complete in groups. After wait_copies a thread sees its own copies; after a barrier
// it sees those of the other threads too.
__device__ inline void copy16(void *shared, const void *global) {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global)
                 : "memory");
#else
    *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global);
#endif
}

// A place in shared memory, converted to an address once: converting it for every copy takes
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

    // The same for values that are read once and need not stay in the caches.
    __device__ void copy16_once(int elements, const void *global) const {
#if GPU_CUDA && __CUDA_ARCH__ >= 800
        constexpr uint64_t kReadOnce = 0x12F0000000000000; // a hint to the L2 cache
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

// 16 bytes at p, or zeros without a read. There is no branch, so that many loads can be under
// way at once.
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

// Keeps uses of v behind all load16_if before it. Otherwise the compiler would wait for each
// load before it starts the next.
__device__ inline void after_loads(uint4 &v) {
#if GPU_CUDA
    asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w));
#else
    (void)v;
#endif
}
