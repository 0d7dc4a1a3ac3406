// many.cu: the kernel of many.h.
#include "sampler/many.h"

#include "sampler/many_row.h"

namespace sampling {

namespace {

constexpr int kFewRows = 64, kMostThreads = 1024;

__device__ inline bool takes(const RowInput &in, int limit) { return is_usual(in, limit) && in.top == 0 && in.members == 0; }

// Leaves an output to draw_rows.
__device__ inline void leave(const DrawArgs &a, int out) { a.scratch.left[1 + atomicAdd(a.scratch.left, 1)] = out; }

// The token that a row draws, or -1 if it is left to draw_rows.
template <int kThreads> __device__ int draw(const Row<kThreads> &row, const RowInput &in, const Sums &sums) {
    const float m = fmaxf(sums.rest.best, sums.lowered.best), scale = in.scale;
    if (!(m > kNegInf)) return -1;
    float theta = kNegInf;
    if (in.top_p < 1) {
        Softmax all = sums.rest;
        all.add(sums.lowered.best, sums.lowered.sum);
        const Rough rough(m, all.sum, row.limit, in.top_p);
        row.find_bins(rough, in.top_p);
        const float least = rough.least(row.s.last_bin), above = rough.least(row.s.first_bin - 1);
        const auto has = scale == kSoftmaxScale ? row.template gather<true, true>(m, scale, least, above) : row.template gather<true, false>(m, scale, least, above);
        const uint64_t target = max(1ull, (unsigned long long)ceil((double)in.top_p * (double)has.x));
        if (target <= has.y || !row.cut(target - has.y, m, scale, &theta)) return -1;
    } else {
        row.template gather<false, true>(m, scale, kNegInf, kNegInf);
    }
    return row.pick(random_word(in.seed, in.index), m, scale, theta);
}

template <int kThreads> __global__ void __launch_bounds__(kThreads, kMostThreads / kThreads) draw_many_rows(DrawArgs a) {
    using S = Space<kThreads>;
    extern __shared__ uint4 shared[];
    S &s = *reinterpret_cast<S *>(shared);
    begin_early();
    const int out = blockIdx.x, at = a.row(out);
    const RowInput &in = a.input[at];
    const bool usual = takes(in, a.slots.limit);
    const Seen seen(a.slots, usual ? in.slot : 0); // slot 0 in place of a row without counts
    const float *logits = a.logits + out * a.stride;
    const Row<kThreads> row{s, logits, a.slots.limit, (int)(a.stride / kDrawChunk), in.penalised() ? seen.size : 0};
    if (!usual || row.listed > kMostListed) {
        if (threadIdx.x == 0) leave(a, out);
        return;
    }
    for (int i = threadIdx.x; i < kBins; i += kThreads) s.bin[i] = 0;
    for (int i = threadIdx.x; i < row.chunks * kDrawChunk / 32; i += kThreads) s.touched[i] = 0;
    if (threadIdx.x == 0) s.count = 0, s.theta = 0;
    __syncthreads();
    Sums sums;
    row.list_touched(in, a.bans, seen, sums);
    const int token = row.look(sums, a.vocab) ? draw(row, in, sums) : -1;
    if (token < 0) {
        if (threadIdx.x == 0) leave(a, out);
        return;
    }
    if (threadIdx.x == 0) {
        Softmax all = sums.rest;
        all.add(sums.raw.best, sums.raw.sum);
        const float log_prob = (float)((double)logits[token] - ((double)all.best + (double)logf(all.sum)));
        a.scratch.results[out] = {token, log_prob, 0, 0u, 0.0f};
        a.arrive();
    }
    if (in.flags & RK_ROW_OBSERVE) seen.observe(a, in, token);
}

} // namespace

bool takes_many(const DrawArgs &a) {
    return a.outputs >= kFewRows && a.stride <= kMostChunks * kDrawChunk && sizeof(Space<kMostThreads>) <= device_limits().shared;
}

// With more rows than multiprocessors, two blocks share one: one works while the other waits.
void draw_many(const DrawArgs &a, gpuStream stream) {
    constexpr int kHalf = kMostThreads / 2;
    if (a.outputs > device_limits().multiprocessors)
        launch_early(draw_many_rows<kHalf>, a.outputs, kHalf, sizeof(Space<kHalf>), stream, a);
    else
        launch_early(draw_many_rows<kMostThreads>, a.outputs, kMostThreads, sizeof(Space<kMostThreads>), stream, a);
}

} // namespace sampling
