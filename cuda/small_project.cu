// small_project.cu: the attention's projections for few tokens, in two kernels:
//
//   r, k, v = W x_{r,k,v} ;  low = tanh, σ or nothing of D x_{v,w,a,g}
//   up = U low, and the att shift to the states
//
// The shift is written by the second kernel, as all blocks of the first read
// the old one.
#include "small.h"
#include "small_product.h"
#include "vectors.h"

namespace {

// Where rows of [Wr; Wk; Wv; Dv; Dw; Da; Dg] go; mixes are in the order r, k, v,
// w, a, g.
template <typename E> struct ProjectSink {
    E *rkv, *low, *low_g;
    int64_t rkv_part, low_part; // elements between parts
    int channels, rank, rank_g;

    __device__ int kind(int row) const {
        if (row < 3 * channels) return row / channels;
        row -= 3 * channels;
        return row < 3 * rank ? 2 + row / rank : 5;
    }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const {
        if (row < 3 * channels) {
            rkv[row / channels * rkv_part + (int64_t)token * channels + row % channels] = from_float<E>(sum);
            return;
        }
        row -= 3 * channels;
        if (row < 3 * rank) {
            const int part = row / rank;
            low[part * low_part + (int64_t)token * rank + row % rank] = from_float<E>(part == 1 ? tanhf(sum) : sum);
            return;
        }
        low_g[(int64_t)token * rank_g + row - 3 * rank] = from_float<E>(sigmoid(sum));
    }
};

constexpr int kUpWarps = 8, kUpDepth = 8, kUpSlotBytes = kUpWarps * kUpDepth * 2 * kWarp * 16;

template <typename E> struct UpArgs {
    const E *up, *up_g, *low, *low_g; // up [3][C][rank]: v, w, a
    E *out;
    int64_t low_part, out_part;
    int channels, rank, rank_g, tokens, blocks; // blocks of each of the four parts
    ShiftCommit commit;
};

// A warp a tile; blocks of the gate, which has the most inputs, come first, and
// after those of all parts one block a token for the shift.
template <typename E> __global__ void __launch_bounds__(kUpWarps *kWarp) multiply_up(UpArgs<E> a) {
    extern __shared__ uint4 shared[];
    const int part = blockIdx.x / a.blocks == 0 ? 3 : blockIdx.x / a.blocks - 1;
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    if (blockIdx.x >= 4 * a.blocks) {
        let_next_start();
        wait_for_previous();
        a.commit.template run<kUpWarps * kWarp>(blockIdx.x - 4 * a.blocks, reinterpret_cast<float *>(shared));
        return;
    }
    const int inputs = part == 3 ? a.rank_g : a.rank, steps = inputs / kStepInputs, stride = input_stride(inputs);
    const int row = (blockIdx.x % a.blocks * kUpWarps + warp) * kTileRows + g;
    const bool has = row - g < a.channels;
    const E *weights = (part == 3 ? a.up_g : a.up + (int64_t)part * a.channels * inputs) + (int64_t)row * inputs + t * 8;
    uint4 *slots = shared + warp * kUpDepth * 2 * kWarp + lane;
    auto copy = [&](int step) {
        if (has && step < steps) {
            uint4 *slot = slots + step % kUpDepth * 2 * kWarp;
            copy16(slot, weights + step * kStepInputs);
            copy16(slot + kWarp, weights + step * kStepInputs + (int64_t)8 * inputs);
        }
        end_group();
    };
#pragma unroll
    for (int d = 0; d < kUpDepth; d++) copy(d);
    let_next_start();
    wait_for_previous();
    E *xs = reinterpret_cast<E *>(shared + kUpSlotBytes / 16);
    PlainInput<E>{part == 3 ? a.low_g : a.low + part * a.low_part, 0, inputs, a.tokens}.fill(xs, stride, 0, true, nullptr);
    __syncthreads();
    float c[4] = {};
    for (int step = 0; step < steps; step++) {
        wait_copies<kUpDepth - 1>();
        const uint4 *slot = slots + step % kUpDepth * 2 * kWarp;
        const uint4 low = slot[0], high = slot[kWarp];
        uint4 x = {0, 0, 0, 0};
        if (g < a.tokens) x = *reinterpret_cast<const uint4 *>(xs + g * stride + step * kStepInputs + t * 8);
        multiply_tile<E>(c, low.x, high.x, low.y, high.y, x.x, x.y);
        multiply_tile<E>(c, low.z, high.z, low.w, high.w, x.z, x.w);
        copy(step + kUpDepth);
    }
    if (!has) return;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int token = 2 * t + i % 2;
        if (token < a.tokens) a.out[part * a.out_part + (int64_t)token * a.channels + row + i / 2 * 8] = from_float<E>(c[i]);
    }
}

template <typename E> void project_down(const Pass &p, int layer, float *shift) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    const int c = s.embed;
    const Rows<E> rows{{static_cast<const E *>(l.rkv), static_cast<const E *>(l.down), static_cast<const E *>(l.down_g)},
                       {3 * c, 3 * s.rank, s.rank_gp}};
    const ProjectSink<E> sink{static_cast<E *>(p.act.rkv), static_cast<E *>(p.act.low), static_cast<E *>(p.act.low_g),
                              p.act.token_room * c, p.act.token_room * s.rank, c, s.rank, s.rank_gp};
    product_of_norm<E, true>({p.act.x, l.ln1_weight, l.ln1_bias, l.mix, shift, p.row_slot, nullptr, c, p.tokens, 6}, rows, sink,
                             static_cast<E *>(p.act.mixed), p.act.token_room * c, p.stream);
}

template <typename E> void project_up(const Pass &p, int layer, float *shift) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    const int c = s.embed;
    UpArgs<E> a{};
    a.up = static_cast<const E *>(l.up);
    a.up_g = static_cast<const E *>(l.up_g);
    a.low = static_cast<const E *>(p.act.low);
    a.low_g = static_cast<const E *>(p.act.low_g);
    a.out = static_cast<E *>(p.act.up);
    a.low_part = p.act.token_room * s.rank;
    a.out_part = p.act.token_room * c;
    a.channels = c;
    a.rank = s.rank;
    a.rank_g = s.rank_gp;
    a.tokens = p.tokens;
    a.blocks = (int)ceil_div(c, kTileRows * kUpWarps);
    a.commit = {p.act.x, l.ln1_weight, l.ln1_bias, shift, p.row_slot, c};
    const size_t bytes = kUpSlotBytes + (size_t)p.tokens * input_stride(std::max(s.rank, s.rank_gp)) * sizeof(E);
    launch_early(multiply_up<E>, 4 * a.blocks + p.tokens, kUpWarps * kWarp, bytes, p.stream, a);
}

} // namespace

void project_small(const Pass &p, int layer) {
    float *shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * p.shape->embed;
    with_element(*p.shape, [&](auto e) {
        project_down<decltype(e)>(p, layer, shift);
        project_up<decltype(e)>(p, layer, shift);
    });
}
