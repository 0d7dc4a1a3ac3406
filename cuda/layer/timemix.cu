// timemix.cu: the time mix (timemix_head.h has the maths and layouts) for any head size
// and any number of tokens in a row. One block has one head of one row.
//
// S is read once, kept in registers for all tokens of the row, and written once, by 16
// bytes a thread. Tokens are taken by tiles: warps prepare the vectors of a tile's tokens
// in shared memory, the block applies them to S in order, and warps finish the outputs.
#include "engine/version.h"

#include "layer/timemix_head.h"

namespace timemix {

namespace {

// grid (heads, rows)
template <Rule rule, typename E, typename S, int N, int kTile> __global__ void __launch_bounds__(Grid<S, N>::threads) mix_tokens(Args a) {
    using G = Grid<S, N>;
    __shared__ Token<N> tile[kTile];
    const int head = blockIdx.x, row = blockIdx.y, slot = a.row_slot[row];
    if (slot == a.spare || (!a.single && a.input[row].chunked)) return;
    const bool has = threadIdx.x < N * G::lanes; // others go along for the shuffles
    const int value = has ? threadIdx.x / G::lanes : 0, part = threadIdx.x % G::lanes;
    S *state = static_cast<S *>(a.state) + (((int64_t)slot * gridDim.x + head) * N + value) * N;
    Part<S, N> s;
    s.load(state, part);
    const int64_t begin = a.single ? row : a.input[row].first;
    const int count = a.single ? 1 : a.input[row].count;
    const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
    const int i = threadIdx.x % kWarp * kEachOf<N>, channel = head * N + min(i, N - kEachOf<N>);
    for (int done = 0; done < count; done += kTile) {
        const int n = min(kTile, count - done);
        for (int j = warp; j < n; j += warps) {
            const int64_t at = (begin + done + j) * a.channels + channel;
            const Weights<rule, kEachOf<N>> w(a, channel);
            const Inputs<rule, kEachOf<N>> in(a, at, static_cast<const E *>(nullptr));
            prepare<rule, E, N>(a, at, i, w, in, tile[j]);
        }
        __syncthreads();
        for (int j = 0; j < n; j++) {
            const float y = s.template step<rule>(tile[j], value, part);
            if (has && part == 0) tile[j].y[value] = y;
        }
        __syncthreads();
        for (int j = warp; j < n; j += warps) {
            const int64_t at = (begin + done + j) * a.channels + channel;
            float weight[kEachOf<N>], bias[kEachOf<N>], gate[kEachOf<N>];
            load_each<kEachOf<N>>(weight, a.gn_weight + channel);
            load_each<kEachOf<N>>(bias, a.gn_bias + channel);
            if (rule == Rule::Delta || a.gate) load_each<kEachOf<N>>(gate, static_cast<const E *>(a.gate) + at);
            finish<rule, E, N>(a, at, i, weight, bias, gate, tile[j]);
        }
        if (done + kTile < count) __syncthreads();
    }
    if (has) s.store(state, part);
}

template <Rule rule, typename E, typename S, int N> void launch(const Pass &p, const Args &a) {
    const dim3 grid(p.shape->heads, p.rows);
    constexpr int threads = Grid<S, N>::threads;
    if (p.single)
        mix_tokens<rule, E, S, N, 1><<<grid, threads, 0, p.stream>>>(a);
    else
        mix_tokens<rule, E, S, N, N <= 64 ? 16 : 8><<<grid, threads, 0, p.stream>>>(a);
}

template <Rule rule, typename E, typename S> void launch(const Pass &p, const Args &a) {
    switch (p.shape->head_size) {
    case 8: return launch<rule, E, S, 8>(p, a);
    case 16: return launch<rule, E, S, 16>(p, a);
    case 32: return launch<rule, E, S, 32>(p, a);
    case 64: return launch<rule, E, S, 64>(p, a);
    default: return launch<rule, E, S, 128>(p, a);
    }
}

} // namespace

Args args(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    Args a{};
    a.rkv = p.act.rkv;
    a.up = p.act.up;
    a.v_first = p.act.v_first;
    a.y = p.act.y;
    a.w0 = l.w0;
    a.a0 = l.a0;
    a.v0 = l.v0;
    a.k_k = l.k_k;
    a.k_a = l.k_a;
    a.r_k = l.r_k;
    a.gn_weight = l.ln_x_weight;
    a.gn_bias = l.ln_x_bias;
    a.state = static_cast<uint8_t *>(p.slots.wkv) + layer * s.wkv_len() * (p.slots.slots + 1) * (p.slots.wkv_half ? sizeof(half) : sizeof(float));
    a.input = p.input;
    a.row_slot = p.row_slot;
    a.stride = p.act.token_room * s.embed;
    a.channels = s.embed;
    a.spare = p.slots.slots;
    a.single = p.single;
    return a;
}

// Runs the rows of the pass that are in the table of chunks.
void mix_chunked(const Pass &p, const Args &a, Rule rule) {
    ChunkMix m{};
    m.bf16 = p.shape->bf16;
    m.state_half = p.slots.wkv_half;
    m.decay = rule == Rule::Decay;
    m.heads = p.shape->heads;
    m.stride = a.stride;
    m.rkv = a.rkv;
    m.up = a.up;
    m.gate = a.gate;
    m.v_first = a.v_first;
    m.y = a.y;
    m.w0 = a.w0;
    m.a0 = a.a0;
    m.v0 = a.v0;
    m.k_k = a.k_k;
    m.k_a = a.k_a;
    m.r_k = a.r_k;
    m.gn_weight = a.gn_weight;
    m.gn_bias = a.gn_bias;
    m.state = a.state;
    m.row_slot = a.row_slot;
    m.spare = a.spare;
    m.tiles = p.chunk_tiles;
    m.rows = p.chunk_rows;
    m.tile_count = p.chunk_tile_count;
    m.row_count = p.chunk_row_count;
    m.records = p.chunk_records;
    mix_chunks(m, p.stream);
}

template <Rule rule> void run(const Pass &p, int layer) {
    Args a = args(p, layer);
    const Parts parts = p.shape->version->parts;
    if (rule == Rule::Delta)
        a.gate = part(p, p.act.up, 3, a.channels);
    else if (parts.rkv > 3)
        a.gate = part(p, p.act.rkv, 3, a.channels);
    if (parts.low == 0) a.up = nullptr;
    if (p.chunk_row_count > 0) mix_chunked(p, a, rule);
    if (p.chunk_row_count == p.rows) return;
    if (mix_many<rule>(p, a)) return;
    if (p.single && p.shape->head_size == 64) return mix_single<rule>(p, a);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        if (p.slots.wkv_half)
            launch<rule, E, half>(p, a);
        else
            launch<rule, E, float>(p, a);
    });
}

} // namespace timemix

void mix(const Pass &p, int layer) { timemix::run<timemix::Rule::Delta>(p, layer); }

void mix_decay(const Pass &p, int layer) { timemix::run<timemix::Rule::Decay>(p, layer); }
