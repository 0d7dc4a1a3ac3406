// gemv_project.cu: the attention's projections for few tokens, in two kernels:
//
//   r, k, v = W x_{r,k,v} ;  low = f(D x_{v,w,a,g}), f = identity, tanh, identity, σ
//   up = U low, and the attention's shift to the states
//
// Inputs are made of x, fp32 [T][C]. rkv [3][token_room][C], low [3][token_room][P],
// low_wide [token_room][P_g], up [4][token_room][C] and all weights are E. All blocks of the
// first kernel read the old shift, so that the second one writes the new one.
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_product.h"

namespace {

// Where rows of [Wr; Wk; Wv; Dv; Dw; Da; Dg] go; kinds are the mixes in the order
// r, k, v, w, a, g.
template <typename E> struct ProjectSink {
    E *rkv, *low, *low_wide;
    int rkv_part, low_part; // elements between parts
    int channels, rank, rank_g;

    __host__ __device__ int kind(int row) const {
        const int down = row - 3 * channels;
        return (row >= channels) + (row >= 2 * channels) + (down >= rank) + (down >= 2 * rank) + (down >= 3 * rank);
    }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const {
        const int part = kind(row), down = row - 3 * channels;
        if (down < 0)
            rkv[part * rkv_part + (token - part) * channels + row] = from_float<E>(sum);
        else if (part < 5)
            low[(part - 2) * low_part + (token - part + 2) * rank + down] = from_float<E>(part == 3 ? tanhf(sum) : sum);
        else
            low_wide[token * rank_g + down - 3 * rank] = from_float<E>(sigmoid(sum));
    }
};

constexpr int kUpWarps = 8, kUpDepth = 8, kUpSlotVectors = kUpWarps * kUpDepth * 2 * kWarp;

template <typename E> struct UpArgs {
    const E *up, *up_g, *low, *low_wide; // up [3][C][rank]: v, w, a
    E *out;
    int64_t low_part, out_part;
    int channels, rank, rank_g, tokens;
    const float *next_shift;
    float *shift;
    const int32_t *row_slot;
};

// The next kernel may start only when the one before this has ended: all kernels that
// follow may then read early what was written before the layer. grid (blocks, 5): the
// gate, which has the most inputs, then v, w, a, and the shift. A warp has one tile.
template <typename E> __global__ void __launch_bounds__(kUpWarps *kWarp, 3) multiply_up(UpArgs<E> a) {
    extern __shared__ uint4 shared[];
    const int part = blockIdx.y == 0 ? 3 : blockIdx.y - 1;
    if (blockIdx.y == 4) {
        wait_for_previous();
        let_next_start();
        for (int t = 0; t < a.tokens; t++) {
            const int c = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
            if (c < a.channels) store4(a.shift + (int64_t)a.row_slot[t] * 2 * a.channels + c, load4(a.next_shift + t * a.channels + c));
        }
        return;
    }
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    const int inputs = part == 3 ? a.rank_g : a.rank, steps = inputs / kStepInputs, stride = input_stride(inputs);
    const int row = (blockIdx.x * kUpWarps + warp) * kTileRows + g;
    const bool has = row - g < a.channels;
    const E *next = (part == 3 ? a.up_g : a.up + (int64_t)part * a.channels * inputs) + row * inputs + t * 8;
    uint4 *slots = shared + warp * kUpDepth * 2 * kWarp + lane;
    int left = has ? steps : 0;
    auto copy = [&](uint4 *slot) {
        if (left > 0) {
            copy16(slot, next);
            copy16(slot + kWarp, next + 8 * inputs);
            next += kStepInputs;
            left--;
        }
        end_group();
    };
#pragma unroll 1
    for (int d = 0; d < kUpDepth; d++) copy(slots + d * 2 * kWarp);
    wait_for_previous();
    let_next_start();
    E *xs = reinterpret_cast<E *>(shared + kUpSlotVectors);
    typename PlainInput<E>::Ahead none;
    PlainInput<E>{part == 3 ? a.low_wide : a.low + part * a.low_part, 0, inputs, a.tokens}.fill(none, xs, stride, 0, 0, nullptr);
    __syncthreads();
    float c[4] = {};
    int at = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        wait_copies<kUpDepth - 1>();
        uint4 *slot = slots + at * 2 * kWarp;
        const uint4 low = slot[0], high = slot[kWarp];
        uint4 x = {0, 0, 0, 0};
        if (g < a.tokens) x = *reinterpret_cast<const uint4 *>(xs + g * stride + step * kStepInputs + t * 8);
        multiply_tile<E>(c, low.x, high.x, low.y, high.y, x.x, x.y);
        multiply_tile<E>(c, low.z, high.z, low.w, high.w, x.z, x.w);
        copy(slot);
        at = at + 1 == kUpDepth ? 0 : at + 1;
    }
    if (!has) return;
    E *out = a.out + part * a.out_part + row;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int token = 2 * t + i % 2;
        if (token < a.tokens) out[token * a.channels + i / 2 * 8] = from_float<E>(c[i]);
    }
}

template <typename E> void project_down(const Pass &p, int layer, const float *shift) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    const int c = s.embed, room = (int)p.act.token_room;
    const Rows<E> rows{{static_cast<const E *>(l.rkv), static_cast<const E *>(l.down), static_cast<const E *>(l.down_g)},
                       {3 * c / kTileRows, 3 * s.rank / kTileRows, s.rank_wide / kTileRows}};
    const ProjectSink<E> sink{static_cast<E *>(p.act.rkv), static_cast<E *>(p.act.low), static_cast<E *>(p.act.low_wide), room * c, room * s.rank,
                              c, s.rank, s.rank_wide};
    product_of_norm<E, true>({p.act.x, l.ln1_weight, l.ln1_bias, l.mix, shift, p.row_slot, nullptr, p.act.next_shift, c, p.tokens, 6, layer > 0}, rows, sink,
                             static_cast<E *>(p.act.mixed), p.act.token_room * c, p.stream);
}

template <typename E> void project_up(const Pass &p, int layer, float *shift) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    UpArgs<E> a{};
    a.up = static_cast<const E *>(l.up);
    a.up_g = static_cast<const E *>(l.up_g);
    a.low = static_cast<const E *>(p.act.low);
    a.low_wide = static_cast<const E *>(p.act.low_wide);
    a.out = static_cast<E *>(p.act.up);
    a.low_part = p.act.token_room * s.rank;
    a.out_part = p.act.token_room * s.embed;
    a.channels = s.embed;
    a.rank = s.rank;
    a.rank_g = s.rank_wide;
    a.tokens = p.tokens;
    a.next_shift = p.act.next_shift;
    a.shift = shift;
    a.row_slot = p.row_slot;
    const size_t bytes = kUpSlotVectors * 16 + (size_t)p.tokens * input_stride(std::max(s.rank, s.rank_wide)) * sizeof(E);
    launch_early(multiply_up<E>, dim3((unsigned)ceil_div(s.embed, kTileRows * kUpWarps), 5), kUpWarps * kWarp, bytes, p.stream, a);
}

} // namespace

void project_gemv(const Pass &p, int layer) {
    float *shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * p.shape->embed;
    with_element(*p.shape, [&](auto e) {
        project_down<decltype(e)>(p, layer, shift);
        project_up<decltype(e)>(p, layer, shift);
    });
}
