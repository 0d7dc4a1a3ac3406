// wgmma_product.h: several products in one launch, on Hopper:
//
//   Y_j [tokens][rows_j] = f_j(X_j [tokens][inputs_j] · W_j [rows_j][inputs_j]ᵀ)
//
// X and W are E, sums are fp32, Y is E, or fp32 where it is added to.
//
// A tile is kRows rows of one W and kTokens tokens; its work is cut into steps of 64
// inputs. A tile of up to 64 tokens belongs to a team of blocks, a cluster: they share
// its steps and add up their sums through their shared memory. Steps of larger tiles are
// dealt out in order and in equal parts to all blocks of the launch, so that every
// multiprocessor has the same to do; where blocks share a tile, each writes its sums to
// partial, and the last to arrive adds them all up in order.
//
// One warp of a block copies tiles of W and X to shared memory, kStages steps ahead,
// those of W before the previous kernel has ended. The other warps form warpgroups, which
// multiply 64 rows each.
//
// A result depends on its own token, the shape and the launch's tiles alone.
#pragma once

#include "device/hopper.h"
#include "device/launch.h"
#include "device/tensor_map.h"
#include "engine/pass.h"
#include "layer/element.h"
#include "layer/wgmma.h"

namespace wgmma {

constexpr int kInputs = 64; // of a step

#if HOPPER_HOST

struct Job {
    hopper::TensorMap w, x;
    void *out;
    const void *gate;
    int rows, steps; // steps of one of its tiles
    int first_step, first_tile; // among all of the launch
    Finish finish;
};

struct Jobs {
    Job job[kMostProducts];
    int count, tokens, token_blocks; // token_blocks: of kTokens tokens
    int team;                        // blocks of a tile
    int dealt;                       // steps of all tiles
    uint64_t hint;                   // for W
    bool late;                       // the next kernel starts when all before this one has ended
    float *partial;   // [blocks][2][kRows * kTokens]
    int32_t *arrived; // [tiles]; zero between launches
};

#endif

constexpr int kMostTeam = 8;
template <int kTokens> constexpr bool kDealt = kTokens > 64;

template <int kRows, int kTokens> constexpr int kStageBytes = (kRows + kTokens) * kInputs * 2;

// Blocks on a multiprocessor: two, so that this kernel and the next overlap, or one.
template <int kRows, int kTokens> constexpr int kResident = kRows == 128 && kTokens <= 64 ? 2 : 1;
template <int kRows, int kTokens>
constexpr int kStages = (kResident<kRows, kTokens> == 2 ? 108 << 10 : 216 << 10) / kStageBytes<kRows, kTokens>;
template <int kRows, int kTokens> constexpr int kSharedBytes = kStages<kRows, kTokens> * kStageBytes<kRows, kTokens> + 1024;
template <int kRows, int kTokens> constexpr int kThreads = kRows * 2 + (kResident<kRows, kTokens> == 2 ? kWarp : 4 * kWarp);

#if HOPPER_DEVICE && HOPPER_HOST

using namespace hopper;

// The tile of a step of the launch.
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

// Where steps are dealt out: the first step of a block, and the block of a step. Then the
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

// The finished value of a sum. With fp16, a square is clamped to its range.
template <typename E> __device__ inline float finished(Finish f, float v) {
    if (f == Finish::Square) return fminf(fmaxf(v, 0) * fmaxf(v, 0), std::is_same_v<E, half> ? kHalfMax : INFINITY);
    return f == Finish::Tanh ? tanhf(v) : f == Finish::Sigmoid ? sigmoid(v) : v;
}

// The steps of a block.
struct Share {
    int begin, end;

