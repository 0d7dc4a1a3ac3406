// wgmma_launch.h: launches the kernels of wgmma_product.h for one element type;
// wgmma_half.cu and wgmma_bf16.cu instantiate it.
#pragma once

#include "layer/wgmma_product.h"

#if HOPPER_HOST

namespace wgmma {

// How many blocks share the steps that are dealt out. If there are enough blocks, every tile
// is divided into equal parts.
inline int blocks_for(int tiles, int steps) {
    const int most = device_limits().multiprocessors, parts = most / tiles;
    return parts > 0 ? std::min(tiles * parts, steps) : most;
}

// How many blocks share each tile of so many steps, at most `most` blocks in all.
inline int team_for(int tiles, int steps, int most) {
    constexpr int kLeastSteps = 3; // of a block: with fewer, adding up costs more than it gains
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
        job.w = kAcross ? hopper::tensor_map<E>(p.w, p.rows, p.inputs, kInputs, kInputs) : hopper::tensor_map<E>(p.w, p.inputs, p.rows, kInputs, kRows);
        job.x = hopper::tensor_map<E>(p.x, p.inputs, all.tokens, kInputs, kTokens);
        job.out = p.out;
        job.gate = p.gate;
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
