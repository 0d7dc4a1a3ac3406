// cut.h: the value at which top_k or top_p cuts a row, found by its team of blocks. All
// sums are of integers, so that their order does not matter.
#pragma once

#include "sampler/row.h"

namespace sampling {

constexpr int kBinBits = 11, kBins = 1 << kBinBits, kGroupBins = kWarp, kGroups = kBins / kGroupBins;
constexpr float kMassBits = 45;  // a mass is zero beyond this distance from the largest value, in powers of two
constexpr int kShort = 512;      // values of a short list, which each block handles by itself
constexpr int kMaxChunks = 1024; // of a row

// A value of a short list.
struct Short {
    uint64_t measure;
    uint32_t key;
    int32_t id;
};

// Shared memory of a block.
template <typename T> struct Work {
    RowInput in;
    int chunks_each; // of a block of the team
    Extremes extremes[T::kWarps], own; // of warps, and the block's
    Look look;
    uint2 bin[kBins + kWarp];            // sums in this block, in two words; see Usual::fill
    alignas(16) uint64_t group[kGroups]; // of kGroupBins of them
    alignas(16) uint64_t groups[T::kBlocks][kGroups], fine[T::kBlocks][kGroupBins]; // of each block: its groups, and the bins of one group
    Short mine[kShort], all[kShort];
    uint2 chunk[kMaxChunks / T::kBlocks], above; // masses above the cut: of each chunk, of the block
    uint2 sums[T::kBlocks];                      // of each block: its masses above the cut, later all that are kept
    uint64_t total[T::kWarps], pack[kPacks];
    uint64_t word;        // of the row's random stream
    int count, id;        // values in mine; the picked id
    uint32_t least, most; // keys of mine
    uint32_t best, theta; // keys: of the block's largest value, and where the cut is
};

// Measures of values: their mass; one each for values from `least` up; one each for values
// equal to theta.
struct Masses {
    float m, scale;
    __device__ uint64_t operator()(int, float z) const { return mass(z, m, scale); }
};

struct Number {
    float least;
    __device__ uint64_t operator()(int, float z) const { return z >= least; }

    __device__ uint64_t sum(int, const float (&z)[kPack]) const { return (z[0] >= least) + (z[1] >= least) + (z[2] >= least) + (z[3] >= least); }
};

struct Ties {
    float theta;
    __device__ uint64_t operator()(int, float z) const { return z == theta; }

    __device__ uint64_t sum(int, const float (&z)[kPack]) const { return (z[0] == theta) + (z[1] == theta) + (z[2] == theta) + (z[3] == theta); }
};

// The distribution of a draw, as in infer/sampler: the mass of each value above theta, and
// tie_mass for each value equal to theta with an id up to tie_last.
struct Kept {
    float m, scale, theta;
    int tie_last;
    uint64_t tie_mass;

    __device__ uint64_t operator()(int id, float z) const {
        if (z > theta) return mass(z, m, scale);
        return z == theta && id <= tie_last ? tie_mass : 0;
    }

    __device__ uint64_t sum(int id, const float (&z)[kPack]) const {
        uint64_t sum = 0;
        if (fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])) < theta) return 0;
#pragma unroll
        for (int e = 0; e < kPack; e++) {
            const uint64_t own = mass(z[e], m, scale);
            sum += z[e] > theta ? own : z[e] == theta && id + e <= tie_last ? tie_mass : 0;
        }
        return sum;
    }
};

// The masses of values from theta up.
struct FromUp {
    float m, scale, theta;
    __device__ uint64_t operator()(int, float z) const { return z >= theta ? mass(z, m, scale) : 0; }
};

// A number; or a share of the sum, rounded up, if share is not 0.
struct Target {
    uint64_t number;
    double share;
};

// Where a truncation cuts: at the `ties` values with this key, of which `rest` (a mass or a
// count) is still kept. Key 0 cuts nothing.
struct Cutoff {
    uint32_t key;
    int ties;
    uint64_t rest;
};

