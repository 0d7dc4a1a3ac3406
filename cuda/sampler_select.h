// sampler_select.h: searches over one row of logits by one block: which key a
// truncation cuts at, and which id a running sum reaches.
//
// A row is looked at in chunks of kDrawChunk ids, one warp to a chunk; chunks
// that cannot matter are passed over. All sums are of integers, so that their
// order does not matter.
#pragma once

#include "sampler_mass.h"

namespace sampling {

constexpr int kDrawChunk = 1024;
constexpr int kMaxChunks = 1024;
constexpr int kBlock = 512; // threads of a block that searches
constexpr int kBins = 1024;
constexpr int kList = 3072; // values gathered in shared memory
constexpr int kShort = 512; // values of one bin

// A chunk as a warp holds it: value e of a lane's pack j is that of id
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

constexpr int kAtOnce = 4; // packs in registers

// One row's values, of which ids from limit up are -Inf.
struct Row {
    const float *z;
    int limit, chunks;
    const float *best; // [chunks]: each one's largest value, tamed

    __device__ float at(int id) const { return id < limit ? tame(z[id]) : kNegInf; }

    // Calls f(id, z) for every id of a chunk, by all lanes of a warp together.
    template <typename F> __device__ void each(int chunk, F f) const {
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
    int list[kList]; // ids
    uint64_t short_measure[kShort];
    uint32_t short_key[kShort];
    uint64_t bucket_mass[kBuckets];
    int bucket_count[kBuckets];
    uint64_t warp[kBlock / kWarp];
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

template <typename T> __device__ T warp_sum_of(T v) {
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
    return v;
}

__device__ inline uint64_t warp_sum(uint64_t v) { return warp_sum_of(v); }

// Sum of the lanes up to this one.
template <typename T> __device__ T warp_scan(T v) {
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int o = 1; o < kWarp; o <<= 1) {
        const T below = SHFL_UP(v, o);
        if (lane >= o) v += below;
    }
    return v;
}

// Sum over the block; every thread gets it.
__device__ inline uint64_t block_total(uint64_t v, Work &w) {
    v = warp_sum(v);
    if (threadIdx.x % kWarp == 0) w.warp[threadIdx.x / kWarp] = v;
    __syncthreads();
    const int lane = threadIdx.x % kWarp;
    v = warp_sum(lane < kBlock / kWarp ? w.warp[lane] : 0);
    __syncthreads();
    return v;
}

// Fills w.chunk with the sums of measure(id, z) over each chunk, and returns
// their sum. Values below least must measure nothing.
template <typename F> __device__ uint64_t sum_chunks(const Row &row, float least, Work &w, F measure) {
    uint64_t all = 0;
    for (int c = threadIdx.x / kWarp; c < row.chunks; c += kBlock / kWarp) {
        uint64_t sum = 0;
        if (row.best[c] >= least) {
            row.each(c, [&](int id, float z) { sum += measure(id, z); });
            sum = warp_sum(sum);
        }
        if (threadIdx.x % kWarp == 0) {
            w.chunk[c] = sum;
            all += sum;
        }
    }
    return block_total(all, w);
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

// ---- sets of values -----------------------------------------------------------

// The values that has(z) holds for, wherever they are; chunks that may(c) does
// not hold for have none.
template <typename May, typename Has> struct Scattered {
    const Row &row;
    May may;
    Has has;

    template <typename F> __device__ void each(F f) const {
        for (int c = threadIdx.x / kWarp; c < row.chunks; c += kBlock / kWarp)
            if (may(c))
                row.each(c, [&](int id, float z) {
                    if (has(z)) f(id, z);
                });
    }

    // Gathers them into w.list, where there must be room. First every lane
    // marks its own, so that the rare ones cost no branch each.
    __device__ void gather(Work &w) const {
        if (threadIdx.x == 0) w.count = 0;
        __syncthreads();
        for (int c = threadIdx.x / kWarp; c < row.chunks; c += kBlock / kWarp) {
            if (!may(c)) continue;
#pragma unroll
            for (int first = 0; first < kPacks; first += kAtOnce) {
                const Values<kAtOnce> values(row.z, c, first);
                uint32_t mine = 0;
#pragma unroll
                for (int j = 0; j < kAtOnce; j++)
#pragma unroll
                    for (int e = 0; e < kPack; e++) {
                        const int id = chunk_id(c, first + j, e);
                        mine |= (uint32_t)has(id < row.limit ? tame(values.v[j][e]) : kNegInf) << (j * kPack + e);
                    }
                const int own = __popc(mine), upto = warp_scan(own);
                int at = 0;
                if (threadIdx.x % kWarp == kWarp - 1) at = atomicAdd(&w.count, upto);
                at = SHFL(at, kWarp - 1) + upto - own;
                for (; mine; mine &= mine - 1) {
                    const int bit = __ffs((int)mine) - 1;
                    w.list[at++] = chunk_id(c, first + bit / kPack, bit % kPack);
                }
            }
        }
        __syncthreads();
    }
};

template <typename May, typename Has> __device__ Scattered<May, Has> scattered(const Row &row, May may, Has has) { return {row, may, has}; }

// Those of w.list.
struct Listed {
    const Row &row;
    const Work &w;

    template <typename F> __device__ void each(F f) const {
        for (int i = threadIdx.x; i < w.count; i += kBlock) f(w.list[i], row.at(w.list[i]));
    }
};

// ---- cuts -----------------------------------------------------------------------

__device__ inline void clear_bins(Work &w) {
    for (int i = threadIdx.x; i < kBins; i += kBlock) w.bins[i] = 0;
    __syncthreads();
}

__device__ inline void add_to(uint64_t *sum, uint64_t v) { atomicAdd(reinterpret_cast<unsigned long long *>(sum), (unsigned long long)v); }

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

// Values divided by their distance from largest; of those farther away than
// widest, and of larger ones, there should be few.
struct Range {
    float largest, resolution;

    __device__ Range(float largest, float widest) : largest(largest), resolution((kBins - 1) / widest) {}

    __device__ int bin(float z) const {
        const float f = (largest - z) * resolution;
        return f < kBins - 1 ? (int)fmaxf(f, 0) : kBins - 1;
    }
};

// The cut among the n values on the short list: for each one what all from it up
// measure.
__device__ inline Cutoff cut_short(Work &w, int n, uint64_t target) {
    if (threadIdx.x == 0) w.key = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        uint64_t upto = 0;
        for (int j = 0; j < n; j++)
            if (w.short_key[j] >= w.short_key[i]) upto += w.short_measure[j];
        if (upto >= target) atomicMax(&w.key, w.short_key[i]);
    }
    __syncthreads();
    const uint32_t key = w.key;
    uint64_t above = 0;
    for (int j = threadIdx.x; j < n; j += kBlock)
        if (w.short_key[j] > key) above += w.short_measure[j];
    return {key, target - block_total(above, w)};
}

// The same for any number of values of a bin, by the digits of the key.
template <typename Set, typename F> __device__ Cutoff cut_digits(const Set &set, const Range &range, int bin, uint64_t target, Work &w, F measure) {
    uint32_t prefix = 0;
    int known = 0; // bits of the key
    for (int bits : {10, 10, 10, 2}) {
        const int shift = 32 - known - bits, top = (1 << bits) - 1;
        clear_bins(w);
        set.each([&](int id, float z) {
            if (range.bin(z) != bin) return;
            const uint32_t key = key_of(z);
            if (known > 0 && key >> (32 - known) != prefix) return;
            add_to(&w.bins[top - (int)(key >> shift & top)], measure(id, z));
        });
        __syncthreads();
        const int digit = top - find_bin(w, target, &target);
        prefix = prefix << bits | (uint32_t)digit;
        known += bits;
    }
    return {prefix, target};
}

// The weighted quantile of a set that measures at least target: the largest key
// such that the values with it or a larger one measure that, and what remains of
// target after those with a larger one. The range is where most of the set is.
template <typename Set, typename F> __device__ Cutoff cut(const Set &set, const Range &range, uint64_t target, Work &w, F measure) {
    clear_bins(w);
    set.each([&](int id, float z) {
        const uint64_t v = measure(id, z);
        if (v > 0) add_to(&w.bins[range.bin(z)], v);
    });
    __syncthreads();
    const int bin = find_bin(w, target, &target);
    if (threadIdx.x == 0) w.id = 0; // how many are in it
    __syncthreads();
    set.each([&](int id, float z) {
        if (range.bin(z) != bin) return;
        const int at = atomicAdd(&w.id, 1);
        if (at >= kShort) return;
        w.short_key[at] = key_of(z);
        w.short_measure[at] = measure(id, z);
    });
    __syncthreads();
    const int n = w.id;
    __syncthreads();
    return n <= kShort ? cut_short(w, n, target) : cut_digits(set, range, bin, target, w, measure);
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
