// mid_product.h: products for some dozens of tokens, still bound by how fast
// weights come from memory, several of them in one launch:
//
//   Y_j [tokens][rows_j] = X_j [tokens][inputs_j] W_jᵀ
//
// A block has a tile of 64 rows of one W and kTokens tokens, and some of the
// inputs: with few tiles, several blocks share one, leave their sums in partial,
// and the last to arrive adds them up in their order and hands them to the sink.
// W and X come to shared memory some steps of 128 inputs ahead; the first of W
// are asked for before the previous kernel has ended. Tile products are those of
// small_device.h: a warp has 16 of the rows and half of a step's inputs.
//
// Where W is stored transposed, [inputs][rows], a warp has all 64 rows and 16 of a
// step's inputs; pairs of inputs are put together in registers, and rows 2i and
// 2i+1 of eight are rows g and g+8 of tile product i.
//
// A result depends on its own token, the shape and kTokens alone. Shared memory:
// stages of W, [4][64][32] or transposed [128][64], then X [4][kTokens][32]; later
// sums fp32, [4 or 1][kTokens][64].
#pragma once

#include "pass.h"
#include "small_device.h"

namespace mid {

constexpr int kRows = 64;
constexpr int kInputs = 128; // of a step
constexpr int kPart = 32;    // inputs that lie together in shared memory
constexpr int kParts = kInputs / kPart;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMostJobs = 7;
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
template <int kTokens> constexpr int kStages = kTokens <= 32 ? 4 : kTokens <= 64 ? 3 : 2;
template <int kTokens> constexpr int kStageValues = (kRows + kTokens) * kInputs;
template <typename E, int kTokens> constexpr int kSharedBytes = kStages<kTokens> * kStageValues<kTokens> * (int)sizeof(E);

// A thread's copies of the steps of W or X, of which it has the same 16 bytes of
// every 16th row: sixteen threads together two lines of 128 bytes. In shared
// memory a row of 32 inputs takes 64 bytes, so that the lanes of two rows read
// from all banks. What is not copied is multiplied as it is, and comes to sums
// that no one asks for.
template <typename E, int kCount> struct RowCopies {
    static constexpr int kApart = kThreads / 16, kEach = kCount / kApart;
    const E *from; // at step 0
    int64_t apart; // elements between rows
    int to, part, has; // has: rows of this thread

    __device__ RowCopies(const E *base, int inputs, int last)
        : from(base + (int64_t)(threadIdx.x / 16) * inputs + threadIdx.x % 16 * 8), apart((int64_t)kApart * inputs),
          to(threadIdx.x % 16 / 4 * kCount * kPart + threadIdx.x / 16 * kPart + threadIdx.x % 4 * 8), part(threadIdx.x % 16 / 4),
          has((last - (int)threadIdx.x / 16 + kApart) / kApart) {}

    __device__ void copy(SharedPlace<E> stage, int step, int parts) const {
        if (step * kParts + part >= parts) return;
        const E *at = from + step * kInputs;
#pragma unroll
        for (int i = 0; i < kEach; i++)
            if (i < has) stage.copy16(to + i * kApart * kPart, at + i * apart);
    }
};

// The same of a transposed W: eight threads have the 64 rows of an input. Rows of
// an input are spread so that lanes of four inputs read from all banks.
__device__ inline int spread(int input, int piece) { return input * kRows + (piece ^ (input / 4 % 4 * 2)) * 8; }

template <typename E> struct InputCopies {
    static constexpr int kApart = kThreads / 8, kEach = kInputs / kApart;
    const E *from;
    int rows;
    bool has;

    __device__ InputCopies(const E *base, int rows, int last)
        : from(base + (int64_t)(threadIdx.x / 8) * rows + threadIdx.x % 8 * 8), rows(rows), has((int)threadIdx.x % 8 * 8 <= last) {}

    __device__ void copy(SharedPlace<E> stage, int step, int parts) const {
        const E *at = from + (int64_t)step * kInputs * rows;
#pragma unroll
        for (int i = 0; i < kEach; i++) {
            const int input = threadIdx.x / 8 + i * kApart;
            if (has && step * kParts + input / kPart < parts) stage.copy16(spread(input, threadIdx.x % 8), at + (int64_t)i * kApart * rows);
        }
    }
};

// Sums of a warp's tile products: with rows g and g+8, or transposed.
template <int kTokens, bool kTransposed> struct Sums {
    static constexpr int kColumns = kTokens / 8, kTiles = kTransposed ? 4 : 1;
    float c[kTiles][kColumns][4] = {};

    // f(place in [kTokens][64], sum) for each one.
    template <typename F> __device__ void each(F f) {
        const int lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4, warp_row = threadIdx.x / kWarp % 4 * 16;
#pragma unroll
        for (int i = 0; i < kTiles; i++)
#pragma unroll
            for (int n = 0; n < kColumns; n++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const int row = kTransposed ? g * 8 + i * 2 + e / 2 : warp_row + g + e / 2 * 8;
                    f((n * 8 + t * 2 + e % 2) * kRows + row, c[i][n][e]);
                }
    }

    // Adds the products of one step.
    template <typename E> __device__ void add(const E *w, const E *x, int step, int parts) {
        const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
        if constexpr (kTransposed) {
            const int input = warp * 16 + t * 4; // of the step
            if (step * kParts + input / kPart >= parts) return;
            uint4 a[4];
#pragma unroll
            for (int i = 0; i < 4; i++) a[i] = *reinterpret_cast<const uint4 *>(w + spread(input + i, g));
            const E *x_at = x + input / kPart * kTokens * kPart + input % kPart;
#pragma unroll
            for (int n = 0; n < kColumns; n++) {
                const uint2 b = *reinterpret_cast<const uint2 *>(x_at + (n * 8 + g) * kPart);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const uint32_t r0 = (&a[0].x)[i], r1 = (&a[1].x)[i], r2 = (&a[2].x)[i], r3 = (&a[3].x)[i];
                    multiply_tile<E>(c[i][n], __byte_perm(r0, r1, 0x5410), __byte_perm(r0, r1, 0x7632), __byte_perm(r2, r3, 0x5410),
                                     __byte_perm(r2, r3, 0x7632), b.x, b.y);
                }
            }
        } else {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int part = warp / 4 * 2 + h;
                if (step * kParts + part >= parts) return;
                const E *w_at = w + part * kRows * kPart + (warp % 4 * 16 + g) * kPart + t * 8;
                const uint4 low = *reinterpret_cast<const uint4 *>(w_at), high = *reinterpret_cast<const uint4 *>(w_at + 8 * kPart);
#pragma unroll
                for (int n = 0; n < kColumns; n++) {
                    const uint4 b = *reinterpret_cast<const uint4 *>(x + part * kTokens * kPart + (n * 8 + g) * kPart + t * 8);
                    multiply_tile<E>(c[0][n], low.x, high.x, low.y, high.y, b.x, b.y);
                    multiply_tile<E>(c[0][n], low.z, high.z, low.w, high.w, b.z, b.w);
                }
            }
        }
    }
};

