// stream_product.h: products on Hopper, several of them in one launch:
//
//   Y_j [tokens][rows_j] = f_j(X_j [tokens][inputs_j] W_jᵀ)
//
// A tile is kRows rows of one W and kTokens tokens; its work
// are steps of 64 inputs. All steps of a launch are dealt out in order and in
// equal parts to blocks, so that every multiprocessor has the same to do.
//
// One warp of a block has tiles of W and X copied to shared memory, kStages steps
// ahead; those of W before the previous kernel has ended. The others are warpgroups
// with 64 rows each. Where a tile is shared between blocks, each leaves its sums in
// partial, and the last to arrive adds all of them up in their order.
//
// A result depends on its own token, the shape and the launch's tiles alone.
#pragma once

#include "hopper_device.h"
#include "pass.h"
#include "small_device.h"
#include "stream.h"
#include "vectors.h"

namespace stream {

constexpr int kInputs = 64; // of a step

#if HOPPER_HOST

struct Job {
    CUtensorMap w, x;
    void *out;
    int rows, steps; // steps of one of its tiles
    int first_step, first_tile; // among all of the launch
    Finish finish;
};

struct Jobs {
    Job job[kMostProducts];
    int count, tokens, token_blocks; // token_blocks: of kTokens tokens
    bool whole;                      // a block has one tile; else all steps are dealt out
    int dealt;                       // steps of all tiles
    uint64_t hint;                   // for W
    float *partial;   // [blocks][2][kRows * kTokens]
    int32_t *arrived; // [tiles]; zero between launches
};

#endif

template <int kRows, int kTokens> constexpr int kStageBytes = (kRows + kTokens) * kInputs * 2;

// Two blocks on a multiprocessor, of this kernel and the next, or one.
template <int kRows, int kTokens> constexpr int kResident = kRows == 128 && kTokens <= 64 ? 2 : 1;
template <int kRows, int kTokens>
constexpr int kStages = (kResident<kRows, kTokens> == 2 ? 108 << 10 : 216 << 10) / kStageBytes<kRows, kTokens>;
template <int kRows, int kTokens> constexpr int kSharedBytes = kStages<kRows, kTokens> * kStageBytes<kRows, kTokens> + 1024;
template <int kRows, int kTokens> constexpr int kThreads = kRows * 2 + (kResident<kRows, kTokens> == 2 ? kWarp : 4 * kWarp);

#if HOPPER_DEVICE && HOPPER_HOST

using namespace hopper;

// Where a step belongs.
struct Place {
    int job, tile, step; // tile: of the job
    int row, token_block;
    int first;           // step of the launch that its tile begins with

