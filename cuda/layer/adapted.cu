// adapted.cu: the kernels of adapted.h.
//
// x and x' are E [tokens][in], y is E or fp32 [tokens][out], ranks are fp32 in shared
// memory. The model's own products are those of wgmma.h or cuBLASLt; the gemv kernels
// cannot be used, since they keep the inputs that adapters read to themselves.
//
// One block computes both narrow products for some tokens of a row and a slice of the
// outputs, where possible while the model's own product runs. Changed inputs x' go to
// another buffer, because the narrow products read x.
#include "layer/adapted.h"

#include "device/copy.h"
#include "device/launch.h"
#include "layer/element.h"
#include "layer/wgmma.h"

namespace {

constexpr int kAdaptThreads = 256, kAdaptWarps = kAdaptThreads / kWarp;
constexpr int kRanksTogether = 16; // of a single token
constexpr int kRanksAtOnce = 2;    // of a tile, by a warp

template <typename E> __device__ float value_of(const uint4 &eight, int i) { return to_float(reinterpret_cast<const Pack<E> &>(eight).v[i]); }

// Sums of sixteen values over a warp: at every step a lane keeps half of its values. Lane l
// gets the sum of value l / 2.
__device__ float warp_sums(float (&v)[16]) {
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int o = kWarp / 2, n = 8; n > 0; o >>= 1, n >>= 1)
#pragma unroll
        for (int i = 0; i < n; i++) {
            const float kept = lane & o ? v[i + n] : v[i], given = lane & o ? v[i] : v[i + n];
            v[i] = kept + SHFL_XOR(given, o);
        }
    return v[0] + SHFL_XOR(v[0], 1);
}

// low[r] = down[r] · x for kRanksTogether ranks from first on. Each warp has some of the
// inputs, so that all loads are under way at once.
template <typename E> __device__ void shrink(float *low, float (&partial)[kAdaptWarps][kRanksTogether], const AdapterDelta &d, const E *x, int in, int first) {
    constexpr int kRanks = kRanksTogether;
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, last = d.rank - 1;
    const E *down = static_cast<const E *>(d.down);
    float sum[kRanks] = {};
    for (int i = threadIdx.x * 8; i < in; i += kAdaptThreads * 8) {
        uint4 w[kRanks];
#pragma unroll
        for (int k = 0; k < kRanks; k++) w[k] = load16_if(first + k <= last, down + (int64_t)(first + k) * in + i);
        float v[8];
        load8(v, x + i);
#pragma unroll
        for (int k = 0; k < kRanks; k++) after_loads(w[k]);
#pragma unroll
        for (int k = 0; k < kRanks; k++)
#pragma unroll
            for (int e = 0; e < 8; e++) sum[k] += v[e] * value_of<E>(w[k], e);
    }
    const float whole = warp_sums(sum);
    if (lane % 2 == 0) partial[warp][lane / 2] = whole;
    __syncthreads();
    if (threadIdx.x < kRanks) {
        float all = 0;
#pragma unroll
        for (int w = 0; w < kAdaptWarps; w++) all += partial[w][threadIdx.x];
        low[first + threadIdx.x] = all;
    }
    __syncthreads();
}

// low[t][r] = down[r] · x[t] for count tokens. Each warp has some of the ranks, so that
// weights are read once for all tokens.
template <typename E> __device__ void shrink_tile(float (*low)[RK_RANK_MAX], const AdapterDelta &d, const E *x, int in, int count) {
    const int lane = threadIdx.x % kWarp;
    const E *down = static_cast<const E *>(d.down);
    for (int first = threadIdx.x / kWarp * kRanksAtOnce; first < d.rank; first += kAdaptWarps * kRanksAtOnce) {
        float sum[kRanksAtOnce][kAdapterTokens] = {};
        for (int i = lane * 8; i < in; i += kWarp * 8) {
            float w[kRanksAtOnce][8];
#pragma unroll
            for (int k = 0; k < kRanksAtOnce; k++) load8(w[k], down + (int64_t)min(first + k, d.rank - 1) * in + i);
#pragma unroll
            for (int t = 0; t < kAdapterTokens; t++) {
                float v[8];
                load8(v, x + (int64_t)min(t, count - 1) * in + i);
#pragma unroll
                for (int k = 0; k < kRanksAtOnce; k++)
#pragma unroll
                    for (int e = 0; e < 8; e++) sum[k][t] += w[k][e] * v[e];
            }
        }
#pragma unroll
        for (int k = 0; k < kRanksAtOnce; k++)
#pragma unroll
            for (int t = 0; t < kAdapterTokens; t++) {
                const float all = warp_sum(sum[k][t]);
                if (lane == 0) low[t][first + k] = all;
            }
    }
    __syncthreads();
}

