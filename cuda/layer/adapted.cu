// adapted.cu: the stages of a step in which some rows have adapters (engine/adapters.h).
//
//   y = W x' + up (down x)     x' = x, gain ⊙ x, or x + D x by blocks
//
// x and x' are E [tokens][in], y is E or fp32 [tokens][out], ranks are fp32 in shared
// memory. The model's own products are those of wgmma.h or cuBLASLt; the gemv kernels
// cannot be used, since they keep the inputs that adapters read to themselves.
//
// One block computes both narrow products for some tokens of a row and a slice of the
// outputs, where possible while the model's own product runs. Changed inputs x' go to
// another buffer, because the narrow products read x.
#include "engine/forward.h"

#include <type_traits>

#include "device/copy.h"
#include "device/launch.h"
#include "layer/element.h"
#include "layer/wgmma.h"

namespace {

constexpr int kAdaptThreads = 256, kAdaptWarps = kAdaptThreads / kWarp;
constexpr int kRanksTogether = 16; // of a single token
constexpr int kRanksAtOnce = 2;    // of a tile, by a warp

// What the narrow products may read while the kernel before them still runs: that kernel
// lets them start only when all before it has ended.
enum class Ready : int32_t { Nothing, Inputs, InputsAndOutputs };

struct AdaptArgs {
    const AdapterDelta *table; // of the first product, for adapter 0
    int deltas;                // of an adapter
    const RowInput *input;
    const AdapterTile *tiles;  // null: one token for each row
    const int32_t *row_of;     // of tokens; null: token t is row t's
    Ready ready;
    const void *x;             // E [products][..][in]
    int64_t x_part;            // elements between the products
    int in;
    void *y;                   // [products][..][y_token]
    int64_t y_part, y_token;
    int out;

    __device__ const AdapterDelta *delta(int row, int product) const {
        const int adapter = input[row].adapter;
        return adapter == 0 ? nullptr : table + (int64_t)adapter * deltas + product;
    }

    __device__ int row(int token) const { return row_of ? row_of[token] : token; }

    __device__ AdapterTile tile(int i) const { return tiles ? tiles[i] : AdapterTile{row(i), i, 1}; }
};

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

// The arguments of one product of a layer, or of several in a row, without outputs.
AdaptArgs inputs(const Pass &p, int index, const void *x, int64_t x_part, int in) {
    AdaptArgs a{};
    a.table = p.adapters + index;
    a.deltas = Adapters::deltas(*p.shape);
    a.input = p.input;
    a.x = x;
    a.x_part = x_part;
    a.in = in;
    return a;
}

int index_of(int layer, int target) { return layer * kAdapterTargets + target; }

// y += up (down x), y of type E or float, for rows with adapters. With kSquare relu²
// follows, for all rows.
template <typename Y, bool kSquare = false> void add(const Pass &p, AdaptArgs a, void *y, int64_t y_part, int64_t y_token, int out, int products) {
    a.y = y;
    a.y_part = y_part;
    a.y_token = y_token;
    a.out = out;
    const bool tiled = !p.single && !a.row_of;
    a.tiles = tiled ? p.adapter_tiles : nullptr;
    const int tiles = tiled ? p.adapter_tile_count : a.row_of ? p.outputs : p.rows;
    const dim3 grid(tiles, (unsigned)ceil_div(ceil_div(out, 8), kAdaptThreads), products);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        using To = std::conditional_t<std::is_same_v<Y, float>, float, E>;
        launch_early(tiled ? add_deltas<E, To, kAdapterTokens, false> : add_deltas<E, To, 1, kSquare>, grid, kAdaptThreads, 0, p.stream, a);
    });
    if (kSquare && tiled) square_hidden(p);
}

// Runs the model's own product; returns what may be read while it runs.
Ready multiply(const Pass &p, Product product, const void *w, const void *x, void *y) {
    if (multiply_wgmma(p, product, w, x, y)) return Ready::Inputs;
    p.products->multiply(product, w, x, y, Products::padded(p.tokens), p.stream);
    return Ready::Nothing;
}