    template <int kRows> __device__ static Place of(const Jobs &jobs, int at) {
        Place p;
        p.job = 0;
        while (p.job + 1 < jobs.count && at >= jobs.job[p.job + 1].first_step) p.job++;
        const Job &job = jobs.job[p.job];
        p.tile = (at - job.first_step) / job.steps;
        p.first = job.first_step + p.tile * job.steps;
        p.step = at - p.first;
        p.row = p.tile / jobs.token_blocks * kRows;
        p.token_block = p.tile % jobs.token_blocks;
        return p;
    }
};

// The first step of a block, and the block of a step, where steps are dealt out; the
// first step of a tile.
__device__ inline int first_step(const Jobs &jobs, int block) { return (int)((int64_t)jobs.dealt * block / gridDim.x); }
__device__ inline int block_of(const Jobs &jobs, int step) { return (int)(((int64_t)(step + 1) * gridDim.x - 1) / jobs.dealt); }
__device__ inline int first_step_of_tile(const Jobs &jobs, int tile) {
    int j = 0;
    while (j + 1 < jobs.count && tile >= jobs.job[j + 1].first_tile) j++;
    return jobs.job[j].first_step + (tile - jobs.job[j].first_tile) * jobs.job[j].steps;
}

template <typename E> __device__ inline uint32_t pack(float a, float b) {
    const E low = from_float<E>(a), high = from_float<E>(b);
    return (uint32_t)reinterpret_cast<const uint16_t &>(low) | (uint32_t)reinterpret_cast<const uint16_t &>(high) << 16;
}

// A square stays within fp16's range, if E is that.
template <typename E> __device__ inline float finished(Finish f, float v) {
    if (f == Finish::Square) return fminf(fmaxf(v, 0) * fmaxf(v, 0), std::is_same_v<E, half> ? kHalfMax : INFINITY);
    return f == Finish::Tanh ? tanhf(v) : f == Finish::Sigmoid ? sigmoid(v) : v;
}

// What the lane that copies does.
template <int kRows, int kTokens> struct Copies {
    const Jobs &jobs;
    uint32_t shared;

    __device__ uint32_t stage(int n) const { return shared + n * kStageBytes<kRows, kTokens>; }
    __device__ void copy_w(const Place &p, int to, uint64_t *full) const { copy_tile(stage(to), &jobs.job[p.job].w, full, p.step * kInputs, p.row, jobs.hint); }
    __device__ void copy_x(const Place &p, int to, uint64_t *full) const {
        copy_tile(stage(to) + kRows * kInputs * 2, &jobs.job[p.job].x, full, p.step * kInputs, p.token_block * kTokens, kReadAgain);
    }

    __device__ static Place after(const Jobs &jobs, Place p, int at) {
        if (p.step + 1 < jobs.job[p.job].steps) {
            p.step++;
            return p;
        }
        return Place::of<kRows>(jobs, at);
    }

    // The whole work of one lane.
    __device__ void run(int begin, int count, uint64_t *full, uint64_t *empty) const {
        constexpr int n_stages = kStages<kRows, kTokens>;
        const int ahead = min(count, n_stages);
        Place p = Place::of<kRows>(jobs, begin);
        for (int i = 0; i < ahead; i++) {
            if (i > 0) p = after(jobs, p, begin + i);
            arrive_expecting(full + i, kStageBytes<kRows, kTokens>);
            copy_w(p, i, full + i);
        }
        wait_for_previous();
        p = Place::of<kRows>(jobs, begin);
        for (int i = 0; i < ahead; i++) {
            if (i > 0) p = after(jobs, p, begin + i);
            copy_x(p, i, full + i);
        }
        for (int i = ahead; i < count; i++) {
            p = after(jobs, p, begin + i);
            const int to = i % n_stages;
            wait_phase(empty + to, (i / n_stages - 1) & 1);
            arrive_expecting(full + to, kStageBytes<kRows, kTokens>);
            copy_w(p, to, full + to);
            copy_x(p, to, full + to);
        }
    }
};

// The sums of a warpgroup: 64 rows and kTokens tokens.
template <typename E, int kRows, int kTokens> struct Sums {
    static constexpr int kValues = kTokens / 2;
    float d[kValues];

    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < kValues; i++) d[i] = 0;
    }

    // Adds the sums of all blocks that share the tile, count from first on, in
    // their order; false if this one was not the last to arrive.
    __device__ bool bring_together(const Jobs &jobs, int first, int count, int32_t *arrived) {
        __shared__ int before;
        constexpr int kAll = kRows * 2; // threads
        const auto place = [&](int i) { // the first sharer ends with this tile, the others begin with it
            return reinterpret_cast<float4 *>(jobs.partial) + ((int64_t)(first + i) * 2 + (i == 0)) * (kRows * kTokens / 4) + threadIdx.x;
        };
        float4 *mine = place((int)blockIdx.x - first);
#pragma unroll
        for (int i = 0; i < kValues / 4; i++) mine[i * kAll] = {d[i * 4], d[i * 4 + 1], d[i * 4 + 2], d[i * 4 + 3]};
        __threadfence();
        barrier_of(kAll);
        if (threadIdx.x == 0) {
            before = atomicAdd(arrived, 1);
            if (before == count - 1) *arrived = 0;
        }
        barrier_of(kAll);
        const bool last = before == count - 1;
        barrier_of(kAll);
        if (!last) return false;
        __threadfence();
        clear();
        for (int s = 0; s < count; s++) {
            const float4 *from = place(s);
#pragma unroll
            for (int i = 0; i < kValues / 4; i++) {
                const float4 v = __ldcg(from + i * kAll);
                d[i * 4] += v.x;
                d[i * 4 + 1] += v.y;
                d[i * 4 + 2] += v.z;
                d[i * 4 + 3] += v.w;
            }
        }
        return true;
    }

    // Stores results: row is the warp's first one, token the tile's. By way of a
    // transposition, so that a lane has four rows of one token.
    __device__ void store(const Job &job, int row, int token, int tokens) {
        const int lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
        const int at_row = row + (t & 1) * 8 + (t & 2) * 2;
        E *out = static_cast<E *>(job.out) + at_row;
#pragma unroll
        for (int n = 0; n < kTokens / 8; n++) {
            const auto v = [&](int e) { return finished<E>(job.finish, d[n * 4 + e]); };
            const uint32_t low = transpose8(pack<E>(v(0), v(1))), high = transpose8(pack<E>(v(2), v(3)));
            const uint32_t other = SHFL_XOR(t & 1 ? low : high, 1);
            const uint2 both = t & 1 ? uint2{other, high} : uint2{low, other};
            const int at_token = token + n * 8 + g;
            if (at_token < tokens && at_row < job.rows) *reinterpret_cast<uint2 *>(out + (int64_t)at_token * job.rows) = both;
        }
    }
};