// sum[t] += up · low[t], of eight outputs. Ranks are taken as many at once as shrink
// computes; those beyond `rank` are multiplied by zeros.
template <typename E, int kTokens> __device__ void expand(float (&sum)[kTokens][8], const float (*low)[RK_RANK_MAX], const E *up, int64_t pitch, int rank) {
    constexpr int kAtOnce = kTokens == 1 ? kRanksTogether : kRanksAtOnce;
    for (int first = 0; first < rank; first += kAtOnce) {
        uint4 w[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; k++) w[k] = load16_if(first + k < rank, up + (first + k) * pitch);
#pragma unroll
        for (int k = 0; k < kAtOnce; k++) after_loads(w[k]);
#pragma unroll
        for (int k = 0; k < kAtOnce; k++)
#pragma unroll
            for (int t = 0; t < kTokens; t++)
#pragma unroll
                for (int e = 0; e < 8; e++) sum[t][e] += low[t][first + k] * value_of<E>(w[k], e);
    }
}

// Stores eight outputs, or relu² of them.
template <bool kSquare, typename Y> __device__ void store_finished(Y *y, const float (&v)[8]) {
    if (!kSquare) return store8(y, v);
    constexpr int n = Pack<Y>::size;
#pragma unroll
    for (int k = 0; k < 8 / n; k++) {
        Pack<Y> q;
#pragma unroll
        for (int e = 0; e < n; e++) {
            const float r = fmaxf(v[k * n + e], 0.0f);
            q.v[e] = from_float_bounded<Y>(r * r);
        }
        reinterpret_cast<Pack<Y> *>(y)[k] = q;
    }
}

// y += up (down x) of some tokens of a row, at most kTokens. With kSquare the outputs of
// all rows then become relu² of themselves. grid (tiles, slices of outputs, products)
template <typename E, typename Y, int kTokens, bool kSquare> __global__ void __launch_bounds__(kAdaptThreads, 2) add_deltas(AdaptArgs a) {
    __shared__ float low[kTokens][RK_RANK_MAX];
    let_next_start();
    if (a.ready == Ready::Nothing) wait_for_previous();
    const AdapterTile tile = a.tile(blockIdx.x);
    const int pitch = (a.out + 7) / 8 * 8, o = (blockIdx.y * kAdaptThreads + threadIdx.x) * 8;
    const AdapterDelta *found = a.delta(tile.row, blockIdx.z);
    const bool changes = found && found->down;
    float sum[kTokens][8] = {};
    if (changes) {
        const AdapterDelta d = *found;
        const E *x = static_cast<const E *>(a.x) + blockIdx.z * a.x_part + (int64_t)tile.first * a.in;
        if constexpr (kTokens == 1) {
            __shared__ float partial[kAdaptWarps][kRanksTogether];
            for (int first = 0; first < d.rank; first += kRanksTogether) shrink(low[0], partial, d, x, a.in, first);
        } else {
            shrink_tile(low, d, x, a.in, tile.count);
        }
        if (o < pitch) expand<E, kTokens>(sum, low, static_cast<const E *>(d.up) + o, pitch, d.rank);
    }
    if (a.ready == Ready::Inputs) wait_for_previous();
    if ((changes || kSquare) && o < pitch) {
        Y *y = static_cast<Y *>(a.y) + blockIdx.z * a.y_part + tile.first * a.y_token + o;
#pragma unroll
        for (int t = 0; t < kTokens; t++) {
            if (t >= tile.count) break;
            float v[8];
            load8(v, y + t * a.y_token);
#pragma unroll
            for (int e = 0; e < 8; e++) v[e] += sum[t][e];
            store_finished<kSquare>(y + t * a.y_token, v);
        }
    }
    if (a.ready == Ready::InputsAndOutputs) wait_for_previous(); // the next kernel waits for this one alone
}

