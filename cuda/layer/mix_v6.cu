// mix_v6.cu: RWKV-6's mixed inputs of the attention, for any number of tokens:
//
//   x_i = xn + (prev - xn) ⊙ (mix_i + U_i z_i) ,  xn = LN(x; ln1)       i = w, k, v, r, g
//
// z is E [T][5 M], U E [5][C][M], x and shifts fp32; mixed E [5][token_room][C]. prev is
// xn of the row's token before, or for its first token the state's shift; shift_mixes has left
// in norms what is needed for that.
//
// A warp has 16 channels, whose part of U it keeps in registers, and some tiles of 16 tokens.
// Products are by tensor cores: lane 4g+t has tokens g and g+8 of the channels 4t to 4t+3; the
// order of ranks in a sum is free.
#include "device/launch.h"
#include "device/mma.h"
#include "engine/forward.h"
#include "layer/element.h"

namespace {

constexpr int kMixes = 5, kWarps = 4, kTile = 16;

struct MixArgs {
    const void *up, *low; // U, z
    void *mixed;
    const float *x, *ln_weight, *ln_bias, *mix;
    const TokenNorm *norms;
    float *shift;      // of this layer: slot s at s*2*channels
    float *next_shift; // [rows][channels], or null if the pass is single
    int64_t stride; // elements between the parts of mixed
    int channels, tokens, tiles; // tiles of tokens of a block
};

struct Four {
    float v[4];
    Four() = default;
    __device__ explicit Four(const float *p) { *reinterpret_cast<float4 *>(v) = *reinterpret_cast<const float4 *>(p); }
};

// xn and prev of one token, four channels from c on.
struct Token {
    Four now, prev;

    __device__ void load(const MixArgs &a, int t, int c, const Four &weight, const Four &bias) {
        const TokenNorm norm = a.norms[t];
        now = normal(a, norm, t, c, weight, bias);
        float *state = a.shift + (int64_t)norm.slot * 2 * a.channels + c;
        prev = norm.slot >= 0 ? Four(state) : normal(a, a.norms[t - 1], t - 1, c, weight, bias);
        float *keep = norm.row < 0 ? nullptr : a.next_shift ? a.next_shift + (int64_t)norm.row * a.channels + c : state;
        if (keep) *reinterpret_cast<float4 *>(keep) = *reinterpret_cast<const float4 *>(now.v);
    }

  private:
    static __device__ Four normal(const MixArgs &a, const TokenNorm &norm, int t, int c, const Four &weight, const Four &bias) {
        Four x(a.x + (int64_t)t * a.channels + c);
#pragma unroll
        for (int e = 0; e < 4; e++) x.v[e] = (x.v[e] - norm.mean) * norm.factor * weight.v[e] + bias.v[e];
        return x;
    }
};

// grid (64 channels, tiles of tokens); kPacks is M / 32.
template <typename E, int kPacks> __global__ void __launch_bounds__(kWarps *kWarp) mix_inputs_of(MixArgs a) {
    constexpr int kRank = kPacks * 32;
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
    const int group = (blockIdx.x * kWarps + warp) * 16, c = group + 4 * t;
    const bool has = c < a.channels;
    // Column n of product p has channel group + 4 (n/2) + 2 p + n%2.
    uint4 up[kMixes][2][kPacks];
    Four weight, bias, mix[kMixes];
#pragma unroll
    for (int i = 0; i < kMixes; i++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
            const int channel = group + 4 * (g / 2) + 2 * p + g % 2;
            const uint4 *from = reinterpret_cast<const uint4 *>(static_cast<const E *>(a.up) + ((int64_t)i * a.channels + channel) * kRank) + t;
#pragma unroll
            for (int k = 0; k < kPacks; k++) up[i][p][k] = channel < a.channels ? from[4 * k] : uint4{0, 0, 0, 0};
        }
        if (has) mix[i] = Four(a.mix + i * a.channels + c);
    }
    if (has) weight = Four(a.ln_weight + c), bias = Four(a.ln_bias + c);
    let_next_start();
    wait_for_previous();
    const int begin = blockIdx.y * a.tiles * kTile, end = min(begin + a.tiles * kTile, a.tokens);
    for (int first = begin; first < end; first += kTile) {
        const int token[2] = {first + g, first + g + 8};
        Token x[2];
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (has && token[h] < a.tokens) x[h].load(a, token[h], c, weight, bias);
#pragma unroll
        for (int i = 0; i < kMixes; i++) {
            float sum[2][4] = {};
#pragma unroll
            for (int k = 0; k < kPacks; k++) {
                uint4 z[2];
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const uint4 *from = reinterpret_cast<const uint4 *>(static_cast<const E *>(a.low) + ((int64_t)token[h] * kMixes + i) * kRank) + t;
                    z[h] = token[h] < a.tokens ? from[4 * k] : uint4{0, 0, 0, 0};
                }
#pragma unroll
                for (int p = 0; p < 2; p++) {
                    const uint4 u = up[i][p][k];
                    multiply_tile<E>(sum[p], z[0].x, z[1].x, z[0].y, z[1].y, u.x, u.y);
                    multiply_tile<E>(sum[p], z[0].z, z[1].z, z[0].w, z[1].w, u.z, u.w);
                }
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                if (!has || token[h] >= a.tokens) continue;
                struct alignas(8) {
                    E v[4];
                } out;
#pragma unroll
                for (int e = 0; e < 4; e++)
                    out.v[e] = from_float<E>(x[h].now.v[e] + (x[h].prev.v[e] - x[h].now.v[e]) * (mix[i].v[e] + sum[e / 2][2 * h + e % 2]));
                *reinterpret_cast<uint2 *>(static_cast<E *>(a.mixed) + i * a.stride + (int64_t)token[h] * a.channels + c) = reinterpret_cast<const uint2 &>(out);
            }
        }
    }
}

template <typename E> auto kernel_for(int rank) { return rank == 32 ? mix_inputs_of<E, 1> : rank == 64 ? mix_inputs_of<E, 2> : mix_inputs_of<E, 4>; }

} // namespace

void shift_mixed(const Pass &p, int layer) {
    constexpr int kMostTiles = 4; // of a block: U is read less often, and there are still many blocks
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed, tiles = (int)ceil_div(p.tokens, kTile);
    MixArgs a{};
    a.up = l.up_g;
    a.low = p.act.low_wide;
    a.mixed = p.act.mixed;
    a.x = p.act.x;
    a.ln_weight = l.ln1_weight;
    a.ln_bias = l.ln1_bias;
    a.mix = l.mix;
    a.norms = p.act.norms;
    a.shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c;
    a.next_shift = p.single ? nullptr : p.act.next_shift;
    a.stride = p.act.token_room * c;
    a.channels = c;
    a.tokens = p.tokens;
    a.tiles = tiles >= 64 ? kMostTiles : 1;
    const dim3 grid((unsigned)ceil_div(c, kWarps * 16), (unsigned)ceil_div(tiles, a.tiles));
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        launch_early(kernel_for<E>(p.shape->rank_wide / kMixes), grid, kWarps * kWarp, 0, p.stream, a);
    });
    if (!p.single) commit_shift(p, a.shift);
}
