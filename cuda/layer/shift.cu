// shift.cu: embedding, and layer norm with token shift.
//
//   x   = LN(emb[token]; ln0)
//   xn  = LN(x)
//   m_i = xn + (prev - xn) ⊙ mix_i
//
// prev is xn of the row's token before, or for its first token the state's shift. xn of
// its last token is the new shift. x and shifts are fp32, all m_i are E
// [mixes][token_room][C]; sums are fp32.
#include "engine/version.h"

#include "device/launch.h"
#include "layer/element.h"

namespace {

constexpr float kNormEps = 1e-5f;
constexpr int kNormThreads = 512; // at most, each with eight channels at a time
constexpr int kManyRows = 256, kRowsTogether = 3; // from kManyRows rows of one token on, a block has kRowsTogether

// Eight channels for each thread, kVectors times.
template <int kVectors> struct Channels {
    float v[kVectors][8];
};

// Threads of a block for C channels; kVectors is then 1 or 2.
int norm_threads(int channels) { return std::min((int)round_up(channels / 8, kWarp), kNormThreads); }

template <int kVectors> __device__ int channel(int vector) { return (vector * (int)blockDim.x + (int)threadIdx.x) * 8; }

template <int kVectors> __device__ Channels<kVectors> load_channels(const float *x, int channels) {
    Channels<kVectors> a{};
#pragma unroll
    for (int i = 0; i < kVectors; i++)
        if (int c = channel<kVectors>(i); c < channels) load8(a.v[i], x + c);
    return a;
}

// A layer norm's weights.
template <int kVectors> struct Norm {
    Channels<kVectors> weight, bias;

    Norm() = default;
    __device__ Norm(const float *w, const float *b, int channels)
        : weight(load_channels<kVectors>(w, channels)), bias(load_channels<kVectors>(b, channels)) {}
};

// LN of one token's x by the whole block; a is the thread's part. shared has 2*kWarp
// floats, which the next call may use again: there is a barrier between the two sums. The mean
// and the factor go to `to`, if there is one.
template <int kVectors>
__device__ Channels<kVectors> layer_norm(Channels<kVectors> a, const Norm<kVectors> &norm, int channels, float *shared, TokenNorm *to = nullptr) {
    float sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < kVectors; i++)
#pragma unroll
        for (int e = 0; e < 8; e++) sum += a.v[i][e];
    const float mean = block_sum(sum, shared) / channels;
#pragma unroll
    for (int i = 0; i < kVectors; i++)
        if (channel<kVectors>(i) < channels)
#pragma unroll
            for (int e = 0; e < 8; e++) {
                a.v[i][e] -= mean;
                squares += a.v[i][e] * a.v[i][e];
            }
    const float scale = rsqrtf(block_sum(squares, shared + kWarp) / channels + kNormEps);
    if (to && threadIdx.x == 0) to->mean = mean, to->factor = scale;
#pragma unroll
    for (int i = 0; i < kVectors; i++)
#pragma unroll
        for (int e = 0; e < 8; e++) a.v[i][e] = a.v[i][e] * scale * norm.weight.v[i][e] + norm.bias.v[i][e];
    return a;
}

struct ShiftArgs {
    const float *__restrict__ x, *__restrict__ ln_weight, *__restrict__ ln_bias, *__restrict__ mix;
    float *shift;       // of this layer and place: slot s at s*2*channels
    float *next_shift;  // [rows][channels], or null if the pass is single
    const RowInput *input;
    const int32_t *row_slot, *row_of;
    TokenNorm *norms; // of each token; or null
    int64_t stride; // elements between the mixes of a token
    int channels, tokens, group;
    bool first; // of the step
    bool keeps; // writes the new shift
};

// The step's first shift lets its successor start only when embed has ended. All kernels
// that follow may then read what embed wrote, and anything older, before their
// predecessors have ended.
__device__ void trigger(const ShiftArgs &a, bool waited) {
    if (a.first == waited) let_next_start();
}

