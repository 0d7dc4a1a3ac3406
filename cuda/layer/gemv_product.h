// gemv_product.h: Y [tokens][rows] = X [tokens][inputs] · W [rows][inputs]ᵀ for at most
// eight tokens, at the speed at which W comes from memory. W and X are E, sums are fp32;
// a Sink stores them.
//
// A block works through tiles of 16 rows of W. Its warps share the inputs of a tile in
// steps of 32, interleaved. Each lane copies 16 bytes of two rows into its own places in
// shared memory, kDepth steps ahead and across tiles, so that no barrier delays a copy.
// The first kDepth steps are requested before the previous kernel has ended: W is
// constant. A step is two tile products on tensor cores, whose columns are the tokens.
// The eight inputs of a lane have the same order in W and X; no other order matters.
//
// Each tile's sums are added up over the warps in order. A result depends on its own
// token and the shape alone: unused columns are zero, and the columns of a tile product
// are independent.
//
// The code is short on purpose: in a small model a kernel runs little longer than it
// takes to fetch its instructions.
//
// Shared memory: W [kWarps][kDepth][2][32] of 16 bytes, sums fp32 [2][kWarps][128] and
// [2][kWarps], X [kinds][tokens][stride].
#pragma once

#include "device/mma.h"
#include "layer/gemv_input.h"

constexpr int kTileRows = 16;
constexpr int kStepInputs = 32;
constexpr size_t kReservedBytes = 1 << 10; // of a block's shared memory: taken by the system

// W in up to three pieces that follow one another, each of whole tiles.
template <typename E> struct Rows {
    const E *piece[3];
    int tiles[3];

    int total() const { return tiles[0] + tiles[1] + tiles[2]; }

    __device__ const E *tile(int n, int inputs) const {
        const E *from = piece[0];
        if (n >= tiles[0]) {
            n -= tiles[0];
            from = piece[1];
            if (n >= tiles[1]) {
                n -= tiles[1];
                from = piece[2];
            }
        }
        return from + (int64_t)n * kTileRows * inputs;
    }
};

// Elements from one token of X to the next in shared memory, so that lanes of two tokens and
// four packs have no bank conflicts.
__host__ __device__ inline int input_stride(int inputs) { return inputs % 64 == 0 ? inputs + 32 : inputs; }

template <int kWarps, int kDepth> constexpr int kSlotVectors = kWarps *kDepth * 2 * kWarp;
template <int kWarps> constexpr int kSumFloats = 2 * kWarps * 128 + 2 * kWarps;

// Bytes of shared memory of a block whose X has `vectors` rows.
template <typename E, int kWarps, int kDepth> size_t product_bytes(int inputs, int vectors) {
    return kSlotVectors<kWarps, kDepth> * 16 + kSumFloats<kWarps> * 4 + (size_t)vectors * input_stride(inputs) * sizeof(E);
}

// The tiles of each block: `each`, and one more for the first `more` blocks.
struct Cut {
    int each, more;
    __host__ __device__ int begin(int block) const { return block * each + min(block, more); }
};

// A Sink stores results: store(row, token, sum, before) where before(row, token) was read
// early. kind(row) says which input the rows of a tile are multiplied by.
template <typename E, int kWarps, int kDepth, typename Input, typename Sink>
__global__ void __launch_bounds__(kWarps *kWarp, 512 / (kWarps * kWarp)) multiply_rows(Rows<E> rows, Input input, Sink sink, Cut cut) {
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    uint4 *slots = shared + warp * kDepth * 2 * kWarp + lane;
    float *sums = reinterpret_cast<float *>(shared + kSlotVectors<kWarps, kDepth>);
    E *xs = reinterpret_cast<E *>(sums + kSumFloats<kWarps>);

    const int inputs = input.channels, stride = input_stride(inputs), tokens = input.tokens;
    const int steps = inputs / kStepInputs, rounds = (steps + kWarps - 1) / kWarps;
    const int begin = cut.begin(blockIdx.x), end = cut.begin(blockIdx.x + 1);

    // Where this lane copies from: kDepth steps ahead of the sums, across the block's tiles.
    const int lane_at = g * inputs + warp * kStepInputs + t * 8;
    int next_tile = begin, next_round = 0;
    const E *next = rows.tile(begin, inputs) + lane_at;
    auto copy = [&](uint4 *slot) {
        if (next_tile < end) {
            if (next_round * kWarps + warp < steps) {
                copy16(slot, next);
                copy16(slot + kWarp, next + 8 * inputs);
            }
            next += kWarps * kStepInputs;
            if (++next_round == rounds) {
                next_round = 0;
                next = rows.tile(++next_tile, inputs) + lane_at;
            }
        }
        end_group();
    };
#pragma unroll 1
    for (int d = 0; d < kDepth; d++) copy(slots + d * 2 * kWarp);
    const int first_kind = sink.kind(begin * kTileRows);
    typename Input::Ahead ahead;
    let_next_start();
    input.read_ahead(ahead, first_kind);
    wait_for_previous();

    // Each thread that finishes a tile has one of its sums.
    const int tile_row = threadIdx.x % kTileRows, token = threadIdx.x / kTileRows;
    const int sum_at = ((tile_row % 8) * 4 + token / 2) * 4 + tile_row / 8 * 2 + token % 2;
    const bool finishes = token < tokens;
    const E *x_lane = xs + g * stride + warp * kStepInputs + t * 8;
    int kind = first_kind, slot = 0, parity = 0;
    input.fill(ahead, xs, stride, kind, sink.kind((end - 1) * kTileRows), sums);
    __syncthreads();
#pragma unroll 1
    for (int tile = begin; tile < end; tile++) {
        const int row = tile * kTileRows + tile_row, tile_kind = sink.kind(tile * kTileRows);
        if (!Input::kAtOnce && tile_kind != kind) {
            __syncthreads();
            input.fill(ahead, xs, stride, tile_kind, tile_kind, sums);
            __syncthreads();
        }
        kind = tile_kind;
        const E *x_at = x_lane + (Input::kAtOnce ? (kind - first_kind) * tokens * stride : 0);
        const float before = finishes ? sink.before(row, token) : 0.0f;
        float c[4] = {};
#pragma unroll 1
        for (int step = warp; step < rounds * kWarps; step += kWarps) {
            wait_copies<kDepth - 1>();
            uint4 *at = slots + slot * 2 * kWarp;
            if (step < steps) {
                const uint4 low = at[0], high = at[kWarp];
                uint4 x = {0, 0, 0, 0};
                if (g < tokens) x = *reinterpret_cast<const uint4 *>(x_at);
                multiply_tile<E>(c, low.x, high.x, low.y, high.y, x.x, x.y);
                multiply_tile<E>(c, low.z, high.z, low.w, high.w, x.z, x.w);
            }
            x_at += kWarps * kStepInputs;
            copy(at);
            slot = slot + 1 == kDepth ? 0 : slot + 1;
        }
        float *sum = sums + 2 * kWarps + parity * kWarps * 128;
        reinterpret_cast<float4 *>(sum)[warp * kWarp + lane] = {c[0], c[1], c[2], c[3]};
        __syncthreads();
        if (finishes) {
            float all = 0;
#pragma unroll
            for (int w = 0; w < kWarps; w++) all += sum[w * 128 + sum_at];
            sink.store(row, token, all, before);
        }
        parity ^= 1; // the other half may be written while this one is read
    }
}

