// sampler_select.h: searches over one row of logits by one block: which key a
// truncation cuts at, and which id a running sum reaches.
//
// A row is looked at in chunks of kDrawChunk ids, one warp to a chunk; chunks
// whose largest value is too small are passed over. All sums are of integers,
// so that their order does not matter.
#pragma once

#include "sampler_mass.h"

namespace sampling {

constexpr int kDrawChunk = 1024;
constexpr int kMaxChunks = 1024;
constexpr int kBlock = 512; // threads of a block that searches
constexpr int kBins = 2048;
constexpr int kList = 1024;

// A chunk as a warp holds it: value j*kPack + e of a lane is that of id
// chunk*kDrawChunk + (j*kWarp + lane)*kPack + e. Ids from limit up are -Inf.
constexpr int kPack = 4;
constexpr int kPacks = kDrawChunk / (kWarp * kPack);

__device__ inline int chunk_id(int chunk, int j, int e) { return chunk * kDrawChunk + (j * kWarp + (int)threadIdx.x % kWarp) * kPack + e; }

// Some of a lane's packs, from number first on; row is aligned to 16 bytes and
// has room for whole chunks.
template <int kCount> struct Values {
    float v[kCount][kPack];

    __device__ Values(const float *row, int chunk, int first) {
#pragma unroll
        for (int j = 0; j < kCount; j++)
            *reinterpret_cast<float4 *>(v[j]) = *reinterpret_cast<const float4 *>(row + chunk_id(chunk, first + j, 0));
    }
};

// One row's values, of which ids from limit up are -Inf.
struct Row {
    const float *z;
    int limit, chunks;
    const float *best; // [chunks]: each one's largest value, tamed

    // Calls f(id, z) for every id of a chunk, by all lanes of a warp together.
    template <typename F> __device__ void each(int chunk, F f) const {
        constexpr int kAtOnce = 4; // packs in registers
#pragma unroll
        for (int first = 0; first < kPacks; first += kAtOnce) {
            const Values<kAtOnce> values(z, chunk, first);
#pragma unroll
            for (int j = 0; j < kAtOnce; j++)
#pragma unroll
                for (int e = 0; e < kPack; e++) {
                    const int id = chunk_id(chunk, first + j, e);
                    f(id, id < limit ? tame(values.v[j][e]) : kNegInf);
                }
        }
    }
};

// Shared memory of a block.
struct Work {
    uint64_t bins[kBins];
    uint64_t chunk[kMaxChunks];
    uint64_t list_measure[kList];
    uint32_t list_key[kList];
    uint64_t warp[kBlock / kWarp];
    uint64_t value; // what one thread tells the others
    uint64_t left;
    uint32_t key;
    int count, id;
};

// A place where a truncation cuts: at the values with a key, of which rest (a
// mass or a count) is still kept. Key 0 cuts nothing.
struct Cutoff {
    uint32_t key;
    uint64_t rest;
};

using ::warp_sum; // of floats

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

// Calls f(id, z) for every id of chunks whose largest value is at least least.
template <typename F> __device__ void for_each(const Row &row, float least, F f) {
    for (int c = threadIdx.x / kWarp; c < row.chunks; c += kBlock / kWarp)
        if (row.best[c] >= least) row.each(c, f);
}

// Fills w.chunk with the sums of measure(id, z) over each chunk, and returns
// their sum. Values below least must measure nothing.
template <typename F> __device__ uint64_t sum_chunks(const Row &row, float least, Work &w, F measure) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    uint64_t all = 0;
    for (int c = warp; c < row.chunks; c += kBlock / kWarp) {
        uint64_t sum = 0;
        if (row.best[c] >= least) {
            row.each(c, [&](int id, float z) { sum += measure(id, z); });
            sum = warp_sum(sum);
        }
        if (lane == 0) w.chunk[c] = sum;
        all += sum;
    }
    if (lane == 0) w.warp[warp] = all;
    __syncthreads();
    uint64_t total = 0;
    for (int i = 0; i < kBlock / kWarp; i++) total += w.warp[i];
    __syncthreads();
    return total;
}