// A block has `group` neighbouring tokens and goes through them in order, so that it has
// each token's prev. With kAhead it has one token, and loads the constants to registers
// before the previous kernel has ended. Otherwise it reads the mixes for each token from
// the first-level cache: keeping them would leave room for one block on a multiprocessor.
template <typename E, int kMixes, int kVectors, bool kAhead>
__global__ void __launch_bounds__(kNormThreads, kAhead || kVectors > 1 ? 1 : 2) shift_tokens(ShiftArgs a, E *mixed) {
    __shared__ float shared[2][2 * kWarp];
    trigger(a, false);
    Channels<kVectors> mixes[kAhead ? kMixes : 1];
    Norm<kVectors> norm;
    if constexpr (kAhead) {
        norm = Norm<kVectors>(a.ln_weight, a.ln_bias, a.channels);
#pragma unroll
        for (int m = 0; m < kMixes; m++) mixes[m] = load_channels<kVectors>(a.mix + m * a.channels, a.channels);
    }
    const bool single = a.next_shift == nullptr;
    const int begin = blockIdx.x * a.group, end = min(begin + a.group, a.tokens);
    Channels<kVectors> prev;
    if (kAhead && single && !a.first) prev = load_channels<kVectors>(a.shift + (int64_t)a.row_slot[begin] * 2 * a.channels, a.channels);
    wait_for_previous();
    trigger(a, true);
    for (int t = begin; t < end; t++) {
        Channels<kVectors> now = load_channels<kVectors>(a.x + (int64_t)t * a.channels, a.channels);
        if constexpr (!kAhead) norm = Norm<kVectors>(a.ln_weight, a.ln_bias, a.channels);
        const int row = single ? t : a.row_of[t];
        const int first = single ? t : a.input[row].first, last = single ? t : first + a.input[row].count - 1;
        float *shift = a.shift + (int64_t)a.row_slot[row] * 2 * a.channels;
        if (a.norms && threadIdx.x == 0) a.norms[t].slot = t == first ? a.row_slot[row] : -1, a.norms[t].row = t == last ? row : -1;
        if (kAhead && single && !a.first)
            ;
        else if (t == first)
            prev = load_channels<kVectors>(shift, a.channels);
        else if (t == begin)
            prev = layer_norm(load_channels<kVectors>(a.x + (int64_t)(t - 1) * a.channels, a.channels), norm, a.channels, shared[1]);
        now = layer_norm(now, norm, a.channels, shared[0], a.norms ? a.norms + t : nullptr);
#pragma unroll
        for (int i = 0; i < kVectors; i++) {
            const int c = channel<kVectors>(i);
            if (c >= a.channels) continue;
#pragma unroll
            for (int m = 0; m < kMixes; m++) {
                float mix[8], out[8];
                if constexpr (!kAhead) load8(mix, a.mix + m * a.channels + c);
#pragma unroll
                for (int e = 0; e < 8; e++) out[e] = now.v[i][e] + (prev.v[i][e] - now.v[i][e]) * (kAhead ? mixes[kAhead ? m : 0].v[i][e] : mix[e]);
                store8(mixed + m * a.stride + (int64_t)t * a.channels + c, out);
            }
            if (t == last && a.keeps) store8((single ? shift : a.next_shift + (int64_t)row * a.channels) + c, now.v[i]);
        }
        prev = now;
    }
}

// Layer norms of several tokens at once, with two barriers for all of them.
// shared has 2*kCount*kWarp floats. Means and factors of the first `most` go to `to`, as above.
template <int kCount>
__device__ void layer_norms(Channels<1> (&a)[kCount], const Norm<1> &norm, int channels, float *shared, TokenNorm *to, int most) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
    const auto sums = [&](float (&v)[kCount], float *to) {
#pragma unroll
        for (int i = 0; i < kCount; i++) {
            v[i] = warp_sum(v[i]);
            if (lane == 0) to[i * kWarp + warp] = v[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kCount; i++) v[i] = warp_sum(lane < warps ? to[i * kWarp + lane] : 0.0f);
    };
    const bool has = channel<1>(0) < channels;
    float sum[kCount] = {}, squares[kCount] = {};
#pragma unroll
    for (int i = 0; i < kCount; i++)
#pragma unroll
        for (int e = 0; e < 8; e++) sum[i] += a[i].v[0][e];
    sums(sum, shared);
#pragma unroll
    for (int i = 0; i < kCount; i++)
#pragma unroll
        for (int e = 0; e < 8; e++) {
            a[i].v[0][e] -= sum[i] / channels;
            if (has) squares[i] += a[i].v[0][e] * a[i].v[0][e];
        }
    sums(squares, shared + kCount * kWarp);
#pragma unroll
    for (int i = 0; i < kCount; i++) {
        const float scale = rsqrtf(squares[i] / channels + kNormEps);
        if (to && i < most && threadIdx.x == 0) to[i].mean = sum[i] / channels, to[i].factor = scale;
#pragma unroll
        for (int e = 0; e < 8; e++) a[i].v[0][e] = a[i].v[0][e] * scale * norm.weight.v[0][e] + norm.bias.v[0][e];
    }
}

