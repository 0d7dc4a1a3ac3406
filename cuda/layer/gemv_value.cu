// gemv_value.cu: the FFN's value product for few tokens, most of whose hidden units are
// zero:
//
//   x += Σ_f hidden_f V_f     over the units f that are not zero in every token,
//                             times a gate, if there is one
//
// x is fp32 [T][C], hidden is E [T][F], V is E [F][C]. There are three ways
// (gemv_value.h):
//
//   add_live    one token and few channels: a block has some channels and all units, and
//               needs no second kernel
//   add_listed  up to four tokens, many channels: lists the nonzero units of a slice of F
//               and adds them by fma
//   add_tiles   else: groups of units on tensor cores
//
// The last two leave the sums of each slice apart, partial fp32 [slices][tokens][C], and
// a second kernel adds them up in order. The order of a sum depends on the shape, the
// number of tokens and the token itself alone: a unit that is nonzero only in other
// tokens adds exact zeros.
//
// The last kernel also writes the FFN's shift to the states.
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_value.h"

namespace {

constexpr int kSumVectors = 32, kSumParts = 8; // vectors of four channels of a block, parts of the slices

// x += the sum of partial; grid (channels, tokens).
template <typename E> __global__ void __launch_bounds__(kSumVectors *kSumParts) add_partials(ValueArgs<E> a, int slices) {
    __shared__ float4 sums[kSumParts][kSumVectors];
    const int vector = threadIdx.x % kSumVectors, part = threadIdx.x / kSumVectors;
    const int c = (blockIdx.x * kSumVectors + vector) * 4, at = blockIdx.y * a.channels + c, size = a.tokens * a.channels;
    const bool has = c < a.channels;
    let_next_start();
    wait_for_previous();
    float4 old = {0, 0, 0, 0}, sum = {0, 0, 0, 0};
    if (has && part == 0) old = load4(a.x + at);
    if (has && part == 1) store4(a.shift + (int64_t)a.row_slot[blockIdx.y] * 2 * a.channels + c, load4(a.next_shift + at));
#pragma unroll 4
    for (int s = part; has && s < slices; s += kSumParts) {
        const float4 v = load4(a.partial + s * size + at);
        sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w};
    }
    sums[part][vector] = sum;
    __syncthreads();
    if (!has || part > 0) return;
#pragma unroll
    for (int p = 1; p < kSumParts; p++) {
        const float4 v = sums[p][vector];
        sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w};
    }
    if (a.gate) {
        const Four<E> g = *reinterpret_cast<const Four<E> *>(a.gate + at);
        sum = {sum.x * sigmoid(to_float(g.v[0])), sum.y * sigmoid(to_float(g.v[1])), sum.z * sigmoid(to_float(g.v[2])), sum.w * sigmoid(to_float(g.v[3]))};
    }
    store4(a.x + at, float4{old.x + sum.x, old.y + sum.y, old.z + sum.z, old.w + sum.w});
}

// How many units a slice has, a multiple of `unit`: about `blocks` blocks then share the
// work, and the partial sums of kGemvTokens tokens fit into the memory of the logits. 0 if
// they do not fit.
int slice_units(const Pass &p, int blocks, int unit) {
    const int chunks = (int)ceil_div(p.shape->embed, kChunk), wanted = std::min(std::max(blocks / chunks, 8), 32);
    const int64_t tokens = std::min<int64_t>(kGemvTokens, p.act.row_room);
    const int64_t room = p.act.row_room * p.act.logits_stride / (tokens * p.shape->embed);
    return room == 0 ? 0 : (int)round_up(ceil_div(p.shape->ffn, std::min<int64_t>(wanted, room)), unit);
}

constexpr int kTileUnits = kTileParts * kGroup, kListUnits = 4 * kListWarps;

bool is_narrow(const Pass &p) { return p.shape->embed < kWide && p.shape->ffn <= kLiveWarps * kLivePacks * kWarp * 8; }

size_t tile_bytes(int tokens, int slice) {
    const size_t hidden = (size_t)tokens * (slice + 16) * sizeof(half) + slice / 4, sums = (kTileParts - 1) * 16 * kWarp * sizeof(float4);
    return std::max(hidden, sums);
}

template <typename E> void launch_live(ValueArgs<E> a, gpuStream stream) {
    a.slice = (int)round_up(ceil_div(a.ffn, kLiveWarps), 8);
    const size_t bytes = (size_t)a.slice * kLiveWarps * sizeof(uint32_t);
    const auto blocks = [&](int lanes) { return (unsigned)ceil_div(a.channels, 8 * lanes); };
    constexpr int kEnough = 96;
    if (blocks(4) >= kEnough)
        launch_early(add_live<E, 4>, blocks(4), kLiveWarps * kWarp, bytes, stream, a);
    else if (blocks(2) >= kEnough)
        launch_early(add_live<E, 2>, blocks(2), kLiveWarps * kWarp, bytes, stream, a);
    else
        launch_early(add_live<E, 1>, blocks(1), kLiveWarps * kWarp, bytes, stream, a);
}

template <typename E, int kTokens> void launch_listed(const ValueArgs<E> &a, dim3 grid, gpuStream stream) {
    launch_early(add_listed<E, kTokens>, grid, kListWarps * kWarp, (size_t)a.slice * (kTokens + 1) * sizeof(float), stream, a);
}

template <typename E> void launch_slices(ValueArgs<E> a, bool listed, gpuStream stream) {
    const int slices = (int)ceil_div(a.ffn, a.slice), c = a.channels;
    const dim3 grid((unsigned)ceil_div(c, kChunk), slices);
    if (!listed)
        launch_early(add_tiles<E>, grid, kTileWarps * kWarp, tile_bytes(a.tokens, a.slice), stream, a);
    else if (a.tokens == 1)
        launch_listed<E, 1>(a, grid, stream);
    else if (a.tokens == 2)
        launch_listed<E, 2>(a, grid, stream);
    else
        launch_listed<E, 4>(a, grid, stream);
    launch_early(add_partials<E>, dim3((unsigned)ceil_div(c, 4 * kSumVectors), a.tokens), kSumVectors * kSumParts, 0, stream, a, slices);
}

} // namespace

bool value_fits(const Pass &p) {
    const int slice = slice_units(p, 128, kTileUnits);
    return slice > 0 && tile_bytes(kGemvTokens, slice) <= (48 << 10);
}

namespace {

void add_value(const Pass &p, int layer, const void *gate) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const Layer &l = p.model->layers[layer];
        const int c = p.shape->embed;
        ValueArgs<E> a{};
        a.hidden = static_cast<const E *>(p.act.hidden);
        a.value = static_cast<const E *>(l.value);
        a.gate = static_cast<const E *>(gate);
        a.x = p.act.x;
        a.partial = p.act.logits;
        a.channels = c;
        a.ffn = p.shape->ffn;
        a.tokens = p.tokens;
        a.shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c + c;
        a.next_shift = p.act.next_shift;
        a.row_slot = p.row_slot;
        if (p.tokens == 1 && is_narrow(p)) return launch_live(a, p.stream);
        const bool listed = c >= kWide && p.tokens <= 4;
        a.slice = listed ? slice_units(p, 256, kListUnits) : slice_units(p, 128, kTileUnits);
        launch_slices(a, listed, p.stream);
    });
}

} // namespace

void value_sparse(const Pass &p, int layer) { add_value(p, layer, nullptr); }

void value_gated_gemv(const Pass &p, int layer) { add_value(p, layer, p.act.rkv); }
