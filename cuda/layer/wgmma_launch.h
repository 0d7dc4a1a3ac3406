// wgmma_launch.h: launches the kernels of wgmma_product.h for one element type;
// wgmma_half.cu and wgmma_bf16.cu have the two.
#pragma once

#include "layer/wgmma_product.h"

#if HOPPER_HOST

namespace wgmma {

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

// How many blocks share the steps that are dealt out: a tile is divided into equal
// parts, if there are enough blocks for that.
inline int blocks_for(int tiles, int steps) {
    const int most = device_limits().multiprocessors, parts = most / tiles;
    return parts > 0 ? std::min(tiles * parts, steps) : most;
}

// How many blocks share each tile of so many steps, at most `most` blocks in all.
inline int team_for(int tiles, int steps, int most) {
    constexpr int kLeastSteps = 3; // of a block: fewer are on their way as soon, and cost more to add up
    int team = 1;
    while (team < kMostTeam && tiles * team * 2 <= most && steps >= team * 2 * kLeastSteps) team *= 2;
    return team;
}

template <typename E, int kRows, int kTokens, bool kAcross> void launch_tiles(const Products &all, const Workspace &space, gpuStream stream) {
    Jobs jobs{};
    jobs.count = all.count;
    jobs.tokens = all.tokens;
    jobs.token_blocks = (int)ceil_div(all.tokens, kTokens);
    jobs.hint = jobs.token_blocks == 1 ? hopper::kReadOnce : hopper::kReadAsOthers;
    jobs.late = all.late;
    jobs.partial = space.partial;
    jobs.arrived = space.arrived;
    int tiles = 0, least = INT32_MAX; // steps
    for (int i = 0; i < all.count; i++) {
        const Product &p = all.product[i];
        Job &job = jobs.job[i];
        job.w = kAcross ? map_of<E>(p.w, p.rows, p.inputs, kInputs) : map_of<E>(p.w, p.inputs, p.rows, kRows);
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
        least = std::min(least, job.steps);
    }
    int blocks = tiles, team = 1;
    if (kDealt<kTokens>) {
        blocks = blocks_for(tiles, jobs.dealt);
        if (tiles > kSharedTiles || (int64_t)blocks * 2 * kRows * kTokens > kPartialSums) fail(RK_ERR_ARGUMENT, "%d tiles in a launch", tiles);
    } else {
        team = jobs.team = team_for(tiles, least, device_limits().multiprocessors * (all.narrow ? kResident<kRows, kTokens> : 1));
    }
    launch_teams(multiply_tiles<E, kRows, kTokens, kAcross>, blocks, team, kThreads<kRows, kTokens>, kSharedBytes<kRows, kTokens>, stream, jobs);
}

template <typename E> void launch(const Products &all, const Workspace &space, gpuStream stream) {
    if (all.across) return (all.tokens <= 16 ? launch_tiles<E, 128, 16, true> : launch_tiles<E, 128, kValueTokens, true>)(all, space, stream);
    if (all.tokens <= 16) return launch_tiles<E, 128, 16, false>(all, space, stream);
    if (all.tokens <= 32) return launch_tiles<E, 128, 32, false>(all, space, stream);
    if (all.tokens <= 64 || all.narrow) return launch_tiles<E, 128, 64, false>(all, space, stream);
    if (all.tokens <= 128) return launch_tiles<E, 128, 128, false>(all, space, stream);
    launch_tiles<E, 256, 128, false>(all, space, stream);
}

} // namespace wgmma

#else

namespace wgmma {

template <typename E> void launch(const Products &, const Workspace &, gpuStream) { fail(RK_ERR_LIBRARY, "this library was built without code for Hopper"); }

} // namespace wgmma

#endif