// ---- bins ----------------------------------------------------------------------

// Bins of equal width by distance from the largest value; the last bin is open.
struct Distances {
    float largest, resolution;

    __device__ Distances(float largest, float widest) : largest(largest), resolution((kBins - 1) / widest) {}

    __device__ int of(float z) const { return (int)fminf(fmaxf((largest - z) * resolution, 0), kBins - 1); }
};

// Bins of keys from least to most; kBins for other keys.
struct Keys {
    uint32_t least, most;
    int shift;

    __device__ static Keys between(uint32_t least, uint32_t most) { return {least, most, max(0, 32 - kBinBits - __clz((int)(most - least)))}; }

    __device__ int of(float z) const {
        const uint32_t key = key_of(z);
        return key >= least && key <= most ? (int)((most - key) >> shift) : kBins;
    }
};

// All values beyond this distance, in powers of two, together have less than a quarter of
// 1-top_p of the largest mass, or none: top_p does not cut among them.
__device__ inline float widest(float top_p, int limit) { return fminf(kMassBits, 2 + log2f((float)limit) - log2f(1 - top_p)); }

template <typename T> __device__ void clear_bins(Work<T> &w) {
    for (int i = threadIdx.x; i < kBins + kWarp; i += blockDim.x) w.bin[i] = {0, 0};
}

__device__ inline uint64_t whole(uint2 sum) { return (uint64_t)sum.y << 32 | sum.x; }

// Two atomic additions of 32 bits, because one of 64 bits would be a loop.
__device__ inline void add_to(uint2 &sum, uint64_t v) {
    const uint32_t low = (uint32_t)v, before = atomicAdd(&sum.x, low), high = (uint32_t)(v >> 32) + (before + low < before);
    if (high) atomicAdd(&sum.y, high);
}

// sum += v in shared memory, if v is not 0; without a branch.
__device__ inline void add_if_any(uint32_t *sum, uint32_t v) {
#if GPU_CUDA
    asm volatile("{\n.reg .pred any;\nsetp.ne.b32 any, %1, 0;\n@any red.shared.add.u32 [%0], %1;\n}" ::"r"((uint32_t)__cvta_generic_to_shared(sum)), "r"(v)
                 : "memory");
#else
    if (v > 0) atomicAdd(sum, v);
#endif
}

// Adds the measures of this block's values to its bins, which are empty, four at a time.
// Those of the last bin, which may get most of a row, are added up first.
template <typename T, typename B, typename F> __device__ void fill_bins(Work<T> &w, const Part &part, const B bins, const F measure) {
    uint64_t last = 0;
    part.each([&](int id, const float (&z)[kPack]) {
        uint64_t v[kPack];
        uint32_t before[kPack];
        int bin[kPack];
#pragma unroll
        for (int e = 0; e < kPack; e++) {
            v[e] = measure(id + e, z[e]);
            bin[e] = bins.of(z[e]);
            if (bin[e] == kBins - 1) last += v[e];
            if (bin[e] >= kBins - 1) v[e] = 0;
        }
#pragma unroll
        for (int e = 0; e < kPack; e++)
            if (v[e] > 0) before[e] = atomicAdd(&w.bin[bin[e]].x, (uint32_t)v[e]);
#pragma unroll
        for (int e = 0; e < kPack; e++) {
            const uint32_t low = (uint32_t)v[e], high = (uint32_t)(v[e] >> 32) + (v[e] > 0 && before[e] + low < low);
            if (high) atomicAdd(&w.bin[bin[e]].y, high);
        }
    });
    last = warp_sum(last);
    if (threadIdx.x % kWarp == 0 && last > 0) add_to(w.bin[kBins - 1], last);
}