#endif

#if HOPPER_HOST

template <typename E, int kRows, int kTokens>
__global__ void __launch_bounds__((kThreads<kRows, kTokens>), (kResident<kRows, kTokens>)) multiply_tiles(const __grid_constant__ Jobs jobs) {
#if HOPPER_DEVICE
    constexpr int n_stages = kStages<kRows, kTokens>, kWarps = kRows / 16;
    constexpr bool kGives = kResident<kRows, kTokens> == 1; // registers, from the warps that copy to the others
    extern __shared__ uint8_t unaligned[];
    __shared__ uint64_t full[n_stages], empty[n_stages];
    const uint32_t shared = (shared_address(unaligned) + 1023) & ~1023u;
    const int warp = SHFL((int)threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp; // the shuffle tells the compiler that warps stay together
    const int begin = jobs.whole ? first_step_of_tile(jobs, blockIdx.x) : first_step(jobs, blockIdx.x);
    const int end = jobs.whole ? begin + jobs.job[Place::of<kRows>(jobs, begin).job].steps : first_step(jobs, blockIdx.x + 1);
    if (threadIdx.x == 0) {
        for (int i = 0; i < n_stages; i++) {
            barrier_init(full + i, 1);
            barrier_init(empty + i, kWarps);
        }
        barriers_made();
    }
    __syncthreads();
    let_next_start();
    if (warp >= kWarps) {
        if constexpr (kGives) give_registers<24>();
        if (warp == kWarps && lane == 0) Copies<kRows, kTokens>{jobs, shared}.run(begin, end - begin, full, empty);
    } else {
        if constexpr (kGives) take_registers<kRows == 128 ? 240 : 112>();
        const int warpgroup = warp / 4;
        wait_for_previous();
        int n = 0; // steps done
        for (int at = begin; at < end;) {
            const Place p = Place::of<kRows>(jobs, at);
            const Job &job = jobs.job[p.job];
            const int until = min(end, p.first + job.steps);
            Sums<E, kRows, kTokens> sums;
            sums.clear();
            for (const int from = at; at < until; at++, n++) {
                const int stage = n % n_stages;
                wait_phase(full + stage, n / n_stages & 1);
                const uint32_t tile = shared + stage * kStageBytes<kRows, kTokens>;
                const uint64_t w = tile_at(tile + warpgroup * 64 * kInputs * 2), x = tile_at(tile + kRows * kInputs * 2);
                begin_products();
#pragma unroll
                for (int k = 0; k < kInputs / 16; k++) hopper::multiply<E, kTokens>(sums.d, w + k * 2, x + k * 2);
                end_products();
                wait_products<1>(); // the step before this one is done: its place can be used again
                if (at > from && lane == 0) arrive(empty + (n - 1) % n_stages);
            }
            wait_products<0>();
            if (lane == 0) arrive(empty + (n - 1) % n_stages);
            const int first = jobs.whole ? 0 : block_of(jobs, p.first), sharers = jobs.whole ? 1 : block_of(jobs, p.first + job.steps - 1) - first + 1;
            if (sharers > 1 && !sums.bring_together(jobs, first, sharers, jobs.arrived + job.first_tile + p.tile)) continue;
            sums.store(job, p.row + warp * 16, p.token_block * kTokens, jobs.tokens);
        }
    }
#endif
}

#endif

} // namespace stream