// Computes the inputs x' that adapters change, in `to`; returns x itself if none does.
const void *reshaped(const Pass &p, AdaptArgs a, void *to, int64_t part, int tokens, int products) {
    if (p.adapted != Adapted::Reshaped) return a.x;
    a.y = to;
    a.y_part = part;
    if (!a.row_of && !p.single) a.row_of = p.row_of;
    const dim3 grid(tokens, (unsigned)ceil_div(a.in / 8, kAdaptThreads), products);
    with_element(*p.shape, [&](auto e) { launch_early(reshape_inputs<decltype(e)>, grid, kAdaptThreads, 0, p.stream, a); });
    return to;
}

// Part `index` of mixed.
void *mixed(const Pass &p, int index) { return static_cast<uint16_t *>(p.act.mixed) + index * p.act.token_room * p.shape->embed; }

// The products of project in another order: those of w, a and g come first, and the
// changed inputs of r, k and v then take the place of theirs.
void project_reshaped(const Pass &p, int layer, const AdaptArgs &a) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    shift_attention(p, layer);
    p.products->multiply(Product::Down, l.down, mixed(p, 2), p.act.low, n, p.stream);
    p.products->multiply(Product::DownWide, l.down_g, mixed(p, 5), p.act.low_wide, n, p.stream);
    p.products->multiply(Product::Rkv, l.rkv, reshaped(p, a, mixed(p, 3), a.x_part, p.tokens, 3), p.act.rkv, n, p.stream);
    activate_low(p);
    project_up(p, layer);
}

} // namespace

void project_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    AdaptArgs a = inputs(p, index_of(layer, RK_RECEPTANCE), p.act.mixed, p.act.token_room * c, c);
    if (p.adapted == Adapted::Reshaped) {
        project_reshaped(p, layer, a);
    } else if (takes_wgmma(p)) {
        project_wgmma(p, layer);
        if (takes_wgmma_up(p)) a.ready = Ready::InputsAndOutputs; // only low to up is still running
    } else {
        project(p, layer);
    }
    add<void>(p, a, p.act.rkv, p.act.token_room * c, c, c, 3);
}

void output_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    AdaptArgs a = inputs(p, index_of(layer, RK_OUTPUT), p.act.y, 0, c);
    const void *y = reshaped(p, a, mixed(p, 0), 0, p.tokens, 1);
    a.ready = multiply(p, Product::Output, p.model->layers[layer].output, y, p.act.x);
    add<float>(p, a, p.act.x, 0, c, c, 1);
}

void key_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed, f = p.shape->ffn;
    shift_ffn(p, layer);
    AdaptArgs a = inputs(p, index_of(layer, RK_FFN_KEY), p.act.mixed, 0, c);
    const void *x = reshaped(p, a, mixed(p, 1), 0, p.tokens, 1);
    a.ready = multiply(p, Product::Key, p.model->layers[layer].key, x, p.act.hidden);
    add<void, true>(p, a, p.act.hidden, 0, f, f, 1);
}

void value_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    AdaptArgs a = inputs(p, index_of(layer, RK_FFN_VALUE), p.act.hidden, 0, p.shape->ffn);
    const bool room = p.shape->ffn <= 6 * c; // Adapters::check refuses changed inputs otherwise
    const void *x = room ? reshaped(p, a, p.act.mixed, 0, p.tokens, 1) : p.act.hidden;
    a.ready = multiply(p, Product::Value, p.model->layers[layer].value, x, p.act.x);
    add<float>(p, a, p.act.x, 0, c, c, 1);
}

void head_adapted(const Pass &p) {
    const int c = p.shape->embed;
    norm_last(p);
    AdaptArgs a = inputs(p, Adapters::deltas(*p.shape) - 1, p.act.last, 0, c);
    a.row_of = p.output_row;
    const void *x = reshaped(p, a, p.act.mixed, 0, p.outputs, 1);
    p.products->multiply(Product::Head, p.model->head, x, p.act.logits, Products::padded(p.outputs), p.stream);
    add<float>(p, a, p.act.logits, 0, p.act.logits_stride, p.shape->vocab, 1);
}