// Adds up the block's bins by groups; what fill leaves behind the bins belongs to the last
// group.
template <typename T> __device__ void sum_groups(Work<T> &w) {
    constexpr int kEach = kBins / T::kThreads;
    uint64_t sum = 0;
#pragma unroll
    for (int k = 0; k < kEach; k++) {
        const int bin = threadIdx.x * kEach + (k + threadIdx.x) % kEach; // lanes read different banks
        sum += whole(w.bin[bin]);
        if (bin >= kBins - kWarp) sum += whole(w.bin[bin + kWarp]);
    }
#pragma unroll
    for (int o = 1; o < kGroupBins / kEach; o <<= 1) sum += SHFL_XOR(sum, o);
    if (threadIdx.x * kEach % kGroupBins == 0) w.group[threadIdx.x * kEach / kGroupBins] = sum;
}

// The first bin at which the running sum over the team's bins reaches the target; *left is
// what is missing before that bin. `meanwhile` is called while other blocks arrive.
template <typename T, typename F> __device__ int find_bin(Work<T> &w, const Target target, uint64_t *left, F meanwhile) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    __syncthreads();
    sum_groups(w);
    T::arrive();
    meanwhile();
    T::wait();
    if (warp < T::kBlocks) reinterpret_cast<ulonglong2 *>(w.groups[warp])[lane] = reinterpret_cast<const ulonglong2 *>(T::at(w.group, warp))[lane];
    __syncthreads();
    uint64_t first = 0, second = 0; // the lane's two groups
#pragma unroll
    for (int b = 0; b < T::kBlocks; b++) {
        const ulonglong2 v = reinterpret_cast<const ulonglong2 *>(w.groups[b])[lane];
        first += v.x;
        second += v.y;
    }
    uint64_t rest = target.number;
    if (target.share > 0) rest = max(1ull, (unsigned long long)ceil(target.share * (double)warp_sum(first + second)));
    rest--; // "more than" is "at least"
    int group = 2 * find_lane(first + second, &rest);
    const uint64_t before = SHFL(first, group / 2);
    if (rest >= before) {
        rest -= before;
        group++;
    }
    if (warp < T::kBlocks) w.fine[warp][lane] = whole(T::at(w.bin, warp)[group * kGroupBins + lane]);
    __syncthreads();
    uint64_t sum = 0;
#pragma unroll
    for (int b = 0; b < T::kBlocks; b++) sum += w.fine[b][lane];
    const int bin = group * kGroupBins + find_lane(sum, &rest);
    *left = rest + 1;
    return bin;
}

// ---- cuts -----------------------------------------------------------------------

static_assert(kGroups == 2 * kWarp, "a lane has two groups");

// Joins the team's short lists, of n values in all.
template <typename T> __device__ void join_lists(Work<T> &w, int n) {
    int count[T::kBlocks];
#pragma unroll
    for (int b = 0; b < T::kBlocks; b++) count[b] = *T::at(&w.count, b);
    for (int i = threadIdx.x; i < n; i += T::kThreads) {
        int at = i, block = 0;
#pragma unroll
        for (int b = 0; b < T::kBlocks - 1; b++)
            if (block == b && at >= count[b]) at -= count[b], block++;
        w.all[i] = T::at(w.mine, block)[at];
    }
    __syncthreads();
}

// The cut among the n values of w.all, whose keys are from least to most. Each block
// computes it for itself, narrowing the range of keys by 2^kFewBits at a time. Bins are
// empty before and after.
template <typename T> __device__ Cutoff cut_short(Work<T> &w, int n, uint64_t target, uint32_t least, uint32_t most) {
    constexpr int kFewBits = 8, kEach = (1 << kFewBits) / kWarp;
    const int lane = threadIdx.x % kWarp;
    uint64_t rest = target - 1;
    while (least < most) {
        const int shift = max(0, 32 - kFewBits - __clz((int)(most - least)));
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            if (const uint32_t key = w.all[i].key; key >= least && key <= most) add_to(w.bin[(most - key) >> shift], w.all[i].measure);
        __syncthreads();
        uint64_t sum[kEach], all = 0;
#pragma unroll
        for (int e = 0; e < kEach; e++) all += sum[e] = whole(w.bin[lane * kEach + e]);
        const int from = find_lane(all, &rest);
        int bin = 0;
#pragma unroll
        for (int e = 0; e < kEach - 1; e++) {
            const uint64_t v = SHFL(sum[e], from);
            if (bin == e && rest >= v) rest -= v, bin++;
        }
        most -= (uint32_t)(from * kEach + bin) << shift;
        least = max(least, most - ((1u << shift) - 1));
        __syncthreads();
        for (int i = threadIdx.x; i < 1 << kFewBits; i += blockDim.x) w.bin[i] = {0, 0};
        __syncthreads();
    }
    int ties = 0;
    for (int i = 0; i < n; i += blockDim.x) ties += __syncthreads_count(i + (int)threadIdx.x < n && w.all[i + (int)threadIdx.x].key == most);
    return {most, ties, rest + 1};
}

