// row.h: a block's part of one row: some chunks of kDrawChunk ids, with their logits after
// penalties and bans in shared memory (or in DrawScratch.z, where they do not fit).
#pragma once

#include "sampler/mass.h"
#include "sampler/sampler.h"
#include "sampler/team.h"

namespace sampling {

// A chunk as a warp holds it: value e of a lane's pack j is that of the id
// (j*kWarp + lane)*kPack + e within it.
constexpr int kPack = 4;
constexpr int kPacks = kDrawChunk / (kWarp * kPack);
constexpr int kHalf = kPacks / 2; // packs of half a chunk, a warp's unit of work

__device__ inline int id_in_chunk(int j, int e) { return (j * kWarp + (int)threadIdx.x % kWarp) * kPack + e; }

// The values of a block: those of ids from first on.
struct Part {
    const float *z; // aligned to 16 bytes, with room for whole chunks
    int first, chunks;
    int limit; // ids from here up are -Inf
    bool raw;  // values are logits, not yet tamed

    __device__ float value(int id, float v) const { return id < limit ? (raw ? tame(v) : v) : kNegInf; }

    // Pack j of a chunk, by all lanes of a warp: calls f(id, z) with the first of kPack ids
    // and their values. f should not branch, since each branch waits for the one before.
    template <typename F> __device__ void pack(int chunk, int j, F f) const {
        const int at = chunk * kDrawChunk + id_in_chunk(j, 0), id = first + at;
        const float4 q = *reinterpret_cast<const float4 *>(z + at);
        const float v[kPack] = {value(id, q.x), value(id + 1, q.y), value(id + 2, q.z), value(id + 3, q.w)};
        f(id, v);
    }

    // All packs of a chunk, by all lanes of a warp.
    template <typename F> __device__ void each(int chunk, F f) const {
#pragma unroll 1 // fetching more instructions would take longer than the loop
        for (int j = 0; j < kPacks; j++) pack(chunk, j, f);
    }

    // The same for all chunks, by all warps of the block, each with half a chunk at a time;
    // then g(chunk).
    template <typename F, typename G> __device__ void each(F f, G g) const {
        for (int h = threadIdx.x / kWarp; h < 2 * chunks; h += blockDim.x / kWarp) {
#pragma unroll 1
            for (int j = 0; j < kHalf; j++) pack(h / 2, h % 2 * kHalf + j, f);
            g(h / 2);
        }
    }

    template <typename F> __device__ void each(F f) const {
        each(f, [](int) {});
    }
};

// The largest logit and the softmax sum of some values, before penalties.
struct alignas(16) Extremes {
    float raw_best, raw_sum; // the largest logit, and the sum of exp(logit - raw_best)
    int nan;

    __device__ void add_raw(float best, float sum) {
        const float most = fmaxf(raw_best, best);
        if (!(most > kNegInf)) return;
        raw_sum = raw_sum * __expf(raw_best - most) + sum * __expf(best - most);
        raw_best = most;
    }

    // Combines those of all lanes.
    __device__ void join() {
        const float most = warp_max(raw_best);
        raw_sum = warp_sum(most > kNegInf ? raw_sum * __expf(raw_best - most) : 0.0f);
        raw_best = most;
        nan = BALLOT(nan) != 0;
    }
};

// The same of the whole row, for the team.
struct Look {
    float raw_best;
    int nan;
    double norm; // log of the sum of exp(logit)
};

// Subtracts z from the logits of a part and stores them there; z has each id's penalty, +Inf
// for banned ones. Returns the extremes of each lane; *best is the largest value.
__device__ inline Extremes load_part(const float *logits, float *z, const Part &part, int vocab, float *best) {
    Extremes all{kNegInf, 0, 0};
    *best = kNegInf;
    for (int h = threadIdx.x / kWarp; h < 2 * part.chunks; h += blockDim.x / kWarp) {
        const int begin = h * (kDrawChunk / 2) + id_in_chunk(0, 0);
        float v[kHalf][kPack], most = kNegInf, sum = 0;
#pragma unroll
        for (int j = 0; j < kHalf; j++) *reinterpret_cast<float4 *>(v[j]) = *reinterpret_cast<const float4 *>(logits + part.first + begin + j * kWarp * kPack);
#pragma unroll
        for (int j = 0; j < kHalf; j++)
#pragma unroll
            for (int e = 0; e < kPack; e++) {
                const int id = part.first + begin + j * kWarp * kPack + e;
                all.nan |= id < vocab && v[j][e] != v[j][e];
                if (id >= part.limit) v[j][e] = kNegInf;
                most = fmaxf(most, tame(v[j][e]));
            }
#pragma unroll
        for (int j = 0; j < kHalf; j++) {
            float4 *at = reinterpret_cast<float4 *>(z + begin + j * kWarp * kPack);
            const float4 lowered = *at;
            const float by[kPack] = {lowered.x, lowered.y, lowered.z, lowered.w};
            float now[kPack];
#pragma unroll
            for (int e = 0; e < kPack; e++) {
                if (most > kNegInf) sum += __expf(tame(v[j][e]) - most);
                now[e] = tame(v[j][e] - by[e]);
                *best = fmaxf(*best, now[e]);
            }
            *at = {now[0], now[1], now[2], now[3]};
        }
        all.add_raw(most, sum);
    }
    return all;
}

} // namespace sampling
