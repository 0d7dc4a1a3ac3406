// small_product.h: Y [tokens][rows] = X [tokens][inputs] Wᵀ for at most eight
// tokens, at the speed at which W comes from memory.
//
// A block goes through tiles of 16 rows of W; its warps share a tile's inputs in
// steps of 32, interleaved. Each lane copies 16 bytes of two rows into slots of
// its own in shared memory, kDepth steps ahead and across tiles, so that no
// barrier holds a copy back. The first kDepth steps are asked for before the
// previous kernel has ended: W is constant. A step is two tile products on tensor
// cores, tokens being the tile's columns; the order of a lane's eight inputs
// within the products is the same for W and X and otherwise of no account.
//
// The sums of a tile are added up over warps in order. A result depends on its
// own token and the shape alone: unused columns are zero, and every column of a
// tile product is on its own.
//
// Shared memory: slots [kWarps][kDepth][2][32] of 16 bytes, sums fp32
// [2][kWarps][128], moments, X [tokens][stride].
#pragma once

#include "small_norm.h"

constexpr int kTileRows = 16;
constexpr int kStepInputs = 32;
constexpr int kMostTokens = 8;

// W in up to three pieces that follow one another. Rows of all but the last are
// multiples of kTileRows.
template <typename E> struct Rows {
    const E *piece[3];
    int rows[3];

    int total() const { return rows[0] + rows[1] + rows[2]; }
    int tiles() const { return (int)ceil_div(total(), kTileRows); }

    // Row number row, or the last one if there is none.
    __device__ const E *at(int row, int inputs) const {
        row = min(row, rows[0] + rows[1] + rows[2] - 1);
        const E *from = piece[0];
        if (row >= rows[0]) {
            row -= rows[0];
            from = piece[1];
            if (row >= rows[1]) {
                row -= rows[1];
                from = piece[2];
            }
        }
        return from + (int64_t)row * inputs;
    }
};

// Elements between tokens of X in shared memory: without bank conflicts for
// lanes of two tokens and four packs.
__host__ __device__ inline int input_stride(int inputs) { return inputs % 64 == 0 ? inputs + 32 : inputs; }

template <int kWarps, int kDepth> constexpr int kSlotBytes = kWarps *kDepth * 2 * kWarp * 16;
template <int kWarps> constexpr int kSumBytes = 2 * kWarps * 128 * 4;

template <typename E, int kWarps, int kDepth> size_t product_shared(int inputs, int tokens) {
    return kSlotBytes<kWarps, kDepth> + kSumBytes<kWarps> + kWarps * 16 + (size_t)tokens * input_stride(inputs) * sizeof(E);
}

// One lane's way through the block's tiles, kDepth steps ahead of the sums.
template <typename E, int kWarps> struct Feed {
    const Rows<E> &rows;
    const E *low, *high; // of the next step: rows g and g+8 of the tile
    int inputs, tile, end, step;

    __device__ Feed(const Rows<E> &r, int inputs_, int begin, int end_)
        : rows(r), inputs(inputs_), tile(begin), end(end_), step(threadIdx.x / kWarp) {
        if (tile < end) start();
    }

    __device__ void start() {
        const int lane = threadIdx.x % kWarp, at = step * kStepInputs + lane % 4 * 8;
        low = rows.at(tile * kTileRows + lane / 4, inputs) + at;
        high = rows.at(tile * kTileRows + lane / 4 + 8, inputs) + at;
    }

    // Asks for one step, as one group of copies; steps beyond the inputs and
    // tiles beyond the end are empty groups.
    __device__ void copy(uint4 *slot, int rounds) {
        if (tile < end) {
            if (step * kStepInputs < inputs) {
                copy16(slot, low);
                copy16(slot + kWarp, high);
            }
            low += kWarps * kStepInputs;
            high += kWarps * kStepInputs;
            step += kWarps;
            if (step >= rounds * kWarps) {
                step = threadIdx.x / kWarp;
                if (++tile < end) start();
            }
        }
        end_group();
    }
};

