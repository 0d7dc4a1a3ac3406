// usual.h: the draw of a usual row: one with top_p or no truncation at all. After the
// first look at the row it makes two passes over shared memory, with two synchronisations
// of the team. The first pass adds up masses by bins. The second lists the values of the
// bin in which top_p cuts, and adds up by chunks what is above it. From these each block
// computes the cut and the sums for itself.
#pragma once

#include "sampler/pick.h"

namespace sampling {

// Combines the extremes of the block's warps; the last warp does it.
template <typename T> __device__ void join_extremes(Work<T> &w) {
    constexpr int kWarps = T::kWarps;
    const int lane = threadIdx.x % kWarp;
    if (threadIdx.x / kWarp < kWarps - 1) return;
    Extremes all = lane < kWarps ? w.extremes[lane] : Extremes{kNegInf, 0, 0};
    all.join();
    if (lane == 0) w.own = all;
}

// The same for the team's blocks, after a sync.
template <typename T> __device__ void look(Work<T> &w) {
    const int lane = threadIdx.x % kWarp;
    if (threadIdx.x / kWarp < T::kWarps - 1) return;
    Extremes all = lane < T::kBlocks ? *T::at(&w.own, lane) : Extremes{kNegInf, 0, 0};
    all.join();
    if (lane == 0) w.look = {all.raw_best, all.nan, (double)all.raw_best + (double)logf(all.raw_sum)};
}

// Bins of values by how far their powers of two are below the largest; the last bin is open.
struct Powers {
    static constexpr float kFirst = 8388608.0f; // 2^23: adding to it rounds to an integer

    float m, resolution;

    __device__ Powers(float m, float widest) : m(m), resolution((kBins - 1) / widest) {}

