// mid_product.h: products for some dozens of tokens, still bound by how fast
// weights come from memory, several of them in one launch:
//
//   Y_j [tokens][rows_j] = X_j [tokens][inputs_j] W_jᵀ
//
// A block has a tile of 64 rows of one W and kTokens tokens, and some of the
// inputs: with few tiles, several blocks share one, leave their sums in partial,
// and the last to arrive adds them up in their order and hands them to the sink.
// W and X come to shared memory kStages steps of 64 inputs ahead; the first of W
// are asked for before the previous kernel has ended. Tile products are those of
// small_device.h: a warp has 16 of the rows.
//
// Where W is stored transposed, [inputs][rows], each of the four warps has all 64
// rows and a quarter of a step's inputs; pairs of inputs are put together in
// registers, and rows 2i and 2i+1 of eight are rows g and g+8 of tile product i.
//
// A result depends on its own token, the shape and kTokens alone. Shared memory:
// stages of W, [2][64][32] or transposed [64][64], then X [2][kTokens][32]; later
// sums fp32 [kTokens][64].
#pragma once

#include "pass.h"
#include "small_device.h"

namespace mid {

constexpr int kRows = 64;
constexpr int kInputs = 64; // of a step
constexpr int kHalf = 32;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMostJobs = 7;
constexpr int kMostTokens = 128; // of a block
constexpr int kPartialSums = 4 << 20;
constexpr int kSharedTiles = 4096;

template <typename E> struct Job {
    const E *w, *x; // x [tokens][inputs]
    int rows, inputs;
};

template <typename E> struct Jobs {
    Job<E> job[kMostJobs];
    int first_tile[kMostJobs + 1]; // of each; the last entry is the number of tiles
    int count = 0;

    void add(const void *w, const void *x, int rows, int inputs) {
        job[count] = {static_cast<const E *>(w), static_cast<const E *>(x), rows, inputs};
        if (count == 0) first_tile[0] = 0;
        first_tile[count + 1] = first_tile[count] + (int)ceil_div(rows, kRows);
        count++;
    }
    int tiles() const { return first_tile[count]; }
    __device__ int of(int tile) const {
        int j = 0;
        while (tile >= first_tile[j + 1]) j++;
        return j;
    }
};

// Steps in shared memory, at most 96 KiB: every card has that, and Hopper two
// blocks on a multiprocessor.
template <int kTokens> constexpr int kStages = kTokens <= 16 ? 9 : kTokens <= 32 ? 8 : kTokens <= 64 ? 6 : 4;
template <int kTokens> constexpr int kStageValues = (kRows + kTokens) * kInputs;
template <typename E, int kTokens> constexpr int kSharedBytes = kStages<kTokens> * kStageValues<kTokens> * (int)sizeof(E);

// A step's copies of W or X: rows up to last of kCount. A row of 32 inputs takes 64
// bytes, so that the lanes of two rows read from all banks. What is not copied
// is multiplied as it is, and comes to sums that no one asks for.
template <int kCount, typename E> __device__ void copy_rows(E *to, const E *from, int stride, int last, int half, int halves) {
    if (half >= halves) return;
#pragma unroll
    for (int i = 0; i < kCount * 4; i += kThreads) {
        const int row = (i + (int)threadIdx.x) / 4, part = (i + (int)threadIdx.x) % 4 * 8;
        if (row <= last) copy16(to + row * kHalf + part, from + (int64_t)row * stride + half * kHalf + part);
    }
}

// The place of 8 rows' values of one input among the transposed tile's: spread
// so that lanes of four inputs read from all banks.
__device__ inline int spread(int input, int part) { return input * kRows + (part ^ (input / 4 % 4 * 2)) * 8; }

// partial and arrived are null if no tile is shared.
struct Share {
    int splits;
    float *partial;   // [tile of the grid][splits][kTokens*64]
    int32_t *arrived; // per tile; zero between launches
};

// grid (tiles * splits, blocks of kTokens tokens); sink(job, row, token, sum)
template <typename E, int kTokens, bool kTransposed, typename Sink>
__global__ void __launch_bounds__(kThreads, 2) multiply(Jobs<E> jobs, int tokens, Share share, Sink sink) {
    extern __shared__ uint4 shared[];
    constexpr int kColumns = kTokens / 8, kTiles = kTransposed ? 4 : 1;
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    const int tile = blockIdx.x / share.splits, split = blockIdx.x % share.splits;
    const int j = jobs.of(tile);
    const Job<E> job = jobs.job[j];
    const int first_row = (tile - jobs.first_tile[j]) * kRows, last_row = min(kRows, job.rows - first_row) - 1;
    const int first_token = blockIdx.y * kTokens, last_token = min(kTokens, tokens - first_token) - 1;
    const int halves = job.inputs / kHalf, steps = (halves + 1) / 2;
    const int begin = steps * split / share.splits, count = steps * (split + 1) / share.splits - begin;
    E *stages = reinterpret_cast<E *>(shared);

    // Blocks go through their steps in turn from different ones on: else all
    // would ask the same few lines of X of the L2 cache at the same time.
    const int turn = blockIdx.x % count;
    auto step_at = [&](int n) { return begin + (n + turn < count ? n + turn : n + turn - count); };
    auto stage_at = [&](int n) { return stages + n % kStages<kTokens> * kStageValues<kTokens>; };
    auto copy_w = [&](int n) {
        if (n >= count) return;
        const int step = step_at(n);
        E *to = stage_at(n);
        if constexpr (kTransposed) {
            for (int i = threadIdx.x; i < kInputs * 8; i += kThreads) {
                const int input = i / 8, part = i % 8;
                if (step * 2 + input / kHalf < halves && part * 8 <= last_row)
                    copy16(to + spread(input, part), job.w + (int64_t)(step * kInputs + input) * job.rows + first_row + part * 8);
            }
        } else {
#pragma unroll
            for (int h = 0; h < 2; h++)
                copy_rows<kRows>(to + h * kRows * kHalf, job.w + (int64_t)first_row * job.inputs, job.inputs, last_row, step * 2 + h, halves);
        }
    };
    auto copy_x = [&](int n) {
        if (n >= count) return;
        E *to = stage_at(n) + kRows * kInputs;
#pragma unroll
        for (int h = 0; h < 2; h++)
            copy_rows<kTokens>(to + h * kTokens * kHalf, job.x + (int64_t)first_token * job.inputs, job.inputs, last_token, step_at(n) * 2 + h,
                               halves);
    };

    for (int n = 0; n < kStages<kTokens> - 1; n++) copy_w(n);
    let_next_start();
    wait_for_previous();
    for (int n = 0; n < kStages<kTokens> - 1; n++) {
        copy_x(n);
        end_group();
    }
    float c[kTiles][kColumns][4] = {};
    for (int n = 0; n < count; n++) {
        wait_copies<kStages<kTokens> - 2>();
        __syncthreads();
        copy_w(n + kStages<kTokens> - 1);
        copy_x(n + kStages<kTokens> - 1);
        end_group();
        const int step = step_at(n);
        const E *w = stage_at(n), *x = w + kRows * kInputs;
        if constexpr (kTransposed) {
            const int input = warp * 16 + t * 4; // of the step
            if (step * 2 + input / kHalf >= halves) continue;
            uint4 a[4];
#pragma unroll
            for (int i = 0; i < 4; i++) a[i] = *reinterpret_cast<const uint4 *>(w + spread(input + i, g));
            const E *x_at = x + input / kHalf * kTokens * kHalf + input % kHalf;
#pragma unroll
            for (int column = 0; column < kColumns; column++) {
                const uint2 b = *reinterpret_cast<const uint2 *>(x_at + (column * 8 + g) * kHalf);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const uint32_t r0 = (&a[0].x)[i], r1 = (&a[1].x)[i], r2 = (&a[2].x)[i], r3 = (&a[3].x)[i];
                    multiply_tile<E>(c[i][column], __byte_perm(r0, r1, 0x5410), __byte_perm(r0, r1, 0x7632), __byte_perm(r2, r3, 0x5410),
                                     __byte_perm(r2, r3, 0x7632), b.x, b.y);
                }
            }
        } else {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                if (step * 2 + h >= halves) continue;
                const E *w_at = w + h * kRows * kHalf + (warp * 16 + g) * kHalf + t * 8;
                const uint4 low = *reinterpret_cast<const uint4 *>(w_at), high = *reinterpret_cast<const uint4 *>(w_at + 8 * kHalf);
#pragma unroll
                for (int column = 0; column < kColumns; column++) {
                    const uint4 b = *reinterpret_cast<const uint4 *>(x + h * kTokens * kHalf + (column * 8 + g) * kHalf + t * 8);
                    multiply_tile<E>(c[0][column], low.x, high.x, low.y, high.y, b.x, b.y);
                    multiply_tile<E>(c[0][column], low.z, high.z, low.w, high.w, b.z, b.w);
                }
            }
        }
    }
    wait_copies<0>();
    __syncthreads();

    // Sums to shared memory, [kTokens][64].
    float *sums = reinterpret_cast<float *>(shared);
    for (int w = 0; w < (kTransposed ? kWarps : 1); w++) { // transposed: each warp adds its own
        if (!kTransposed || w == warp)
#pragma unroll
            for (int i = 0; i < kTiles; i++)
#pragma unroll
                for (int n = 0; n < kColumns; n++)
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const int row = kTransposed ? g * 8 + i * 2 + e / 2 : warp * 16 + g + e / 2 * 8;
                        float *sum = sums + (n * 8 + t * 2 + e % 2) * kRows + row;
                        *sum = c[i][n][e] + (kTransposed && w > 0 ? *sum : 0.0f);
                    }
        __syncthreads();
    }
    constexpr int kSums = kTokens * kRows;
    if (share.splits > 1) {
        __shared__ int arrived;
        const int grid_tile = blockIdx.y * (gridDim.x / share.splits) + tile;
        float *partial = share.partial + (int64_t)grid_tile * share.splits * kSums;
        for (int i = threadIdx.x; i < kSums; i += kThreads) partial[split * kSums + i] = sums[i];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) arrived = atomicAdd(share.arrived + grid_tile, 1);
        __syncthreads();
        if (arrived != share.splits - 1) return;
        __threadfence();
        for (int i = threadIdx.x; i < kSums; i += kThreads) {
            float all = 0;
            for (int s = 0; s < share.splits; s++) all += partial[s * kSums + i];
            sums[i] = all;
        }
        if (threadIdx.x == 0) share.arrived[grid_tile] = 0;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < kSums; i += kThreads) {
        const int row = i % kRows, token = i / kRows;
        if (row <= last_row && token <= last_token) sink(j, first_row + row, first_token + token, sums[i]);
    }
}

