// many_row.h: the three passes of draw_many over one row.
#pragma once

#include "sampler/counts.h"
#include "sampler/many_space.h"

namespace sampling {

constexpr int kAhead = 2; // packs of a lane that are on their way

template <int kThreads> struct Row {
    using S = Space<kThreads>;
    static constexpr int kWarps = S::kWarps;

    S &s;
    const float *logits;
    int limit, chunks, listed;

    // Marks banned tokens, and lists seen ones with their values after penalties.
    __device__ void list_touched(const RowInput &in, const int32_t *bans, const Seen &seen, Sums &sums) const {
        for (int i = threadIdx.x; i < in.ban_count; i += kThreads) {
            const int id = bans[in.ban_offset + i];
            atomicOr(&s.touched[id / 32], 1u << id % 32);
            sums.raw.add(logits[id], 1);
        }
        if (in.ban_count > 0) __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < listed; i += kThreads) {
            const unsigned id = seen.token[i];
            s.id[i] = -1;
            if (id >= (unsigned)limit) continue;
            const float raw = logits[id], z = tame(raw - penalty(in, seen.n[i], seen.first[i]));
            if (atomicOr(&s.touched[id / 32], 1u << id % 32) >> id % 32 & 1) continue; // banned
            s.id[i] = (int)id;
            s.z[i] = z;
            sums.raw.add(raw, 1);
            sums.lowered.add(z, 1);
        }
        __syncthreads();
    }

    template <typename F> __device__ void each_listed(F f) const {
        for (int i = threadIdx.x; i < listed; i += kThreads)
            if (s.id[i] >= 0) f(s.id[i], s.z[i]);
    }

    // For all packs of a chunk, by all lanes of a warp: calls f(id, z, raw) with the first of
    // kPack ids and their values; then g(chunk). z is -Inf for touched tokens; both are -Inf
    // for ids without a token.
    template <typename F, typename G> __device__ void each(F f, G g) const {
        const int lane = threadIdx.x % kWarp;
        float4 next[kAhead];
        const auto fetch = [&](int chunk, int j) {
            if (chunk >= chunks) return;
#pragma unroll
            for (int k = 0; k < kAhead; k++) next[k] = *reinterpret_cast<const float4 *>(logits + chunk * kDrawChunk + id_in_chunk(j + k, 0));
        };
        fetch(threadIdx.x / kWarp, 0);
        for (int c = threadIdx.x / kWarp; c < chunks; c += kWarps) {
            const bool end = (c + 1) * kDrawChunk > limit;
#pragma unroll 1 // fetching more instructions would take longer than the loop
            for (int j = 0; j < kPacks; j += kAhead) {
                float4 now[kAhead];
#pragma unroll
                for (int k = 0; k < kAhead; k++) now[k] = next[k];
                if (j + kAhead < kPacks)
                    fetch(c, j + kAhead);
                else
                    fetch(c + kWarps, 0);
#pragma unroll
                for (int k = 0; k < kAhead; k++) {
                    const int id = c * kDrawChunk + id_in_chunk(j + k, 0);
                    float raw[kPack] = {now[k].x, now[k].y, now[k].z, now[k].w}, z[kPack];
                    if (end)
#pragma unroll
                        for (int e = 0; e < kPack; e++) raw[e] = id + e < limit ? raw[e] : kNegInf;
                    const uint32_t touched = s.touched[id / 32] >> lane % 8 * kPack;
#pragma unroll
                    for (int e = 0; e < kPack; e++) z[e] = touched >> e & 1 ? kNegInf : raw[e];
                    f(id, z, raw);
                }
            }
            g(c);
        }
    }

