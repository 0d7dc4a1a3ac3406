// stream_launch.h: launches the kernels of stream_product.h for one element type;
// stream_half.cu and stream_bf16.cu have the two.
#pragma once

#include "stream_product.h"

#if HOPPER_HOST

namespace stream {

// The driver's maker of tensor maps; null if it has none.
inline auto map_maker() {
    using Maker = decltype(&cuTensorMapEncodeTiled);
    static const Maker maker = [] {
        void *f = nullptr;
        cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
        const bool ok = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found) == cudaSuccess;
#else
        const bool ok = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found) == cudaSuccess;
#endif
        return ok && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Maker>(f) : nullptr;
    }();
    return maker;
}

// A map of [lines][width] values, copied by boxes of 64 by box_lines.
template <typename E> CUtensorMap map_of(const void *base, int64_t width, int64_t lines, int box_lines) {
    CUtensorMap map;
    const cuuint64_t sizes[2] = {(cuuint64_t)width, (cuuint64_t)lines}, pitch[1] = {(cuuint64_t)width * 2};
    const cuuint32_t box[2] = {kInputs, (cuuint32_t)box_lines}, apart[2] = {1, 1};
    if (!map_maker()) fail(RK_ERR_DEVICE, "the driver cannot describe matrices to the device: update it");
    const CUresult result =
        map_maker()(&map, std::is_same_v<E, bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<void *>(base), sizes, pitch, box, apart,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) fail(RK_ERR_DEVICE, "describing a matrix to the device: error %d", (int)result);
    return map;
}

// How many blocks share the steps. With few tokens it pays to divide them evenly,
// through tiles; with more, sums on their way cost so much that each tile is
// divided into equal parts, or none.
inline int blocks_for(int tiles, int steps, int tokens) {
    const int most = device_limits().multiprocessors, parts = most / tiles;
    if (parts == 1 && tokens <= 32) return std::min(most, steps);
    return parts > 0 ? std::min(tiles * parts, steps) : most;
}

// Whether tiles have so few steps that a block does best to have one, and no other.
inline bool is_narrow(const Products &all) {
    int most = 0;
    for (int i = 0; i < all.count; i++) most = std::max(most, all.product[i].inputs);
    return most <= kNarrowInputs;
}

template <typename E, int kRows, int kTokens> void launch_tiles(const Products &all, const Workspace &space, bool whole, gpuStream stream) {
    Jobs jobs{};
    jobs.count = all.count;
    jobs.tokens = all.tokens;
    jobs.token_blocks = (int)ceil_div(all.tokens, kTokens);
    jobs.hint = jobs.token_blocks == 1 ? hopper::kReadOnce : hopper::kReadAsOthers;
    jobs.partial = space.partial;
    jobs.arrived = space.arrived;
    int tiles = 0;
    for (int i = 0; i < all.count; i++) {
        const Product &p = all.product[i];
        Job &job = jobs.job[i];
        job.w = map_of<E>(p.w, p.inputs, p.rows, kRows);
        job.x = map_of<E>(p.x, p.inputs, all.tokens, kTokens);
        job.out = p.out;
        job.rows = p.rows;
        job.steps = (int)ceil_div(p.inputs, kInputs);
        job.first_step = jobs.dealt;
        job.first_tile = tiles;
        job.finish = p.finish;
        const int own = (int)ceil_div(p.rows, kRows) * jobs.token_blocks;
        tiles += own;
        jobs.dealt += own * job.steps;
    }
    jobs.whole = whole;
    const int blocks = whole ? tiles : blocks_for(tiles, jobs.dealt, all.tokens);
    if (!whole && (tiles > kSharedTiles || (int64_t)blocks * 2 * kRows * kTokens > kPartialSums)) fail(RK_ERR_ARGUMENT, "%d tiles in a launch", tiles);
    launch_early(multiply_tiles<E, kRows, kTokens>, blocks, kThreads<kRows, kTokens>, kSharedBytes<kRows, kTokens>, stream, jobs);
}

template <typename E> void launch(const Products &all, const Workspace &space, gpuStream stream) {
    if (all.tokens > 64 && is_narrow(all)) return launch_tiles<E, 128, 64>(all, space, true, stream);
    if (all.tokens <= 16) return launch_tiles<E, 128, 16>(all, space, false, stream);
    if (all.tokens <= 32) return launch_tiles<E, 128, 32>(all, space, false, stream);
    if (all.tokens <= 64) return launch_tiles<E, 128, 64>(all, space, false, stream);
    if (all.tokens <= 128) return launch_tiles<E, 128, 128>(all, space, false, stream);
    launch_tiles<E, 256, 128>(all, space, false, stream);
}

} // namespace stream

#else

namespace stream {

template <typename E> void launch(const Products &, const Workspace &, gpuStream) { fail(RK_ERR_LIBRARY, "this library was built without code for Hopper"); }

} // namespace stream

#endif