// How many blocks share a tile: as many as let two blocks on every
// multiprocessor, each with two steps or more.
inline int splits_for(int64_t tiles, int steps, int tokens_of_block) {
    const int64_t most = 512 / tokens_of_block; // more would take longer to add up than they save
    const int64_t blocks = 2 * device_limits().multiprocessors, room = kPartialSums / (tiles * tokens_of_block * kRows);
    if (tiles > kSharedTiles) return 1;
    return (int)std::max<int64_t>(1, std::min<int64_t>({blocks / tiles, steps / 2, room, most}));
}

template <typename E, int kTokens, bool kTransposed, typename Sink>
void launch(const Pass &p, const Jobs<E> &jobs, int tokens, const Sink &sink) {
    const int token_blocks = (int)ceil_div(tokens, kTokens);
    int steps = 1 << 30;
    for (int j = 0; j < jobs.count; j++) steps = std::min(steps, (int)ceil_div(jobs.job[j].inputs, kInputs));
    const Share share{splits_for((int64_t)jobs.tiles() * token_blocks, steps, kTokens), p.act.partial, p.act.arrived};
    launch_early(multiply<E, kTokens, kTransposed, Sink>, dim3(jobs.tiles() * share.splits, token_blocks), kThreads,
                 kSharedBytes<E, kTokens>, p.stream, jobs, tokens, share, sink);
}

template <typename E, bool kTransposed = false, typename Sink>
void product(const Pass &p, const Jobs<E> &jobs, int tokens, const Sink &sink) {
    if (tokens <= 16) return launch<E, 16, kTransposed>(p, jobs, tokens, sink);
    if (tokens <= 32) return launch<E, 32, kTransposed>(p, jobs, tokens, sink);
    if (tokens <= 64 || kTransposed) return launch<E, 64, kTransposed>(p, jobs, tokens, sink);
    if constexpr (!kTransposed) launch<E, 128, false>(p, jobs, tokens, sink);
}

} // namespace mid
