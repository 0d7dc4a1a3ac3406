// gemv_v6.cu: RWKV-6's projections for few tokens (engine/v6.cu has the maths), in four kernels:
// the mixes' first half, their second half with the mixed inputs and the new shift, the
// projections with the decay's first half, and its second half.
//
// Inputs are made of x, fp32 [T][C]. low_wide is E [T][5 M], mixed E [5][token_room][C] in the
// order w, k, v, r, g, rkv E [4][token_room][C], low E [T][P], up E [T][C].
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_product.h"

namespace {

constexpr int kMixes = 5, kMixChannels = 32; // of a block of mix_inputs
constexpr int kPacks = 4;                     // of 8 ranks, requested early: the least that M is

// y [T][rows] = f(sum), one kind of inputs.
template <typename E, bool kTanh> struct StoreSink {
    E *y;
    int rows;

    __host__ __device__ int kind(int) const { return 0; }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const { y[token * rows + row] = from_float<E>(kTanh ? tanhf(sum) : sum); }
};

// Where rows of [Wk; Wv; Wr; Wg; D] go; kinds are their inputs among k, v, r, g, w.
template <typename E> struct ProjectSink {
    E *rkv, *low;
    int64_t part;
    int channels, rank;

    __host__ __device__ int kind(int row) const { return min(row / channels, 4); }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const {
        const int k = kind(row);
        if (k < 4)
            rkv[k * part + token * channels + row - k * channels] = from_float<E>(sum);
        else
            low[token * rank + row - 4 * channels] = from_float<E>(tanhf(sum));
    }
};

template <typename E> struct MixArgs {
    const E *up, *low; // up [5][C][M], low [T][5 M]
    E *mixed;
    const float *mix, *next_shift; // mix [5][C], next_shift [T][C]
    float *shift;
    const int32_t *row_slot;
    int64_t part;
    int channels, rank, tokens; // rank: M
};

// x_i = xn + (prev - xn) ⊙ (mix_i + U_i z_i) and the new shift. A thread has one channel of one
// mix. The kinds go to mixed in the order k, v, r, g, w. The next kernel may start only
// when the one before this has ended: all kernels that follow may then read early what was
// written before the layer.
template <typename E> __global__ void __launch_bounds__(kMixes *kMixChannels) mix_inputs(MixArgs<E> a) {
    extern __shared__ float low[];
    const int kind = threadIdx.x / kMixChannels, c = blockIdx.x * kMixChannels + threadIdx.x % kMixChannels, packs = a.rank / 8;
    Pack<E> w[kPacks];
    const auto *from = reinterpret_cast<const Pack<E> *>(a.up + ((int64_t)kind * a.channels + c) * a.rank);
#pragma unroll
    for (int i = 0; i < kPacks; i++) w[i] = from[i];
    const float mix = a.mix[kind * a.channels + c];
    wait_for_previous();
    let_next_start();
    for (int i = threadIdx.x * 8; i < a.tokens * kMixes * a.rank; i += blockDim.x * 8) {
        float v[8];
        load8(v, a.low + i);
#pragma unroll
        for (int e = 0; e < 8; e++) low[i + e] = v[e];
    }
    float now[kGemvTokens], prev[kGemvTokens];
#pragma unroll
    for (int t = 0; t < kGemvTokens; t++) {
        if (t >= a.tokens) break;
        now[t] = a.next_shift[t * a.channels + c];
        prev[t] = a.shift[(int64_t)a.row_slot[t] * 2 * a.channels + c];
    }
    __syncthreads();
    const int place = (kind + kMixes - 1) % kMixes;
#pragma unroll
    for (int t = 0; t < kGemvTokens; t++) {
        if (t >= a.tokens) break;
        const float *z = low + (t * kMixes + kind) * a.rank;
        float sum = mix;
#pragma unroll
        for (int i = 0; i < kPacks; i++)
#pragma unroll
            for (int e = 0; e < 8; e++) sum += to_float(w[i].v[e]) * z[i * 8 + e];
        for (int i = kPacks; i < packs; i++) {
            const Pack<E> more = from[i];
#pragma unroll
            for (int e = 0; e < 8; e++) sum += to_float(more.v[e]) * z[i * 8 + e];
        }
        a.mixed[place * a.part + t * a.channels + c] = from_float<E>(now[t] + (prev[t] - now[t]) * sum);
        if (kind == 0) a.shift[(int64_t)a.row_slot[t] * 2 * a.channels + c] = now[t];
    }
}

template <typename E> void project(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    const int c = s.embed, tokens = p.tokens, wide = s.rank_wide;
    const int64_t part = p.act.token_room * c;
    float *shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c;
    E *low = static_cast<E *>(p.act.low), *low_wide = static_cast<E *>(p.act.low_wide), *mixed = static_cast<E *>(p.act.mixed);
    product_of_norm<E, true>({p.act.x, l.ln1_weight, l.ln1_bias, l.mix_all, shift, p.row_slot, nullptr, p.act.next_shift, c, tokens, 1, layer > 0},
                             Rows<E>{{static_cast<const E *>(l.down_g)}, {wide / kTileRows}}, StoreSink<E, true>{low_wide, wide}, mixed, part, p.stream);
    MixArgs<E> a{};
    a.up = static_cast<const E *>(l.up_g);
    a.low = low_wide;
    a.mixed = mixed;
    a.mix = l.mix;
    a.next_shift = p.act.next_shift;
    a.shift = shift;
    a.row_slot = p.row_slot;
    a.part = part;
    a.channels = c;
    a.rank = wide / kMixes;
    a.tokens = tokens;
    launch_early(mix_inputs<E>, c / kMixChannels, kMixes * kMixChannels, tokens * wide * sizeof(float), p.stream, a);
    const Rows<E> rows{{static_cast<const E *>(l.rkv), static_cast<const E *>(l.down)}, {4 * c / kTileRows, s.rank / kTileRows}};
    product(rows, PlainInput<E>{mixed, part, c, tokens}, ProjectSink<E>{static_cast<E *>(p.act.rkv), low, part, c, s.rank}, p.stream);
    product(Rows<E>{{static_cast<const E *>(l.up)}, {c / kTileRows}}, PlainInput<E>{low, 0, s.rank, tokens}, StoreSink<E, false>{static_cast<E *>(p.act.up), c}, p.stream);
}

} // namespace

void project_v6_gemv(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) { project<decltype(e)>(p, layer); });
}