    __device__ float power(float z) const { return sampling::power(z, m, kSoftmaxScale); }
    __device__ int bin(float power) const { return __float_as_int(fminf(fmaf(power, -resolution, kFirst), kFirst + (kBins - 1))) & (kBins - 1); }
};

template <typename T> struct Usual {
    static_assert(sizeof(Work<T>::groups) >= T::kBlocks * kWarp * sizeof(Short));

    Work<T> &w;
    const Part &part;

    // Goes through the part, by all warps of the block, each with half a chunk at a time:
    // calls f(id, z) with the first of kPack ids and their values, then g(chunk).
    template <typename F, typename G> __device__ void each(F f, G g) const {
        constexpr int kIds = kDrawChunk / 2;
        for (int h = threadIdx.x / kWarp; h < 2 * part.chunks; h += T::kWarps) {
            const int begin = h * kIds + id_in_chunk(0, 0);
#pragma unroll 1 // fetching more instructions would take longer than the loop
            for (int at = begin; at < begin + kIds; at += kWarp * kPack) {
                const float4 q = *reinterpret_cast<const float4 *>(part.z + at);
                const float z[kPack] = {q.x, q.y, q.z, q.w};
                f(part.first + at, z);
            }
            g(h / 2);
        }
    }

    // Adds up masses by bins, without branches, since each would wait for the one before.
    // Each lane has a last bin of its own, since most of a row may fall into it.
    __device__ void fill(const Powers &bins) const {
        const int own_last = kBins + threadIdx.x % kWarp;
        each(
            [&](int, const float (&z)[kPack]) {
                uint32_t low[kPack], high[kPack], before[kPack];
                uint2 *at[kPack];
#pragma unroll
                for (int e = 0; e < kPack; e++) {
                    const float y = bins.power(z[e]);
                    const int bin = bins.bin(y);
                    const uint64_t v = mass(y);
                    low[e] = (uint32_t)v, high[e] = (uint32_t)(v >> 32);
                    at[e] = w.bin + (bin == kBins - 1 ? own_last : bin);
                }
#pragma unroll
                for (int e = 0; e < kPack; e++) before[e] = atomicAdd(&at[e]->x, low[e]);
#pragma unroll
                for (int e = 0; e < kPack; e++) add_if_any(&at[e]->y, high[e] + (before[e] + low[e] < low[e]));
            },
            [](int) {});
    }

    // Lists the values of a bin, and adds up by chunks those of the bins before it.
    __device__ void gather(const Powers &bins, int bin, const Kept &d) const {
        uint64_t sum = 0;
        each(
            [&](int id, const float (&z)[kPack]) {
                if (bins.bin(bins.power(fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])))) > bin) return;
                uint32_t listed = 0;
#pragma unroll
                for (int e = 0; e < kPack; e++) {
                    const int at = bins.bin(bins.power(z[e]));
                    const uint64_t own = mass(z[e], d.m, d.scale);
                    sum += at < bin ? own : 0;
                    listed |= (uint32_t)(at == bin) << e;
                }
#pragma unroll 1
                for (; listed > 0; listed &= listed - 1) {
                    const int e = __ffs((int)listed) - 1, at = atomicAdd(&w.count, 1);
                    const float own = e == 0 ? z[0] : e == 1 ? z[1] : e == 2 ? z[2] : z[3];
                    if (at < kShort) w.mine[at] = {mass(bins.power(own)), key_of(own), id + e};
                }
            },
            [&](int chunk) {
                sum = warp_sum(sum);
                if (threadIdx.x % kWarp == 0) {
                    add_to(w.chunk[chunk], sum);
                    add_to(w.above, sum);
                }
                sum = 0;
            });
    }

    // Joins the lists and sums of the blocks; returns how many values are listed, or -1 if
    // there is no room for them.
    __device__ int join() const {
        const int lane = threadIdx.x % kWarp, block = threadIdx.x / kWarp;
        const bool reads = block < T::kBlocks;
        const int count = lane < T::kBlocks ? *T::at(&w.count, lane) : 0;
        const Short *from = T::at(w.mine, reads ? block : 0);
        Short next = from[lane]; // read before the counts are known
        uint2 above = {0, 0};
        if (reads && lane == 0) above = *T::at(&w.above, block);
        int upto = count;
#pragma unroll
        for (int o = 1; o < T::kBlocks; o <<= 1) {
            const int below = SHFL_UP(upto, o);
            if (lane >= o) upto += below;
        }
        const int n = SHFL(upto, T::kBlocks - 1);
        if (n > kShort) return -1;
        const int own = SHFL(count, block % T::kBlocks), first = SHFL(upto, block % T::kBlocks) - own;
        if (reads) {
            Short *unused = reinterpret_cast<Short *>(w.groups) + threadIdx.x; // unneeded reads must complete, too
            *(lane < own ? w.all + first + lane : unused) = next;
            for (int i = lane + kWarp; i < own; i += kWarp) w.all[first + i] = from[i];
            if (lane == 0) w.sums[block] = above;
        }
        __syncthreads();
        return n;
    }

    // The cut among the listed values: the largest one such that the values from it up add up
    // to at least rest.
    __device__ float cut(int n, uint64_t rest) const {
#pragma unroll 1
        for (int i = threadIdx.x; i < n; i += T::kThreads) {
            const uint32_t key = w.all[i].key;
            uint64_t above = 0, upto = 0;
#pragma unroll 4
            for (int j = 0; j < n; j++) {
                const Short other = w.all[j];
                above += other.key > key ? other.measure : 0;
                upto += other.key >= key ? other.measure : 0;
            }
            if (above < rest && rest <= upto) w.theta = key;
        }
        __syncthreads();
        return z_of(w.theta);
    }

    // Adds the listed values that are kept to the sums of the blocks and of this block's
    // chunks.
    __device__ void add_kept(int n, const Kept &d) const {
#pragma unroll 1
        for (int i = threadIdx.x; i < n; i += T::kThreads) {
            const float z = z_of(w.all[i].key);
            if (z < d.theta) continue;
            const int chunk = w.all[i].id / kDrawChunk, block = chunk / w.chunks_each;
            const uint64_t own = mass(z, d.m, d.scale);
            add_to(w.sums[block], own);
            if (block == T::rank()) add_to(w.chunk[chunk - block * w.chunks_each], own);
        }
        __syncthreads();
    }

    // The id that a random word selects, for the block that has it; -1 for the others.
    __device__ int pick(uint64_t word, const Kept &d, uint64_t *total) const {
        const int lane = threadIdx.x % kWarp;
        const uint64_t sum = lane < T::kBlocks ? whole(w.sums[lane]) : 0;
        *total = warp_sum(sum);
        uint64_t rest = __umul64hi(*total, word);
        if (find_lane(sum, &rest) != T::rank()) return -1;
        const int chunk = find_lane(lane < part.chunks ? whole(w.chunk[lane]) : 0, &rest);
        pick_in_chunk(w, part, chunk, FromUp{d.m, d.scale, d.theta}, rest);
        __syncthreads();
        return w.id;
    }
};

// Draws with the row's top_p, and leaves in d what it drew from. Returns false if too many
// values are near the cut; the caller must then clear the bins. *token is -1 for blocks
// that do not have it.
template <typename T> __device__ bool draw_usual(Work<T> &w, const Part &part, Kept &d, uint64_t *total, int *token) {
    const Usual<T> u{w, part};
    const RowInput &in = w.in;
    const Powers bins(d.m, widest(in.top_p, part.limit));
    int bin = kBins;
    uint64_t rest = 0;
    if (in.top_p < 1) {
        u.fill(bins);
        bin = find_bin(w, {1, (double)in.top_p}, &rest, [&] { join_extremes(w); });
    } else {
        __syncthreads();
        join_extremes(w);
    }
    u.gather(bins, bin, d);
    T::sync();
    const int n = u.join();
    if (n < 0) return false;
    look(w);
    if (threadIdx.x == kWarp) w.word = random_word(in.seed, in.index); // no other warp waits for it
    if (in.top_p < 1) {
        d.theta = u.cut(n, rest);
        d.tie_mass = mass(d.theta, d.m, d.scale);
        u.add_kept(n, d);
    } else {
        __syncthreads();
    }
    *token = u.pick(w.word, d, total);
    return true;
}

} // namespace sampling