    // The first pass: adds up sums. False if a logit is NaN or too large.
    __device__ bool look(Sums &sums, int vocab) const {
        bool odd = false;
        Softmax all;
        each(
            [&](int, const float (&z)[kPack], const float (&raw)[kPack]) {
#pragma unroll
                for (int e = 0; e < kPack; e++) odd |= !(raw[e] <= kMaxFloat);
                const float most = fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3]));
                if (most > all.best) {
                    all.sum *= __expf(all.best - most);
                    all.best = most;
                }
                if (all.best > kNegInf)
#pragma unroll
                    for (int e = 0; e < kPack; e++) all.sum += __expf(z[e] - all.best);
            },
            [](int) {});
        for (int id = limit + threadIdx.x; id < vocab; id += kThreads) odd |= logits[id] != logits[id];
        sums.rest = all;
        sums.join();
        const int lane = threadIdx.x % kWarp;
        if (lane == 0) s.sums[threadIdx.x / kWarp] = sums;
        odd = __syncthreads_or(odd);
        sums = lane < kWarps ? s.sums[lane] : Sums{};
        sums.join();
        return !odd;
    }

    // The second pass: finds s.first_bin and s.last_bin, between which the sum of the likeliest
    // values reaches the share top_p.
    __device__ void find_bins(const Rough &rough, float top_p) const {
        uint32_t sum = 0;
        each(
            [&](int, const float (&z)[kPack], const float (&)[kPack]) {
                uint32_t share[kPack];
                int bin[kPack];
#pragma unroll
                for (int e = 0; e < kPack; e++) {
                    const float d = rough.distance(z[e]);
                    sum += share[e] = rough.share(d);
                    bin[e] = rough.bin(d);
                }
#pragma unroll
                for (int e = 0; e < kPack; e++)
                    if (share[e] > 0) atomicAdd(&s.bin[bin[e]], share[e]);
            },
            [](int) {});
        each_listed([&](int, float z) {
            const float d = rough.distance(z);
            const uint32_t share = rough.share(d);
            sum += share;
            atomicAdd(&s.bin[rough.bin(d)], share);
        });
        const uint64_t total = block_sums(sum, 0).x;
        const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
        constexpr int kEach = kBins / kThreads;
        uint64_t own[kEach], mine = 0;
#pragma unroll
        for (int k = 0; k < kEach; k++) mine += own[k] = s.bin[threadIdx.x * kEach + k];
        uint64_t upto = warp_scan(mine);
        __syncthreads();
        if (lane == kWarp - 1) s.total[0][warp] = upto;
        __syncthreads();
        upto += warp_sum(lane < warp ? s.total[0][lane] : 0);
        // Each value may be wrong by half a unit, in the sum and in the comparison, and by the
        // error of exp2_near.
        const int64_t target = (int64_t)((double)top_p * (double)total), off = limit + (1 << 11);
        const uint64_t from = (uint64_t)max((long long)(target - off), 1ll), to = (uint64_t)min((long long)(target + off), (long long)total);
        uint64_t before = upto - mine;
#pragma unroll
        for (int k = 0; k < kEach; k++) {
            if (before < from && from <= before + own[k]) s.first_bin = threadIdx.x * kEach + k;
            if (before < to && to <= before + own[k]) s.last_bin = to == total ? kBins - 1 : threadIdx.x * kEach + k;
            before += own[k];
        }
        __syncthreads();
    }

    // Sums both over the block; every thread gets the sums.
    __device__ ulonglong2 block_sums(uint64_t a, uint64_t b) const {
        const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
        a = warp_sum(a), b = warp_sum(b);
        if (lane == 0) s.total[0][warp] = a, s.total[1][warp] = b;
        __syncthreads();
        return {warp_sum(lane < kWarps ? s.total[0][lane] : 0), warp_sum(lane < kWarps ? s.total[1][lane] : 0)};
    }

    // The third pass: adds up by chunks the masses of values from `above` up, and lists the
    // values between `least` and `above`. If top_p cuts (kCuts), it returns as x the sum of
    // all masses by the scale of top_p, as y that of values from `above` up. kSame: the draw
    // has the same scale.
    template <bool kCuts, bool kSame> __device__ ulonglong2 gather(float m, float scale, float least, float above) const {
        uint64_t sum = 0, all = 0, kept = 0;
        const auto list = [&](int id, float z) {
            const int at = atomicAdd(&s.count, 1);
            if (at >= kMostTies) return;
            s.key[at] = key_of(z);
            s.measure[at] = mass(z, m, kSoftmaxScale);
            s.tie[at] = id;
        };
        each(
            [&](int id, const float (&z)[kPack], const float (&)[kPack]) {
                bool between = false;
#pragma unroll
                for (int e = 0; e < kPack; e++) {
                    const bool is_above = z[e] >= above;
                    uint64_t own = mass(z[e], m, kCuts ? kSoftmaxScale : scale);
                    if (kCuts) {
                        all += own;
                        if (!kSame) {
                            kept += is_above ? own : 0;
                            own = mass(z[e], m, scale);
                        }
                        between |= z[e] >= least && !is_above;
                    }
                    sum += is_above ? own : 0;
                }
                if (!between) return;
#pragma unroll 1
                for (int e = 0; e < kPack; e++) {
                    const float own = e == 0 ? z[0] : e == 1 ? z[1] : e == 2 ? z[2] : z[3];
                    if (own >= least && own < above) list(id + e, own);
                }
            },
            [&](int chunk) {
                if (kSame) kept += sum;
                sum = warp_sum(sum);
                if (threadIdx.x % kWarp == 0) s.chunk[chunk] = {(uint32_t)sum, (uint32_t)(sum >> 32)};
                sum = 0;
            });
        __syncthreads();
        each_listed([&](int id, float z) {
            if (kCuts) {
                const uint64_t own = mass(z, m, kSoftmaxScale);
                all += own;
                if (z >= above) kept += own;
            }
            if (z >= above)
                add_to(s.chunk[id / kDrawChunk], mass(z, m, scale));
            else if (kCuts && z >= least)
                list(id, z);
        });
        if (kCuts) return block_sums(all, kept);
        __syncthreads();
        return {0, 0};
    }

    // The cut among the listed values: the largest one such that the values from it up add up
    // to at least rest. Adds the masses of those that are kept to their chunks. False if there
    // is no cut.
    __device__ bool cut(uint64_t rest, float m, float scale, float *theta) const {
        const int n = s.count;
        if (n > kMostTies) return false;
        for (int i = threadIdx.x; i < n; i += kThreads) {
            const uint32_t key = s.key[i];
            uint64_t above = 0, upto = 0;
            for (int j = 0; j < n; j++) {
                const uint64_t v = s.measure[j];
                above += s.key[j] > key ? v : 0;
                upto += s.key[j] >= key ? v : 0;
            }
            if (above < rest && rest <= upto) s.theta = key;
        }
        __syncthreads();
        const uint32_t found = s.theta;
        if (found == 0) return false;
        for (int i = threadIdx.x; i < n; i += kThreads)
            if (s.key[i] >= found) add_to(s.chunk[s.tie[i] / kDrawChunk], mass(z_of(s.key[i]), m, scale));
        __syncthreads();
        *theta = z_of(found);
        return true;
    }

    // The id that a random word selects among values from theta up, by the sums of chunks.
    __device__ int pick(uint64_t word, float m, float scale, float theta) const {
        const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
        constexpr int kEach = kMostChunks / kWarp;
        uint64_t own[kEach], mine = 0;
#pragma unroll
        for (int k = 0; k < kEach; k++) mine += own[k] = lane * kEach + k < chunks ? whole(s.chunk[lane * kEach + k]) : 0;
        uint64_t rest = __umul64hi(warp_sum(mine), word);
        const int from = find_lane(mine, &rest);
        int chunk = from * kEach;
#pragma unroll
        for (int k = 0; k < kEach - 1; k++) {
            const uint64_t v = SHFL(own[k], from);
            if (chunk == from * kEach + k && rest >= v) rest -= v, chunk++;
        }
        const int first = chunk * kDrawChunk;
        for (int i = threadIdx.x; i < kDrawChunk; i += kThreads) {
            const int id = first + i;
            const bool none = id >= limit || (s.touched[id / 32] >> id % 32 & 1);
            s.last[i] = none ? kNegInf : logits[id];
        }
        __syncthreads();
        each_listed([&](int id, float z) {
            if (id / kDrawChunk == chunk) s.last[id % kDrawChunk] = z;
        });
        __syncthreads();
        uint64_t each_of[kPack], sum = 0;
        if (warp < kPacks) {
            const float4 q = *reinterpret_cast<const float4 *>(s.last + id_in_chunk(warp, 0));
            const float z[kPack] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int e = 0; e < kPack; e++) sum += each_of[e] = z[e] >= theta ? mass(z[e], m, scale) : 0;
            const uint64_t all = warp_sum(sum);
            if (lane == 0) s.total[0][warp] = all;
        }
        __syncthreads();
        if (warp < kPacks) {
            for (int j = 0; j < warp; j++) rest -= s.total[0][j]; // wraps around if the id is in an earlier part
            if (rest < s.total[0][warp]) {
                uint64_t before = warp_scan(sum) - sum;
#pragma unroll
                for (int k = 0; k < kPack; k++) {
                    if (rest >= before && rest < before + each_of[k]) s.token = first + id_in_chunk(warp, k);
                    before += each_of[k];
                }
            }
        }
        __syncthreads();
        return s.token;
    }
};

} // namespace sampling
