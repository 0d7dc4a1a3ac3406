// sampler_draw.cu: the draw of each row, by one team of blocks a row.
#include "sampler_candidates.h"
#include "sampler_counts.h"
#include "sampler_many.h"
#include "sampler_mix.h"
#include "small.h"

namespace sampling {

namespace {

constexpr int kMostChunksHeld = 24; // of a block: 96 KiB
constexpr int kTeamsLeft = 49;       // that a card has at once, when there are many rows

int chunks_each(int vocab, int blocks) { return (int)ceil_div(ceil_div(vocab, kDrawChunk), blocks); }

// What the team knows of the row after the first look.
struct Look {
    float best, raw_best;
    double norm; // log of the sum of exp(logit)
    bool nan;
};

template <int kBlocks> __device__ Look look(Work<kBlocks> &w) {
    using T = Team<kBlocks>;
    Extremes all{kNegInf, kNegInf, 0, 0};
    for (int i = threadIdx.x % kWarp; i < T::kPartials; i += kWarp) {
        const Extremes e = T::template get<T::kWarps>(w.extremes, i);
        all.best = fmaxf(all.best, e.best);
        all.nan |= e.nan;
        all.add_raw(e.raw_best, e.raw_sum);
    }
    all.join();
    return {all.best, all.raw_best, (double)all.raw_best + (double)logf(all.raw_sum), all.nan != 0};
}

// Keeps what top_k and top_p leave of the softmax; bins are empty.
template <int kBlocks> __device__ void truncate(Work<kBlocks> &w, const Part &part, const RowInput &in, Kept &d) {
    const bool rapid = in.draw == Draw::Rapid;
    const float scale = rapid ? d.scale : kSoftmaxScale;
    Cutoff k{}, p{};
    if (in.top_k > 0 && in.top_k < part.limit)
        k = cut(w, part, Distances(d.m, kMassBits / scale), kBins, {(uint64_t)in.top_k, 0}, Number{kNegInf});
    if (in.top_p < 1) {
        // Values beyond this distance have together less than a quarter of 1-top_p of
        // the largest one's mass: the cut is not among them.
        const float widest = fminf(kMassBits, 2 + log2f((float)part.limit) - log2f(1 - in.top_p));
        if (k.key) __syncthreads(); // bins
        p = cut(w, part, Distances(d.m, widest / scale), widest < kMassBits ? kBins - 1 : kBins, {1, (double)in.top_p}, Masses{d.m, scale});
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

// Draws from what part has; d has the row's largest value and the scale, and says
// then what was drawn from.
template <int kBlocks> __device__ int draw(Work<kBlocks> &w, const Part &part, const RowInput &in, Kept &d, uint64_t *total) {
    *total = 0;
    if (!(d.m > kNegInf)) return 0;
    if (in.draw == Draw::Greedy) {
        d.theta = d.m;
        d.tie_last = pick(w, part, Ties{d.m}, 0, false, total);
        *total = d.tie_mass = mass(d.m, d.m, d.scale);
        return d.tie_last;
    }
    if (in.truncates(part.limit)) truncate(w, part, in, d);
    return pick(w, part, d, random_word(in.seed, in.index), true, total);
}

// Behind Work there is room for the values held.
template <int kBlocks, bool kHeld> __device__ void draw_row(const DrawArgs &a, Work<kBlocks> &w, int out, int chunks_each) {
    using T = Team<kBlocks>;
    const int row = a.row(out), rank = T::rank();
    const RowInput &in = a.input[row];
    rk_result *result = a.scratch.results + out;
    if (in.draw == Draw::None || in.draw == Draw::Voice || a.frozen(row)) {
        wait_for_previous();
        if (rank > 0 || threadIdx.x > 0) return;
        if (in.draw != Draw::Voice) *result = {0, 0.0f, 0, in.draw == Draw::None ? 0u : RK_RESULT_FROZEN, 0.0f};
        for (int k = 1; k <= in.voices; k++) result[k] = {};
        return a.arrive();
    }
    const int all_chunks = (int)(a.stride / kDrawChunk), first = min(rank * chunks_each, all_chunks), chunks = min(chunks_each, all_chunks - first);
    float *z = kHeld ? reinterpret_cast<float *>(&w + 1) : a.scratch.z + out * a.stride + first * kDrawChunk;
    const Part part{z, first * kDrawChunk, chunks, a.slots.limit, false};
    for (int i = threadIdx.x; i < chunks * kDrawChunk / 4; i += T::kThreads) reinterpret_cast<float4 *>(z)[i] = {0, 0, 0, 0};
    clear_bins(w);
    const Seen seen(a.slots, in.slot);
    __syncthreads();
    seen.lower(in, a.bans, part, z);
    if (a.early) wait_for_previous();
    __syncthreads();

    const float *logits = a.drawn_from(out, in.voices > 0);
    const Extremes mine = load_part(logits, z, part, a.vocab);
    if (threadIdx.x % kWarp == 0) w.extremes[threadIdx.x / kWarp] = mine;
    T::sync();
    const Look seen_all = look(w);
    Kept d{seen_all.best, in.scale, kNegInf, INT32_MAX, 0};
    uint64_t total;
    const int token = draw(w, part, in, d, &total);
    int candidates = 0;
    if (in.top > 0) {
        const Part raw{logits + part.first, part.first, part.chunks, part.limit, true};
        candidates = list_candidates(w, raw, part, d, total, seen_all.raw_best, seen_all.norm, in.top, a.scratch.candidates + in.top_offset);
        __threadfence_system();
        T::sync();
    }
    const int at = token - part.first;
    const bool owns = at >= 0 && at < chunks * kDrawChunk;
    const float own = owns && in.voices > 0 ? tell_voices(a, out, in.voices, token) : 0.0f;
    if (owns && threadIdx.x == 0) {
        const float log_prob = total > 0 ? (float)((double)tame(logits[token]) - seen_all.norm) : kNegInf;
        *result = {token, log_prob, candidates, seen_all.nan ? RK_RESULT_NAN : 0u, own};
        a.slots.drawn[in.slot] = token;
        a.arrive();
    }
    if (in.flags & RK_ROW_OBSERVE) seen.observe(a, in, token, rank, kBlocks, owns);
    T::sync(); // no block may go on while others read its memory
}

// A team has one row, or goes through what draw_many has left of them.
template <int kBlocks, bool kHeld> __global__ void __launch_bounds__(Team<kBlocks>::kThreads, kBlocks > 1 ? 3 : 1) draw_rows(DrawArgs a, int chunks_each) {
    extern __shared__ uint4 shared[];
    let_next_start();
    if (!a.early) wait_for_previous();
    for (int out = blockIdx.x / kBlocks; out < a.outputs; out += gridDim.x / kBlocks)
        if (!a.many || !a.scratch.taken[out]) draw_row<kBlocks, kHeld>(a, *reinterpret_cast<Work<kBlocks> *>(shared), out, chunks_each);
}

template <int kBlocks, bool kHeld> void launch(const DrawArgs &a, int outputs, gpuStream stream) {
    const int each = chunks_each((int)a.stride, kBlocks);
    const size_t bytes = sizeof(Work<kBlocks>) + (kHeld ? (size_t)each * kDrawChunk * sizeof(float) : 0);
    launch_teams(draw_rows<kBlocks, kHeld>, a.many ? std::min(outputs, kTeamsLeft) : outputs, kBlocks, Team<kBlocks>::kThreads, bytes, stream, a, each);
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
    a.row_slot = p.row_slot;
    a.output_row = p.output_row;
    a.bans = p.bans;
    a.slots = p.slots;
    a.scratch = p.scratch;
    if (p.mixes) sampling::mix(a, p.stream);
    a.many = sampling::takes_many(a);
    a.early = !a.many && takes_small(p);
    if (a.many) sampling::draw_many(a, p.stream);
    if (a.scratch.z)
        sampling::launch<1, false>(a, p.outputs, p.stream);
    else
        sampling::launch<sampling::kClusterBlocks, true>(a, p.outputs, p.stream);
}