// partial and arrived are not used if no tile is shared.
struct Share {
    int splits;
    float *partial;   // [tile of the grid][splits][kTokens*64]
    int32_t *arrived; // per tile; zero between launches
};

// grid (tiles * splits, blocks of kTokens tokens). sink.store(job, row, token, sum)
// takes a result; sink.before(row, token) is what it is added to.
template <typename E, int kTokens, bool kTransposed, typename Sink>
__global__ void __launch_bounds__(kThreads, 2) multiply(Jobs<E> jobs, int tokens, Share share, Sink sink) {
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / kWarp;
    const int tile = blockIdx.x / share.splits, split = blockIdx.x % share.splits;
    const int j = jobs.of(tile);
    const Job<E> job = jobs.job[j];
    const int first_row = (tile - jobs.first_tile[j]) * kRows, last_row = min(kRows, job.rows - first_row) - 1;
    const int first_token = blockIdx.y * kTokens, last_token = min(kTokens, tokens - first_token) - 1;
    const int parts = job.inputs / kPart, steps = (parts + kParts - 1) / kParts;
    const int begin = steps * split / share.splits, count = steps * (split + 1) / share.splits - begin;

    // Blocks go through their steps in turn from different ones on: else all
    // would ask the same few lines of X of the L2 cache at the same time.
    const int turn = blockIdx.x % count;
    const auto step_at = [&](int n) { return begin + (n + turn < count ? n + turn : n + turn - count); };
    const auto stage_at = [&](int n) { return n % kStages<kTokens> * kStageValues<kTokens>; };
    const SharedPlace<E> place(shared);
    const std::conditional_t<kTransposed, InputCopies<E>, RowCopies<E, kRows>> w_copies(
        job.w + (int64_t)first_row * (kTransposed ? 1 : job.inputs), kTransposed ? job.rows : job.inputs, last_row);
    const RowCopies<E, kTokens> x_copies(job.x + (int64_t)first_token * job.inputs, job.inputs, last_token);
    constexpr int kAhead = kStages<kTokens> - 1;

    for (int n = 0; n < min(kAhead, count); n++) w_copies.copy(place + stage_at(n), step_at(n), parts);
    let_next_start();
    wait_for_previous();
    for (int n = 0; n < kAhead; n++) {
        if (n < count) x_copies.copy(place + stage_at(n) + kRows * kInputs, step_at(n), parts);
        end_group();
    }
    Sums<kTokens, kTransposed> sums;
    const E *stages = reinterpret_cast<const E *>(shared);
    for (int n = 0; n < count; n++) {
        wait_copies<kAhead - 1>();
        __syncthreads();
        if (const int next = n + kAhead; next < count) {
            w_copies.copy(place + stage_at(next), step_at(next), parts);
            x_copies.copy(place + stage_at(next) + kRows * kInputs, step_at(next), parts);
        }
        end_group();
        const E *w = stages + stage_at(n);
        sums.add(w, w + kRows * kInputs, step_at(n), parts);
    }
    wait_copies<0>();
    __syncthreads();

    // Warps that have other inputs of the same results bring their sums together:
    // the upper half hands them to the lower one, which leaves them in regions.
    constexpr int kSums = kTokens * kRows, kRegions = kTransposed ? kWarps / 2 : 1;
    float *regions = reinterpret_cast<float *>(shared), *region = regions + warp % kRegions * kSums;
    if (warp >= kWarps / 2) sums.each([&](int at, float v) { region[at] = v; });
    __syncthreads();
    if (warp < kWarps / 2) sums.each([&](int at, float v) { region[at] += v; });
    __syncthreads();
    constexpr int kEach = kSums / kThreads, kAtOnce = kEach < 16 ? kEach : 16;
    const auto result = [&](int at) {
        float all = 0;
#pragma unroll
        for (int r = 0; r < kRegions; r++) all += regions[r * kSums + at];
        return all;
    };
    if (share.splits > 1) {
        __shared__ int arrived;
        const int grid_tile = blockIdx.y * (gridDim.x / share.splits) + tile;
        float *partial = share.partial + (int64_t)grid_tile * share.splits * kSums + threadIdx.x;
#pragma unroll
        for (int i = 0; i < kEach; i++) partial[split * kSums + i * kThreads] = result(i * kThreads + threadIdx.x);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) arrived = atomicAdd(share.arrived + grid_tile, 1);
        __syncthreads();
        if (arrived != share.splits - 1) return;
        __threadfence();
#pragma unroll
        for (int first = 0; first < kEach; first += kAtOnce) {
            float all[kAtOnce] = {};
            for (int s = 0; s < share.splits; s++)
#pragma unroll
                for (int i = 0; i < kAtOnce; i++) all[i] += partial[s * kSums + (first + i) * kThreads];
#pragma unroll
            for (int i = 0; i < kAtOnce; i++) {
                const int at = (first + i) * kThreads + threadIdx.x;
                regions[at] = all[i];
#pragma unroll
                for (int r = 1; r < kRegions; r++) regions[r * kSums + at] = 0;
            }
        }
        if (threadIdx.x == 0) share.arrived[grid_tile] = 0;
    }
    // A thread has one row, and every fourth token.
    const int row = threadIdx.x % kRows;
    if (row > last_row) return;
#pragma unroll
    for (int first = 0; first < kEach; first += kAtOnce) {
        float before[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; i++) {
            const int token = ((first + i) * kThreads + threadIdx.x) / kRows;
            before[i] = token <= last_token ? sink.before(first_row + row, first_token + token) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; i++) {
            const int at = (first + i) * kThreads + threadIdx.x, token = at / kRows;
            if (token <= last_token) sink.store(j, first_row + row, first_token + token, result(at) + before[i]);
        }
    }
}

// How many blocks share a tile: as many as let two blocks on every
// multiprocessor, each with enough steps to be worth the adding up.
inline int splits_for(int64_t tiles, int steps, int tokens_of_block) {
    constexpr int kLeastSteps = 4;
    if (tiles > kSharedTiles) return 1;
    const int64_t room = kPartialSums / (tiles * tokens_of_block * kRows);
    const int64_t most = 512 / tokens_of_block; // more would take longer to add up than they save
    const int64_t blocks = 2 * device_limits().multiprocessors;
    return (int)std::max<int64_t>(1, std::min<int64_t>({blocks / tiles, steps / kLeastSteps, room, most}));
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