// The first of n sums with which the running sum is more than rest; *left is
// what is left of rest before it. By the first warp; the sums add up to more.
__device__ inline int find(const uint64_t *sums, int n, uint64_t rest, Work &w, uint64_t *left) {
    if (threadIdx.x < kWarp) {
        const int lane = threadIdx.x;
        for (int base = 0; base < n; base += kWarp) {
            const uint64_t v = base + lane < n ? sums[base + lane] : 0, upto = warp_scan(v);
            if (rest < upto && rest >= upto - v) {
                w.id = base + lane;
                w.left = rest - (upto - v);
            }
            const uint64_t group = SHFL(upto, kWarp - 1);
            if (rest < group) break;
            rest -= group;
        }
    }
    __syncthreads();
    const int at = w.id;
    *left = w.left;
    __syncthreads();
    return at;
}

// The smallest id with which the running sum of measure over ids is more than
// rest. w.chunk has the sums of the chunks.
template <typename F> __device__ int pick(const Row &row, uint64_t rest, Work &w, F measure) {
    const int chunk = find(w.chunk, row.chunks, rest, w, &rest);
    if (threadIdx.x < kWarp) {
        const Values<kPacks> values(row.z, chunk, 0);
#pragma unroll
        for (int j = 0; j < kPacks; j++) {
            uint64_t own[kPack], sum = 0;
#pragma unroll
            for (int e = 0; e < kPack; e++) {
                const int id = chunk_id(chunk, j, e);
                own[e] = measure(id, id < row.limit ? tame(values.v[j][e]) : kNegInf);
                sum += own[e];
            }
            const uint64_t upto = warp_scan(sum), all = SHFL(upto, kWarp - 1);
            if (rest >= all) {
                rest -= all;
                continue;
            }
            uint64_t before = upto - sum;
#pragma unroll
            for (int e = 0; e < kPack; e++) {
                if (rest >= before && rest < before + own[e]) w.id = chunk_id(chunk, j, e);
                before += own[e];
            }
            break;
        }
    }
    __syncthreads();
    const int id = w.id;
    __syncthreads();
    return id;
}

// Finds in w.bins the first bin with which the running sum is at least target.
// *rest is what target still lacks before it. All bins are at least target.
__device__ inline int find_bin(Work &w, uint64_t target, uint64_t *rest) {
    constexpr int kEach = kBins / kBlock;
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    uint64_t mine = 0;
    for (int i = 0; i < kEach; i++) mine += w.bins[threadIdx.x * kEach + i];
    const uint64_t upto = warp_scan(mine);
    if (lane == kWarp - 1) w.warp[warp] = upto;
    __syncthreads();
    uint64_t before = upto - mine;
    for (int i = 0; i < warp; i++) before += w.warp[i];
    if (before < target && before + mine >= target) {
        for (int i = 0; i < kEach; i++) {
            const uint64_t v = w.bins[threadIdx.x * kEach + i];
            if (before + v >= target) {
                w.id = threadIdx.x * kEach + i;
                w.left = target - before;
                break;
            }
            before += v;
        }
    }
    __syncthreads();
    const int bin = w.id;
    *rest = w.left;
    __syncthreads();
    return bin;
}

__device__ inline void add_bin(Work &w, int bin, uint64_t v) {
    atomicAdd(reinterpret_cast<unsigned long long *>(&w.bins[bin]), (unsigned long long)v);
}

__device__ inline void clear_bins(Work &w) {
    for (int i = threadIdx.x; i < kBins; i += kBlock) w.bins[i] = 0;
    __syncthreads();
}

// A range of values, least <= z < below, divided by their distance from the
// largest there may be.
struct Range {
    float least, largest, below, resolution;

    __device__ Range(float least, float largest, float below, float widest)
        : least(least), largest(largest), below(below), resolution((kBins - 1) / fminf(largest - least, widest)) {}