// Launches a product with `share` blocks a multiprocessor or fewer; false if shared memory
// does not suffice. Each block takes so much shared memory that no more of them fit a
// multiprocessor: blocks start early, and would otherwise gather on some multiprocessors
// while others still run the kernel before.
template <typename E, int kWarps, int kDepth, typename Input, typename Sink>
bool try_product(const Rows<E> &rows, const Input &input, const Sink &sink, int share, gpuStream stream) {
    if constexpr (Input::kAtOnce)
        if (input.threads != kWarps * kWarp) return false;
    const DeviceLimits limits = device_limits();
    const int tiles = rows.total();
    for (; share > 0; share--) {
        const int blocks = std::min(tiles, limits.multiprocessors * share);
        const Cut cut{tiles / blocks, tiles % blocks};
        int kinds = 1;
        for (int b = 0; b < blocks && Input::kAtOnce; b++)
            kinds = std::max(kinds, 1 + sink.kind((cut.begin(b + 1) - 1) * kTileRows) - sink.kind(cut.begin(b) * kTileRows));
        const size_t bytes = product_bytes<E, kWarps, kDepth>(input.channels, kinds * input.tokens);
        if (bytes + kReservedBytes > (limits.shared + kReservedBytes) / share) continue;
        launch_early(multiply_rows<E, kWarps, kDepth, Input, Sink>, blocks, kWarps * kWarp,
                     std::max(bytes, limits.shared / (share + 1)), stream, rows, input, sink, cut);
        return true;
    }
    return false;
}

// From so many inputs on, one block of 16 warps is faster than two of eight.
constexpr int kWide = 2049;

// Launches a product; false if no division of it fits the device (or, with NormInput, the
// number of threads that the input was made for).
template <typename E, typename Input, typename Sink>
bool product(const Rows<E> &rows, const Input &input, const Sink &sink, gpuStream stream) {
    if constexpr (Input::kMostThreads == 16 * kWarp)
        if (input.channels >= kWide && try_product<E, 16, 8>(rows, input, sink, 1, stream)) return true;
    return try_product<E, 8, 8>(rows, input, sink, 2, stream) || try_product<E, 8, 4>(rows, input, sink, 2, stream);
}

// Whether products of plain inputs fit this device.
template <typename E> bool product_fits(int inputs, int tokens) { return product_bytes<E, 8, 4>(inputs, tokens) <= device_limits().shared; }

// A product whose input is NormInput. Its own blocks compute the input where a thread has
// few channels of a token; otherwise a kernel before it does, in scratch [kinds][part/C][C].
template <typename E, bool kShift, typename Sink>
void product_of_norm(const NormArgs &args, const Rows<E> &rows, const Sink &sink, E *scratch, int64_t part, gpuStream stream) {
    for (int threads : {16 * kWarp, 8 * kWarp}) {
        const int log = log_token_threads(args.tokens, threads), vectors = (int)ceil_div(args.channels, 4 << log);
        if (1 << log < kWarp) continue;
        if (vectors == 1 && product(rows, NormInput<E, 1, kShift>(args, threads, log), sink, stream)) return;
        if (vectors <= 4 && product(rows, NormInput<E, 4, kShift>(args, threads, log), sink, stream)) return;
    }
    launch_early(normalise_rows<E, kShift>, args.kinds * args.tokens, 512, 0, stream, NormInput<E, 2, kShift>(args, 512, 9), scratch, (int)part);
    product(rows, PlainInput<E>{scratch, part, args.channels, args.tokens}, sink, stream);
}