// Sink: before(row, token) is read early, store(row, token, sum, before) takes
// the result, kind(row) says which input a tile's rows are multiplied by.
template <typename E, int kWarps, int kDepth, typename Input, typename Sink>
__global__ void __launch_bounds__(kWarps *kWarp) multiply_rows(Rows<E> rows, Input input, Sink sink, int total, int tiles) {
    extern __shared__ uint4 shared[];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    uint4 *slots = shared + warp * kDepth * 2 * kWarp + lane;
    float *sums = reinterpret_cast<float *>(shared + kSlotBytes<kWarps, kDepth> / 16);
    float *parts = sums + 2 * kWarps * 128;
    E *xs = reinterpret_cast<E *>(parts + kWarps * 4);

    const int inputs = input.channels, stride = input_stride(inputs), tokens = input.tokens;
    const int steps = inputs / kStepInputs, rounds = (steps + kWarps - 1) / kWarps;
    const int begin = (int)((int64_t)tiles * blockIdx.x / gridDim.x), end = (int)((int64_t)tiles * (blockIdx.x + 1) / gridDim.x);
    Feed<E, kWarps> feed(rows, inputs, begin, end);
#pragma unroll
    for (int d = 0; d < kDepth; d++) feed.copy(slots + d * 2 * kWarp, rounds);
    let_next_start();
    input.prefetch();
    wait_for_previous();

    // The threads that finish a tile have one of its sums each.
    const int row_in_tile = threadIdx.x % kTileRows, token = threadIdx.x / kTileRows;
    const int sum_at = ((row_in_tile % 8) * 4 + token / 2) * 4 + row_in_tile / 8 * 2 + token % 2;
    const E *x_lane = xs + g * stride + t * 8;
    int kind = -1, slot = 0, parity = 0;
    for (int tile = begin; tile < end; tile++) {
        const int row = tile * kTileRows + row_in_tile;
        const int tile_kind = sink.kind(tile * kTileRows);
        if (tile_kind != kind) {
            __syncthreads();
            input.fill(xs, stride, tile_kind, kind < 0, parts);
            __syncthreads();
            kind = tile_kind;
        }
        const bool finishes = token < tokens && row < total;
        const float before = finishes ? sink.before(row, token) : 0.0f;
        float c[4] = {};
        for (int i = 0; i < rounds; i++) {
            const int step = i * kWarps + warp;
            wait_copies<kDepth - 1>();
            uint4 *at = slots + slot * 2 * kWarp;
            if (step < steps) {
                const uint4 low = at[0], high = at[kWarp];
                uint4 x = {0, 0, 0, 0};
                if (g < tokens) x = *reinterpret_cast<const uint4 *>(x_lane + step * kStepInputs);
                multiply_tile<E>(c, low.x, high.x, low.y, high.y, x.x, x.y);
                multiply_tile<E>(c, low.z, high.z, low.w, high.w, x.z, x.w);
            }
            feed.copy(at, rounds);
            slot = slot + 1 == kDepth ? 0 : slot + 1;
        }
        float *sum = sums + parity * kWarps * 128;
        reinterpret_cast<float4 *>(sum)[warp * kWarp + lane] = {c[0], c[1], c[2], c[3]};
        __syncthreads();
        if (finishes) {
            float total_sum = 0;
#pragma unroll
            for (int w = 0; w < kWarps; w++) total_sum += sum[w * 128 + sum_at];
            sink.store(row, token, total_sum, before);
        }
        parity ^= 1; // the other half may be written while this one is read
    }
}

// How a product is cut: by default one block of eight warps a multiprocessor,
// which leaves room for the next kernel to begin.
struct ProductPlan {
    int warps = 8, depth = 8, blocks = 1; // blocks a multiprocessor
    int most_vectors = 4;                 // of a token a thread of a product normalises itself
};
extern ProductPlan product_plan;

template <typename E, int kWarps, int kDepth, typename Input, typename Sink>
void launch_product(const Rows<E> &rows, const Input &input, const Sink &sink, gpuStream stream) {
    const int tiles = rows.tiles(), blocks = std::min(tiles, multiprocessors() * product_plan.blocks);
    launch_early(multiply_rows<E, kWarps, kDepth, Input, Sink>, blocks, kWarps * kWarp,
                 product_shared<E, kWarps, kDepth>(input.channels, input.tokens), stream, rows, input, sink, rows.total(), tiles);
}

template <typename E, typename Input, typename Sink>
void product(const Rows<E> &rows, const Input &input, const Sink &sink, gpuStream stream) {
    const ProductPlan &p = product_plan;
    if (p.warps == 8 && p.depth == 4) return launch_product<E, 8, 4>(rows, input, sink, stream);
    if (p.warps == 8 && p.depth == 8) return launch_product<E, 8, 8>(rows, input, sink, stream);
    if (p.warps == 8 && p.depth == 12) return launch_product<E, 8, 12>(rows, input, sink, stream);
    if (p.warps == 16 && p.depth == 4) return launch_product<E, 16, 4>(rows, input, sink, stream);
    return launch_product<E, 16, 8>(rows, input, sink, stream);
}

// A product whose input is LN(x) with or without token shift: made by its own
// blocks where a token's channels fit their registers, else by a kernel before
// it, in scratch [kinds][part/C][C].
template <typename E, bool kShift, typename Sink>
void product_of_norm(const NormArgs &args, const Rows<E> &rows, const Sink &sink, E *scratch, int64_t part, gpuStream stream) {
    const int vectors = vectors_for(args.channels, args.tokens, product_plan.warps * kWarp);
    if (vectors <= 4 && vectors <= product_plan.most_vectors)
        return product(rows, NormInput<E, 4, kShift>(args), sink, stream);
    if (vectors <= 16 && vectors <= product_plan.most_vectors)
        return product(rows, NormInput<E, 16, kShift>(args), sink, stream);
    launch_early(normalise_rows<E, 4, kShift>, args.kinds * args.tokens, 256, 0, stream, NormInput<E, 4, kShift>(args), scratch, part);
    product(rows, PlainInput<E>{scratch, part, args.channels, args.tokens}, sink, stream);
}