    __device__ bool has(float z) const { return z >= least && z < below; }

    __device__ int bin(float z) const {
        const float f = (largest - z) * resolution;
        return f < kBins - 1 ? (int)f : kBins - 1;
    }
};

// The cut among the n values on the list: for each one what all from it up
// measure.
__device__ inline Cutoff cut_list(Work &w, int n, uint64_t target) {
    if (threadIdx.x == 0) w.key = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        uint64_t upto = 0;
        for (int j = 0; j < n; j++)
            if (w.list_key[j] >= w.list_key[i]) upto += w.list_measure[j];
        if (upto >= target) atomicMax(&w.key, w.list_key[i]);
    }
    __syncthreads();
    const uint32_t key = w.key;
    uint64_t above = 0;
    for (int j = threadIdx.x; j < n; j += kBlock)
        if (w.list_key[j] > key) above += w.list_measure[j];
    above = warp_sum(above);
    if (threadIdx.x % kWarp == 0) w.warp[threadIdx.x / kWarp] = above;
    __syncthreads();
    above = 0;
    for (int i = 0; i < kBlock / kWarp; i++) above += w.warp[i];
    __syncthreads();
    return {key, target - above};
}

// The same for any number of values in a bin, by three digits of the key.
template <typename F> __device__ Cutoff cut_digits(const Row &row, const Range &range, int bin, uint64_t target, Work &w, F measure) {
    uint32_t prefix = 0;
    int known = 0; // bits of the key
    for (int bits : {11, 11, 10}) {
        const int shift = 32 - known - bits, top = (1 << bits) - 1;
        clear_bins(w);
        for_each(row, range.least, [&](int id, float z) {
            if (!range.has(z) || range.bin(z) != bin) return;
            const uint32_t key = key_of(z);
            if (known > 0 && key >> (32 - known) != prefix) return;
            add_bin(w, top - (int)(key >> shift & top), measure(id, z));
        });
        __syncthreads();
        const int digit = top - find_bin(w, target, &target);
        prefix = prefix << bits | (uint32_t)digit;
        known += bits;
    }
    return {prefix, target};
}

// The weighted quantile among the values of a range, which measure at least
// target: the largest key such that the values with it or a larger one measure
// that, and what remains of target after those with a larger one. widest is the
// distance from which on values need no bins of their own.
template <typename F> __device__ Cutoff cut(const Row &row, float least, float largest, float below, float widest, uint64_t target, Work &w, F measure) {
    const Range range(least, largest, below, widest);
    clear_bins(w);
    for_each(row, least, [&](int id, float z) {
        if (!range.has(z)) return;
        const uint64_t v = measure(id, z);
        if (v > 0) add_bin(w, range.bin(z), v);
    });
    if (threadIdx.x == 0) w.count = 0;
    __syncthreads();
    const int bin = find_bin(w, target, &target);
    for_each(row, least, [&](int id, float z) {
        if (!range.has(z) || range.bin(z) != bin) return;
        const int at = atomicAdd(&w.count, 1);
        if (at >= kList) return;
        w.list_key[at] = key_of(z);
        w.list_measure[at] = measure(id, z);
    });
    __syncthreads();
    const int n = w.count;
    __syncthreads();
    return n <= kList ? cut_list(w, n, target) : cut_digits(row, range, bin, target, w, measure);
}

// A value that at least k of the row's reach: its k-th largest chunk's best.
__device__ inline float reached_by(const Row &row, uint64_t k, Work &w) {
    if (k > (uint64_t)row.chunks) return kNegInf;
    if (threadIdx.x == 0) w.key = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < row.chunks; c += kBlock) {
        uint64_t reach = 0;
        for (int o = 0; o < row.chunks; o++) reach += row.best[o] >= row.best[c];
        if (reach >= k) atomicMax(&w.key, key_of(row.best[c]));
    }
    __syncthreads();
    const float z = z_of(w.key);
    __syncthreads();
    return z;
}

} // namespace sampling