// The same for many rows of one token: a block has kCount of them, so that it reads weights
// and mixes once for all.
template <typename E, int kMixes, int kCount> __global__ void __launch_bounds__(kNormThreads, 1) shift_rows(ShiftArgs a, E *mixed) {
    __shared__ float shared[2 * kCount * kWarp];
    trigger(a, false);
    const Norm<1> norm(a.ln_weight, a.ln_bias, a.channels);
    wait_for_previous();
    trigger(a, true);
    const int first = blockIdx.x * kCount, c = channel<1>(0);
    Channels<1> now[kCount], prev[kCount];
    float *shift[kCount];
#pragma unroll
    for (int i = 0; i < kCount; i++) {
        const int t = min(first + i, a.tokens - 1);
        shift[i] = a.shift + (int64_t)a.row_slot[t] * 2 * a.channels;
        if (a.norms && threadIdx.x == 0) a.norms[t].slot = a.row_slot[t], a.norms[t].row = t;
        now[i] = load_channels<1>(a.x + (int64_t)t * a.channels, a.channels);
        prev[i] = load_channels<1>(shift[i], a.channels);
    }
    layer_norms(now, norm, a.channels, shared, a.norms ? a.norms + first : nullptr, a.tokens - first);
    if (c >= a.channels) return;
#pragma unroll
    for (int i = 0; i < kCount; i++)
        if (first + i < a.tokens && a.keeps) store8(shift[i] + c, now[i].v[0]);
#pragma unroll
    for (int m = 0; m < kMixes; m++) {
        float mix[8];
        load8(mix, a.mix + m * a.channels + c);
#pragma unroll
        for (int i = 0; i < kCount; i++) {
            float out[8];
#pragma unroll
            for (int e = 0; e < 8; e++) out[e] = now[i].v[0][e] + (prev[i].v[0][e] - now[i].v[0][e]) * mix[e];
            if (first + i < a.tokens) store8(mixed + m * a.stride + (int64_t)(first + i) * a.channels + c, out);
        }
    }
}

__global__ void copy_shift(float *shift, const float *next_shift, const int32_t *row_slot, int channels) {
    begin_early();
    float *to = shift + (int64_t)row_slot[blockIdx.x] * 2 * channels;
    const float *from = next_shift + (int64_t)blockIdx.x * channels;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) to[c] = from[c];
}

// Which shift of a layer: the attention's, what RWKV-6's mixes are computed from (mix_v6.cu has
// the attention's then), or the channel mix's.
enum class Place { Attention, Mixes, Ffn };

template <typename E, int kMixes> void shift(const Pass &p, int layer, Place place) {
    const bool ffn = place == Place::Ffn;
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed;
    ShiftArgs a{};
    a.x = p.act.x;
    a.ln_weight = ffn ? l.ln2_weight : l.ln1_weight;
    a.ln_bias = ffn ? l.ln2_bias : l.ln1_bias;
    a.mix = ffn ? l.mix_ffn : place == Place::Mixes ? l.mix_all : l.mix;
    a.norms = place == Place::Mixes ? p.act.norms : nullptr;
    a.keeps = place != Place::Mixes;
    a.shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c + (ffn ? c : 0);
    a.next_shift = p.single ? nullptr : p.act.next_shift;
    a.input = p.input;
    a.row_slot = p.row_slot;
    a.row_of = p.row_of;
    a.stride = p.act.token_room * c;
    a.channels = c;
    a.tokens = p.tokens;
    a.group = p.tokens >= 1024 ? 4 : 1;
    a.first = layer == 0 && (place == Place::Attention || place == Place::Mixes);
    const int threads = norm_threads(c), blocks = (int)ceil_div(p.tokens, a.group);
    if (p.single && p.tokens >= kManyRows && c <= kNormThreads * 8)
        return launch_early(shift_rows<E, kMixes, kRowsTogether>, (int)ceil_div(p.tokens, kRowsTogether), threads, 0, p.stream, a, static_cast<E *>(p.act.mixed));
    const bool ahead = blocks <= device_limits().multiprocessors && a.group == 1;
    auto kernel = shift_tokens<E, kMixes, 2, false>;
    if (c <= kNormThreads * 8) kernel = ahead ? shift_tokens<E, kMixes, 1, true> : shift_tokens<E, kMixes, 1, false>;
    launch_early(kernel, blocks, threads, 0, p.stream, a, static_cast<E *>(p.act.mixed));
    if (!p.single && a.keeps) commit_shift(p, a.shift);
}

