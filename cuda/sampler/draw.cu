// draw.cu: the kernel that draws: one team of blocks a row.
#include "layer/gemv.h"
#include "sampler/candidates.h"
#include "sampler/counts.h"
#include "sampler/many.h"
#include "sampler/mix.h"
#include "sampler/usual.h"

namespace sampling {

namespace {

constexpr int kMostChunksHeld = 24; // of a block: 96 KiB
constexpr int kTeamsLeft = 49;      // teams for the rows that draw_many leaves
static_assert(kMostChunksHeld <= kWarp, "a lane of Usual::pick has one");

int chunks_each(int vocab, int blocks) { return (int)ceil_div(ceil_div(vocab, kDrawChunk), blocks); }

// Finds what top_k and top_p keep of the softmax; bins are empty.
template <typename T> __device__ void truncate(Work<T> &w, const Part &part, const RowInput &in, Kept &d) {
    const bool rapid = in.draw == Draw::Rapid;
    const float scale = rapid ? d.scale : kSoftmaxScale;
    Cutoff k{}, p{};
    if (in.top_k > 0 && in.top_k < part.limit)
        k = cut(w, part, Distances(d.m, kMassBits / scale), {(uint64_t)in.top_k, 0}, Number{kNegInf});
    if (in.top_p < 1) {
        if (k.key) __syncthreads(); // the bins are empty behind it
        p = cut(w, part, Distances(d.m, widest(in.top_p, part.limit) / scale), {1, (double)in.top_p}, Masses{d.m, scale});
    }
    const uint32_t key = max(k.key, p.key);
    d.theta = z_of(key);
    d.tie_mass = mass(d.theta, d.m, d.scale);
    if (!rapid) {
        uint64_t ties;
        if (k.key == key && k.rest < (uint64_t)k.ties) d.tie_last = pick(w, part, Ties{d.theta}, k.rest - 1, false, &ties);
        return;
    }
    const uint64_t own = d.tie_mass, ties = p.key == key ? p.ties : k.ties;
    if (p.key == key) d.tie_mass = min(d.tie_mass, p.rest / ties);
    if (k.key == key && k.rest < ties) d.tie_mass = min(d.tie_mass, own * k.rest / ties);
    if (d.theta == d.m) d.tie_mass = max(d.tie_mass, (uint64_t)1); // nothing else is kept
}

struct Drawn {
    int token = 0;
    uint64_t total = 0;
    Kept from;
};

// Draws from the part; d has the row's largest value and the scale. A function of its own, so
// that it takes no registers from the usual draw.
template <typename T> __device__ __noinline__ Drawn draw_any(Work<T> &w, Part part, Kept d) {
    const RowInput &in = w.in;
    uint64_t total;
    if (in.draw == Draw::Greedy) {
        d.theta = d.m;
        d.tie_last = pick(w, part, Ties{d.m}, 0, false, &total);
        d.tie_mass = mass(d.m, d.m, d.scale);
        return {d.tie_last, d.tie_mass, d};
    }
    if (in.truncates(part.limit)) truncate(w, part, in, d);
    const int token = pick(w, part, d, random_word(in.seed, in.index), true, &total);
    return {token, total, d};
}

// Draws for the row, whose largest value is best. If all values are -Inf, it is token 0 with
// a total of 0. The token may be -1 for blocks that do not have it.
template <typename T> __device__ Drawn draw(Work<T> &w, const Part &part, float best) {
    const RowInput &in = w.in;
    Drawn d{0, 0, {best, in.scale, kNegInf, INT32_MAX, 0}};
    if constexpr (T::kBlocks > 1)
        if (is_usual(in, part.limit) && best > kNegInf && draw_usual(w, part, d.from, &d.total, &d.token)) return d;
    __syncthreads();
    join_extremes(w);
    clear_bins(w);
    T::sync();
    if (best > kNegInf) d = draw_any(w, part, d.from);
    look(w);
    __syncthreads();
    return d;
}

// Reads an output's row into shared memory; false if it does not draw.
template <typename T> __device__ bool read_input(const DrawArgs &a, Work<T> &w, int out) {
    constexpr int kWords = sizeof(RowInput) / sizeof(uint32_t);
    static_assert(kWords < kWarp);
    const int row = a.row(out);
    __syncthreads(); // w may still be in use for the row before
    if (threadIdx.x < kWords) reinterpret_cast<uint32_t *>(&w.in)[threadIdx.x] = reinterpret_cast<const uint32_t *>(a.input + row)[threadIdx.x];
    __syncthreads();
    return w.in.draw != Draw::None && w.in.draw != Draw::Member;
}

// Writes the result of a row that does not draw; one thread does it.
__device__ void pass_over(const DrawArgs &a, const RowInput &in, int out) {
    rk_result *result = a.scratch.results + out;
    if (in.draw != Draw::Member) *result = {};
    for (int k = 1; k <= in.members; k++) result[k] = {};
    a.arrive();
}

// The values held follow Work in shared memory.
template <typename T, bool kHeld> __device__ void draw_row(const DrawArgs &a, Work<T> &w, int out, int chunks_each) {
    const int rank = T::rank();
    const bool draws = read_input(a, w, out);
    const RowInput &in = w.in;
    if (!draws) {
        wait_for_previous();
        if (rank == 0 && threadIdx.x == 0) pass_over(a, in, out);
        return;
    }
    const Seen seen(a.slots, in.slot);
    const int all_chunks = (int)(a.stride / kDrawChunk), first = min(rank * chunks_each, all_chunks), chunks = min(chunks_each, all_chunks - first);
    float *z = kHeld ? reinterpret_cast<float *>(&w + 1) : a.scratch.z + out * a.stride + first * kDrawChunk;
    const Part part{z, first * kDrawChunk, chunks, a.slots.limit, false};
    for (int i = threadIdx.x; i < chunks * kDrawChunk / 4; i += T::kThreads) reinterpret_cast<float4 *>(z)[i] = {0, 0, 0, 0};
    clear_bins(w);
    if (threadIdx.x == 0) {
        w.chunks_each = chunks_each;
        w.count = 0;
        w.best = w.theta = 0;
        w.above = {0, 0};
    }
    for (int i = threadIdx.x; i < chunks; i += T::kThreads) w.chunk[i] = {0, 0};
    __syncthreads();
    seen.lower(in, a.bans, part, z, a.slots.limit);
    if (a.early) wait_for_previous();
    __syncthreads();

    const float *logits = a.drawn_from(out, in.members > 0);
    float most;
    Extremes mine = load_part(logits, z, part, a.vocab, &most);
    const uint32_t key = warp_max(key_of(most));
    if (threadIdx.x % kWarp == 0) atomicMax(&w.best, key);
    T::arrive();
    mine.join();
    if (threadIdx.x % kWarp == 0) w.extremes[threadIdx.x / kWarp] = mine;
    T::wait();
    const float best = z_of(warp_max(threadIdx.x % kWarp < T::kBlocks ? *T::at(&w.best, threadIdx.x % kWarp) : 0u));
    const Drawn drawn = draw(w, part, best);
    int candidates = 0;
    if (in.top > 0) {
        clear_bins(w);
        T::sync();
        const Part raw{logits + part.first, part.first, part.chunks, part.limit, true};
        candidates = list_candidates(w, raw, part, drawn.from, drawn.total, in.top, a.scratch.candidates + in.top_offset);
        __threadfence_system();
        T::sync();
    }
    T::arrive(); // no block may leave while others read its memory
    const int token = drawn.token, at = token - part.first;
    if (token >= 0 && at >= 0 && at < chunks * kDrawChunk) {
        const float own = in.members > 0 ? rate_members(a, out, in.members, token) : 0.0f;
        if (threadIdx.x == 0) {
            const float log_prob = drawn.total > 0 ? (float)((double)tame(logits[token]) - w.look.norm) : kNegInf;
            a.scratch.results[out] = {token, log_prob, candidates, w.look.nan ? RK_RESULT_NAN : 0u, own};
            a.arrive();
        }
        if (in.flags & RK_ROW_OBSERVE) seen.observe(a, in, token);
    }
    T::wait();
}

// A team has one row, or works through those that draw_many leaves.
template <typename T, bool kHeld> __global__ void __launch_bounds__(T::kThreads, T::kResident) draw_rows(DrawArgs a, int chunks_each) {
    extern __shared__ uint4 shared[];
    let_next_start();
    if (!a.early) wait_for_previous();
    const int outputs = a.many ? *a.scratch.left : a.outputs;
    for (int i = blockIdx.x / T::kBlocks; i < outputs; i += gridDim.x / T::kBlocks)
        draw_row<T, kHeld>(a, *reinterpret_cast<Work<T> *>(shared), a.many ? a.scratch.left[1 + i] : i, chunks_each);
}

template <typename T, bool kHeld> void launch(const DrawArgs &a, int teams, gpuStream stream) {
    const int each = chunks_each((int)a.stride, T::kBlocks);
    const size_t bytes = sizeof(Work<T>) + (kHeld ? (size_t)each * kDrawChunk * sizeof(float) : 0);
    launch_teams(draw_rows<T, kHeld>, teams, T::kBlocks, T::kThreads, bytes, stream, a, each);
}

// Where a row's logits fit the shared memory of a team; a block of few rows has a
// multiprocessor for itself.
void launch_held(const DrawArgs &a, gpuStream stream) {
    if (a.outputs * kClusterBlocks <= device_limits().multiprocessors)
        launch<Team<kClusterBlocks, 512>, true>(a, a.outputs, stream);
    else
        launch<Team<kClusterBlocks, 256>, true>(a, a.many ? std::min(a.outputs, kTeamsLeft) : a.outputs, stream);
}

} // namespace

bool holds_rows(int vocab) { return device_limits().clusters && chunks_each(vocab, kClusterBlocks) <= kMostChunksHeld; }

} // namespace sampling

void draw(const Pass &p) {
    sampling::DrawArgs a{};
    a.logits = p.act.logits;
    a.stride = p.act.logits_stride;
    a.vocab = p.shape->vocab;
    a.outputs = p.outputs;
    a.input = p.input;
    a.output_row = p.output_row;
    a.bans = p.bans;
    a.slots = p.slots;
    a.scratch = p.scratch;
    if (p.mixes) sampling::mix(a, p.stream);
    a.many = sampling::takes_many(a);
    a.early = !a.many && takes_gemv(p);
    if (a.many) sampling::draw_many(a, p.stream);
    if (a.scratch.z)
        sampling::launch<sampling::Team<1, 1024>, false>(a, p.outputs, p.stream);
    else
        sampling::launch_held(a, p.stream);
}