// The sizes and keys of all short lists of the team.
struct Listed {
    int n;
    uint32_t least, most; // keys
};

// Puts the values of a bin on the block's short list while there is room.
template <typename T, typename B, typename F> __device__ Listed list_bin(Work<T> &w, const Part &part, const B bins, int bin, const F measure) {
    if (threadIdx.x == 0) {
        w.count = 0;
        w.least = ~0u;
        w.most = 0;
    }
    __syncthreads();
    part.each([&](int id, const float (&z)[kPack]) {
        bool has[kPack];
#pragma unroll
        for (int e = 0; e < kPack; e++) has[e] = bins.of(z[e]) == bin;
        if (!(has[0] | has[1] | has[2] | has[3])) return;
#pragma unroll 1
        for (int e = 0; e < kPack; e++) {
            if (!(e == 0 ? has[0] : e == 1 ? has[1] : e == 2 ? has[2] : has[3])) continue;
            const float own = e == 0 ? z[0] : e == 1 ? z[1] : e == 2 ? z[2] : z[3];
            const int at = atomicAdd(&w.count, 1);
            const uint32_t key = key_of(own);
            atomicMin(&w.least, key);
            atomicMax(&w.most, key);
            if (at >= kShort) continue;
            w.mine[at] = {measure(id + e, own), key, id + e};
        }
    });
    T::sync();
    Listed all{0, ~0u, 0};
#pragma unroll
    for (int b = 0; b < T::kBlocks; b++) {
        all.n += *T::at(&w.count, b);
        all.least = min(all.least, *T::at(&w.least, b));
        all.most = max(all.most, *T::at(&w.most, b));
    }
    clear_bins(w);
    return all;
}

// The cut among values whose keys are from least to most, too many for a list.
template <typename T, typename F> __device__ __noinline__ Cutoff cut_many(Work<T> &w, const Part &part, Listed found, uint64_t target, const F measure) {
    while (found.n > kShort) {
        if (found.least == found.most) return {found.least, found.n, target};
        const Keys keys = Keys::between(found.least, found.most);
        __syncthreads();
        fill_bins(w, part, keys, measure);
        const int bin = find_bin(w, {target, 0}, &target, [] {});
        found = list_bin(w, part, keys, bin, measure);
    }
    join_lists(w, found.n);
    return cut_short(w, found.n, target, found.least, found.most);
}

// The weighted quantile of the row's values: the largest key such that the values with that
// key or a larger one measure at least target, and what remains of target after those with
// a larger key. A share is a share of the whole row's measure. Bins are empty before; after
// it, they are empty behind the next barrier.
template <typename T, typename F> __device__ Cutoff cut(Work<T> &w, const Part &part, const Distances distances, Target target, const F measure) {
    fill_bins(w, part, distances, measure);
    const int bin = find_bin(w, target, &target.number, [] {});
    const Listed found = list_bin(w, part, distances, bin, measure);
    if (found.n > kShort) return cut_many(w, part, found, target.number, measure);
    join_lists(w, found.n);
    return cut_short(w, found.n, target.number, found.least, found.most);
}

} // namespace sampling