    template <int kRows, int kTokens> __device__ static Share of(const Jobs &jobs) {
        if (kDealt<kTokens>) return {first_step(jobs, blockIdx.x), first_step(jobs, blockIdx.x + 1)};
        const int first = first_step_of_tile(jobs, blockIdx.x / jobs.team), rank = blockIdx.x % jobs.team;
        const int steps = jobs.job[Place::of<kRows>(jobs, first).job].steps;
        return {first + steps * rank / jobs.team, first + steps * (rank + 1) / jobs.team};
    }
};

// The work of the lane that copies.
template <int kRows, int kTokens, bool kAcross> struct Copies {
    const Jobs &jobs;
    uint32_t shared;

    __device__ uint32_t stage(int n) const { return shared + n * kStageBytes<kRows, kTokens>; }
    __device__ void copy_w(const Place &p, int to, uint64_t *full) const {
        const void *w = &jobs.job[p.job].w;
        if constexpr (kAcross) {
#pragma unroll
            for (int i = 0; i < kRows; i += 64) copy_tile(stage(to) + i * kInputs * 2, w, full, p.row + i, p.step * kInputs, jobs.hint);
        } else {
            copy_tile(stage(to), w, full, p.step * kInputs, p.row, jobs.hint);
        }
    }
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

    // Copies all steps of the block.
    __device__ void run(int begin, int count, uint64_t *full, uint64_t *empty) const {
        constexpr int n_stages = kStages<kRows, kTokens>;
        const int ahead = min(count, n_stages);
        Place p = Place::of<kRows>(jobs, begin);
        for (int i = 0; i < ahead; i++) {
            if (i > 0) p = after(jobs, p, begin + i);
            arrive_expecting(full + i, kStageBytes<kRows, kTokens>);
            copy_w(p, i, full + i);
            bring_map(&jobs.job[p.job].x);
        }
        wait_for_previous();
        if (jobs.late) let_next_start();
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

// Stores a warp's results: 16 rows, eight tokens at a time. With g = l/4 and t = l%4, lane l
// has tokens 2t and 2t+1 of rows g and g+8 (v[0..3]).
template <typename E> struct Piece {
    const Job &job;
    int row, token, tokens;

    // The place of v[e] in a result that is added to; null if it has none.
    __device__ float *place(int n, int e) const {
        const int lane = threadIdx.x % kWarp, r = row + lane / 4 + e / 2 * 8, t = token + n * 8 + lane % 4 * 2 + e % 2;
        return r < job.rows && t < tokens ? static_cast<float *>(job.out) + (int64_t)t * job.rows + r : nullptr;
    }

    __device__ void load(float *v, int n) const {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (const float *from = place(n, e)) v[e] = *from;
    }

    // v = old + σ(gate) v, by elements.
    __device__ void add_gated(float *v, const float *old, int n) const {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (const float *to = place(n, e)) v[e] = old[e] + sigmoid(to_float(static_cast<const E *>(job.gate)[to - static_cast<float *>(job.out)])) * v[e];
    }

    // Rounded results are transposed first, so that a lane stores four rows of one token.
    __device__ void store(const float *v, int n) const {
        if (job.finish == Finish::Add) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (float *to = place(n, e)) *to = v[e];
            return;
        }
        const int lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
        const auto f = [&](int e) { return finished<E>(job.finish, v[e]); };
        const uint32_t low = transpose8(pack<E>(f(0), f(1))), high = transpose8(pack<E>(f(2), f(3)));
        const uint32_t other = SHFL_XOR(t & 1 ? low : high, 1);
        const int at_row = row + (t & 1) * 8 + (t & 2) * 2, at_token = token + n * 8 + g;
        if (at_token < tokens && at_row < job.rows)
            *reinterpret_cast<uint2 *>(static_cast<E *>(job.out) + (int64_t)at_token * job.rows + at_row) = t & 1 ? uint2{other, high} : uint2{low, other};
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

    // Adds up the sums of the `count` blocks from `first` on that share the tile, in order.
    // Returns false, and does not add, if this block was not the last to arrive.
    __device__ bool add_sharers(const Jobs &jobs, int first, int count, int32_t *arrived) {
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

    // Stores results; row is the first one of the warp, token the first one of the tile.
    __device__ void store(const Job &job, int row, int token, int tokens) {
        constexpr int kAtOnce = 2; // pieces
        const Piece<E> piece{job, row, token, tokens};
#pragma unroll
        for (int n = 0; n < kTokens / 8; n += kAtOnce) {
            if (job.finish == Finish::Add) {
                float old[kAtOnce * 4] = {};
#pragma unroll
                for (int i = 0; i < kAtOnce; i++) piece.load(old + i * 4, n + i);
                if (job.gate) {
#pragma unroll
                    for (int i = 0; i < kAtOnce; i++) piece.add_gated(d + (n + i) * 4, old + i * 4, n + i);
                } else {
#pragma unroll
                    for (int i = 0; i < kAtOnce * 4; i++) d[n * 4 + i] += old[i];
                }
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; i++) piece.store(d + (n + i) * 4, n + i);
        }
    }

    // Stores a tile whose team has its sums apart, each block those over its own part of the
    // inputs: each block adds up some pieces, in the order of the inputs. token is the tile's
    // first one; the tile's sums take the place of the copied tiles at shared.
    __device__ void store_with_team(const Job &job, int row, int token, int tokens, int team, uint32_t shared) {
        constexpr int kWarps = kRows / 16, kPieces = kTokens / 8;
        const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, rank = blockIdx.x % team;
        const auto place = [&](int piece) { return shared + (piece * kWarp + lane) * (int)sizeof(float4); };
        barrier_of(kRows * 2); // all warps have multiplied
#pragma unroll
        for (int n = 0; n < kPieces; n++) store_shared(place(warp * kPieces + n), {d[n * 4], d[n * 4 + 1], d[n * 4 + 2], d[n * 4 + 3]});
        cluster_barrier();
        for (int piece = rank + warp * team; piece < kWarps * kPieces; piece += team * kWarps) {
            const Piece<E> at{job, row + piece / kPieces * 16, token, tokens};
            const int n = piece % kPieces;
            float sum[4] = {}, old[4] = {};
            if (job.finish == Finish::Add) at.load(job.gate ? old : sum, n);
            float4 part[kMostTeam];
#pragma unroll
            for (int s = 0; s < kMostTeam; s++)
                if (s < team) part[s] = load_of_block(place(piece), s);
#pragma unroll
            for (int s = 0; s < kMostTeam; s++)
                if (s < team) sum[0] += part[s].x, sum[1] += part[s].y, sum[2] += part[s].z, sum[3] += part[s].w;
            if (job.gate) at.add_gated(sum, old, n);
            at.store(sum, n);
        }
        cluster_barrier(); // others may still read
    }
};

#endif

#if HOPPER_HOST

template <typename E, int kRows, int kTokens, bool kAcross>
__global__ void __launch_bounds__((kThreads<kRows, kTokens>), (kResident<kRows, kTokens>)) multiply_tiles(const __grid_constant__ Jobs jobs) {
#if HOPPER_DEVICE
    constexpr int n_stages = kStages<kRows, kTokens>, kWarps = kRows / 16;
    constexpr bool kGives = kResident<kRows, kTokens> == 1; // the copying warps give registers to the others
    extern __shared__ uint8_t unaligned[];
    __shared__ uint64_t full[n_stages], empty[n_stages];
    const uint32_t shared = (shared_address(unaligned) + 1023) & ~1023u;
    const int warp = SHFL((int)threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp; // the shuffle tells the compiler that warps stay together
    const auto [begin, end] = Share::of<kRows, kTokens>(jobs);
    if (threadIdx.x == 0) {
        for (int i = 0; i < n_stages; i++) {
            barrier_init(full + i, 1);
            barrier_init(empty + i, kWarps);
        }
        barriers_made();
    }
    __syncthreads();
    if (!jobs.late) let_next_start();
    if (warp >= kWarps) {
        if constexpr (kGives) give_registers<24>();
        if (warp == kWarps && lane == 0) Copies<kRows, kTokens, kAcross>{jobs, shared}.run(begin, end - begin, full, empty);
    } else {
        if constexpr (kGives) take_registers<kRows == 128 ? 240 : 112>();
        const int warpgroup = warp / 4;
        wait_for_previous();
        if (jobs.late) let_next_start();
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
                for (int k = 0; k < kInputs / 16; k++) hopper::multiply<E, kTokens, kAcross>(sums.d, w + k * (kAcross ? 128 : 2), x + k * 2);
                end_products();
                wait_products<1>(); // the step before this one is complete, and its place free
                if (at > from && lane == 0) arrive(empty + (n - 1) % n_stages);
            }
            wait_products<0>();
            if (lane == 0) arrive(empty + (n - 1) % n_stages);
            const int token = p.token_block * kTokens;
            if constexpr (kDealt<kTokens>) {
                const int first = block_of(jobs, p.first), sharers = block_of(jobs, p.first + job.steps - 1) - first + 1;
                if (sharers > 1 && !sums.add_sharers(jobs, first, sharers, jobs.arrived + job.first_tile + p.tile)) continue;
            } else if (jobs.team > 1) {
                sums.store_with_team(job, p.row, token, jobs.tokens, jobs.team, shared);
                continue;
            }
            sums.store(job, p.row + warp * 16, token, jobs.tokens);
        }
    }
#endif
}

#endif

} // namespace wgmma