// One block a token.
template <typename E>
__global__ void embed_tokens(float *x, const E *embedding, const float *weight, const float *bias, const RowInput *sent, RowInput *input,
                             int32_t *row_slot, const int32_t *token_ids, const int32_t *row_of, int channels, bool single) {
    constexpr int kWords = sizeof(RowInput) / sizeof(uint32_t);
    static_assert(kWords <= kWarp, "a warp brings a row's input");
    __shared__ union {
        uint32_t words[kWords];
        RowInput row;
    } shared;
    let_next_start();
    if (sent && threadIdx.x < kWords) shared.words[threadIdx.x] = reinterpret_cast<const uint32_t *>(sent + blockIdx.x)[threadIdx.x];
    wait_for_previous();
    const int t = blockIdx.x, row = single ? t : row_of[t];
    if (sent && threadIdx.x < kWords) reinterpret_cast<uint32_t *>(input + row)[threadIdx.x] = shared.words[threadIdx.x];
    __syncthreads();
    const RowInput &in = sent ? shared.row : input[row];
    const int id = in.count == 1 ? in.token : token_ids[t];
    if (t == (single ? t : in.first) && threadIdx.x == 0) row_slot[row] = in.slot;
    const E *from = embedding + (int64_t)id * channels;
    for (int c = threadIdx.x * 8; c < channels; c += blockDim.x * 8) {
        float v[8], w[8], b[8];
        load8(v, from + c);
        load8(w, weight + c);
        load8(b, bias + c);
#pragma unroll
        for (int e = 0; e < 8; e++) v[e] = v[e] * w[e] + b[e];
        store8(x + (int64_t)t * channels + c, v);
    }
}

// One block an output row.
template <typename E, int kVectors>
__global__ void norm_outputs(E *last, const float *x, const float *weight, const float *bias, const RowInput *input,
                             const int32_t *output_row, int channels, bool single) {
    __shared__ float shared[2 * kWarp];
    let_next_start();
    const Norm<kVectors> norm(weight, bias, channels);
    wait_for_previous();
    const int row = output_row ? output_row[blockIdx.x] : blockIdx.x;
    const int t = single ? row : input[row].first + input[row].count - 1;
    const Channels<kVectors> a = layer_norm(load_channels<kVectors>(x + (int64_t)t * channels, channels), norm, channels, shared);
#pragma unroll
    for (int i = 0; i < kVectors; i++)
        if (int c = channel<kVectors>(i); c < channels) store8(last + (int64_t)blockIdx.x * channels + c, a.v[i]);
}

} // namespace

void embed(const Pass &p) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int threads = std::min((int)round_up(p.shape->embed / 8, kWarp), 256);
        launch_early(embed_tokens<E>, p.tokens, threads, 0, p.stream, p.act.x, static_cast<const E *>(p.model->embedding),
                     p.model->ln0_weight, p.model->ln0_bias, p.sent, p.input, p.row_slot, p.token_ids, p.row_of, p.shape->embed, p.single);
    });
}

void commit_shift(const Pass &p, float *shift) { launch_early(copy_shift, p.rows, 256, 0, p.stream, shift, p.act.next_shift, p.row_slot, p.shape->embed); }

void shift_attention(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        switch (p.shape->version->parts.inputs) {
        case 3: return shift<E, 3>(p, layer, Place::Attention);
        case 4: return shift<E, 4>(p, layer, Place::Attention);
        default: return shift<E, 6>(p, layer, Place::Attention);
        }
    });
}

void shift_mixes(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) { shift<decltype(e), 1>(p, layer, Place::Mixes); });
}

void shift_ffn(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) { shift<decltype(e), 1>(p, layer, Place::Ffn); });
}

void shift_ffn_gated(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) { shift<decltype(e), 2>(p, layer, Place::Ffn); });
}

void norm_last(const Pass &p) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int c = p.shape->embed, threads = norm_threads(c);
        const auto kernel = c <= kNormThreads * 8 ? norm_outputs<E, 1> : norm_outputs<E, 2>;
        launch_early(kernel, p.outputs, threads, 0, p.stream, static_cast<E *>(p.act.last), p.act.x, p.model->ln_out_weight,
                     p.model->ln_out_bias, p.input, p.output_row, c, p.single);
    });
}