// A product's inputs as adapters change them, of all tokens: y = x, gain * x, or
// x_b + D_b x_b. grid (tokens, slices of inputs, products)
template <typename E> __global__ void __launch_bounds__(kAdaptThreads) reshape_inputs(AdaptArgs a) {
    begin_early();
    const int t = blockIdx.x, i = (blockIdx.y * kAdaptThreads + threadIdx.x) * 8;
    if (i >= a.in) return;
    const E *x = static_cast<const E *>(a.x) + blockIdx.z * a.x_part + (int64_t)t * a.in;
    float v[8];
    load8(v, x + i);
    const AdapterDelta *d = a.delta(a.row(t), blockIdx.z);
    if (d && d->gain) {
        float gain[8];
        load8(gain, d->gain + i);
#pragma unroll
        for (int e = 0; e < 8; e++) v[e] *= gain[e];
    } else if (d && d->blocks) {
        const int size = d->size;
        const E *blocks = static_cast<const E *>(d->blocks);
#pragma unroll
        for (int e = 0; e < 8; e++) {
            const int first = (i + e) / size * size;
            float sum = 0;
            for (int j = 0; j < size; j++) sum += to_float(blocks[(int64_t)(first + j) * size + (i + e - first)]) * to_float(x[first + j]);
            v[e] += sum;
        }
    }
    store8(static_cast<E *>(a.y) + blockIdx.z * a.y_part + (int64_t)t * a.in + i, v);
}

} // namespace

AdaptArgs adapt_inputs(const Pass &p, int layer, std::initializer_list<int> targets, const void *x, int64_t x_part, int in) {
    AdaptArgs a{};
    a.table = p.adapters;
    a.deltas = Adapters::deltas(*p.shape);
    a.input = p.input;
    a.x = x;
    a.x_part = x_part;
    a.in = in;
    for (int target : targets) a.change[a.products++] = target == RK_HEAD ? a.deltas - 1 : layer * kAdapterTargets + target;
    return a;
}

void add_outputs(const Pass &p, AdaptArgs a, Outputs kind, void *y, int64_t y_part, int64_t y_token, int out) {
    a.y = y;
    a.y_part = y_part;
    a.y_token = y_token;
    a.out = out;
    const bool tiled = !p.single && !a.row_of;
    a.tiles = tiled ? p.adapter_tiles : nullptr;
    const int tiles = tiled ? p.adapter_tile_count : a.row_of ? p.outputs : p.rows;
    const dim3 grid(tiles, (unsigned)ceil_div(ceil_div(out, 8), kAdaptThreads), a.products);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        auto kernel = tiled ? add_deltas<E, E, kAdapterTokens, false> : add_deltas<E, E, 1, false>;
        if (kind == Outputs::Squares && !tiled) kernel = add_deltas<E, E, 1, true>;
        if (kind == Outputs::Floats) kernel = tiled ? add_deltas<E, float, kAdapterTokens, false> : add_deltas<E, float, 1, false>;
        launch_early(kernel, grid, kAdaptThreads, 0, p.stream, a);
    });
    if (kind == Outputs::Squares && tiled) square_hidden(p);
}

Ready multiply_or_else(const Pass &p, Product product, const void *w, const void *x, void *y) {
    if (multiply_wgmma(p, product, w, x, y)) return Ready::Inputs;
    p.products->multiply(product, w, x, y, Products::padded(p.tokens), p.stream);
    return Ready::Nothing;
}

const void *reshape(const Pass &p, AdaptArgs a, void *to, int64_t to_part, int tokens) {
    if (p.adapted != Adapted::Reshaped) return a.x;
    a.y = to;
    a.y_part = to_part;
    if (!a.row_of && !p.single) a.row_of = p.row_of;
    const dim3 grid(tokens, (unsigned)ceil_div(a.in / 8, kAdaptThreads), a.products);
    with_element(*p.shape, [&](auto e) { launch_early(reshape_inputs<decltype(e)>, grid, kAdaptThreads, 0, p.stream, a); });
    return to;
}
