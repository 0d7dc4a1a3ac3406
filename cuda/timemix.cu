// timemix.cu: the recurrence with all that surrounds it, for one head of one
// row a block (RWKV-7; infer/cpu is the reference):
//
//   w = exp(-e^(-1/2) σ(w0 + d)) ;  a = σ(a0 + u_a) ;  κ = k ⊙ k_k ;  κ̂ = κ / max(‖κ‖, 1e-12)
//   k̃ = k ⊙ (1 + (a-1) ⊙ k_a) ;  v += (v_first - v) ⊙ σ(v0 + u_v)        (layer 0: v_first = v)
//   S ← S diag(w) - (S κ̂)(κ̂ ⊙ a)ᵀ + v k̃ᵀ ;  y = S r
//   y = (GN(y) + (Σ r k̃ r_k) v) ⊙ g
//
// S [N value rows][N key columns] is read once, kept in registers for all
// tokens of the row, and written once, by 16 bytes a thread. Tokens are taken by
// tiles: warps prepare the vectors of a tile's tokens in shared memory, the
// block goes through them in order, and warps finish their outputs.
#include "forward.h"

#include "vectors.h"

namespace {

constexpr float kHeadEps = 64e-5f;
constexpr float kDecay = 0.60653065971263342f; // e^(-1/2)
constexpr float kLeastNorm = 1e-12f;

struct MixArgs {
    const void *rkv, *up; // r, k, v; v, w, a, g
    void *v_first, *y;
    const float *w0, *a0, *v0, *k_k, *k_a, *r_k, *gn_weight, *gn_bias;
    void *state; // of this layer
    const RowInput *input;
    const int32_t *row_slot;
    int64_t stride; // elements between the parts of rkv and up
    int channels, spare;
    bool single;
};

// How N x N values of S lie in the block's registers: each value row belongs to
// kLanes lanes, each of which has kLoads packs of 16 bytes, kLanes packs apart.
template <typename S, int N> struct Grid {
    static constexpr int pack = Pack<S>::size;
    static constexpr int lanes = N / pack < 4 ? N / pack : 4;
    static constexpr int loads = N / (pack * lanes);
    static constexpr int threads = N * lanes < kWarp ? kWarp : N * lanes;
};

// The vectors of one token, in shared memory.
template <int N> struct Token {
    alignas(16) float r[N], w[N], k[N], kk[N], ka[N], v[N], y[N]; // kk = κ̂, ka = κ̂ ⊙ a
    float bonus;
};

// One warp; each lane has kEach channels.
template <typename E, int N> __device__ void prepare(const MixArgs &a, int head, int64_t t, Token<N> &out) {
    constexpr int kEach = N > kWarp ? N / kWarp : 1;
    const int lane = threadIdx.x % kWarp;
    const E *rkv = static_cast<const E *>(a.rkv), *up = static_cast<const E *>(a.up);
    float kappa[kEach], rate[kEach], square = 0, bonus = 0;
    const bool has = lane * kEach < N;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        if (!has) continue;
        const int i = lane * kEach + e, c = head * N + i;
        const int64_t at = t * a.channels + c;
        const float r = to_float(rkv[at]), k = to_float(rkv[at + a.stride]);
        float v = to_float(rkv[at + 2 * a.stride]);
        if (a.v0) {
            const float first = to_float(static_cast<const E *>(a.v_first)[at]);
            v += (first - v) * sigmoid(a.v0[c] + to_float(up[at]));
        } else {
            static_cast<E *>(a.v_first)[at] = rkv[at + 2 * a.stride];
        }
        rate[e] = sigmoid(a.a0[c] + to_float(up[at + 2 * a.stride]));
        kappa[e] = k * a.k_k[c];
        const float changed = k * (1.0f + (rate[e] - 1.0f) * a.k_a[c]);
        square += kappa[e] * kappa[e];
        bonus += r * changed * a.r_k[c];
        out.r[i] = r;
        out.k[i] = changed;
        out.v[i] = v;
        out.w[i] = __expf(-kDecay * sigmoid(a.w0[c] + to_float(up[at + a.stride])));
    }
    const float norm = 1.0f / fmaxf(sqrtf(warp_sum(square)), kLeastNorm);
    bonus = warp_sum(bonus);
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        if (!has) continue;
        const int i = lane * kEach + e;
        out.kk[i] = kappa[e] * norm;
        out.ka[i] = kappa[e] * norm * rate[e];
    }
    if (lane == 0) out.bonus = bonus;
}

// One warp.
template <typename E, int N> __device__ void finish(const MixArgs &a, int head, int64_t t, const Token<N> &token) {
    constexpr int kEach = N > kWarp ? N / kWarp : 1;
    const int lane = threadIdx.x % kWarp;
    const bool has = lane * kEach < N;
    const E *gate = static_cast<const E *>(a.up) + 3 * a.stride;
    float y[kEach], sum = 0, squares = 0;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        y[e] = has ? token.y[lane * kEach + e] : 0.0f;
        sum += y[e];
    }
    const float mean = warp_sum(sum) / N;
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        y[e] -= mean;
        squares += has ? y[e] * y[e] : 0.0f;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + kHeadEps);
#pragma unroll
    for (int e = 0; e < kEach; e++) {
        if (!has) continue;
        const int i = lane * kEach + e, c = head * N + i;
        const int64_t at = t * a.channels + c;
        const float out = y[e] * scale * a.gn_weight[c] + a.gn_bias[c] + token.bonus * token.v[i];
        static_cast<E *>(a.y)[at] = from_float<E>(out * to_float(gate[at]));
    }
}

// Adds up over the lanes that share a value row.
template <int kLanes> __device__ float row_sum(float v) {
#pragma unroll
    for (int o = kLanes / 2; o > 0; o >>= 1) v += SHFL_XOR(v, o);
    return v;
}

// A value of S as it is kept. fp16 states are rounded up or down at random, with
// a probability that makes the mean right: a decay near 1 would else be lost in
// rounding. The random bits are a hash of the value, so that the same state
// and inputs always give the same.
template <typename S> __device__ S keep(float v) { return from_float<S>(v); }

template <> __device__ half keep<half>(float v) {
    uint32_t bits = __float_as_uint(v);
    uint32_t h = bits * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    constexpr uint32_t kLost = (1u << 13) - 1; // bits that fp16 has not
    const bool normal = (bits & 0x7fffffffu) >= 0x38800000u; // fp16's least normal number
    if (normal) v = __uint_as_float((bits + (h >> 19 & kLost)) & ~kLost);
    return from_float_bounded<half>(v);
}

// grid (heads, rows)
template <typename E, typename S, int N, int kTile> __global__ void __launch_bounds__(Grid<S, N>::threads) mix_tokens(MixArgs a) {
    using G = Grid<S, N>;
    __shared__ Token<N> tile[kTile];
    const int head = blockIdx.x, row = blockIdx.y, slot = a.row_slot[row];
    if (slot == a.spare) return;
    const bool has = threadIdx.x < N * G::lanes; // others go along for the shuffles
    const int value = has ? threadIdx.x / G::lanes : 0, part = threadIdx.x % G::lanes;
    S *state = static_cast<S *>(a.state) + (((int64_t)slot * gridDim.x + head) * N + value) * N;
    float s[G::loads][G::pack];
#pragma unroll
    for (int m = 0; m < G::loads; m++) {
        const Pack<S> q = reinterpret_cast<const Pack<S> *>(state)[part + m * G::lanes];
#pragma unroll
        for (int e = 0; e < G::pack; e++) s[m][e] = to_float(q.v[e]);
    }
    const int64_t begin = a.single ? row : a.input[row].first;
    const int count = a.single ? 1 : a.input[row].count;
    const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
    for (int done = 0; done < count; done += kTile) {
        const int n = min(kTile, count - done);
        for (int j = warp; j < n; j += warps) prepare<E, N>(a, head, begin + done + j, tile[j]);
        __syncthreads();
        for (int j = 0; j < n; j++) {
            Token<N> &t = tile[j];
            float removed = 0;
#pragma unroll
            for (int m = 0; m < G::loads; m++)
#pragma unroll
                for (int e = 0; e < G::pack; e++) removed += s[m][e] * t.kk[(part + m * G::lanes) * G::pack + e];
            removed = row_sum<G::lanes>(removed);
            const float v = t.v[value];
            float y = 0;
#pragma unroll
            for (int m = 0; m < G::loads; m++)
#pragma unroll
                for (int e = 0; e < G::pack; e++) {
                    const int c = (part + m * G::lanes) * G::pack + e;
                    s[m][e] = s[m][e] * t.w[c] - removed * t.ka[c] + v * t.k[c];
                    y += s[m][e] * t.r[c];
                }
            y = row_sum<G::lanes>(y);
            if (has && part == 0) t.y[value] = y;
        }
        __syncthreads();
        for (int j = warp; j < n; j += warps) finish<E, N>(a, head, begin + done + j, tile[j]);
        if (done + kTile < count) __syncthreads();
    }
    if (!has) return;
#pragma unroll
    for (int m = 0; m < G::loads; m++) {
        Pack<S> q;
#pragma unroll
        for (int e = 0; e < G::pack; e++) q.v[e] = keep<S>(s[m][e]);
        reinterpret_cast<Pack<S> *>(state)[part + m * G::lanes] = q;
    }
}

template <typename E, typename S, int N> void launch(const Pass &p, const MixArgs &a) {
    const dim3 grid(p.shape->heads, p.rows);
    constexpr int threads = Grid<S, N>::threads;
    if (p.single)
        mix_tokens<E, S, N, 1><<<grid, threads, 0, p.stream>>>(a);
    else
        mix_tokens<E, S, N, 16><<<grid, threads, 0, p.stream>>>(a);
}

template <typename E, typename S> void launch(const Pass &p, const MixArgs &a) {
    switch (p.shape->head_size) {
    case 8: return launch<E, S, 8>(p, a);
    case 16: return launch<E, S, 16>(p, a);
    case 32: return launch<E, S, 32>(p, a);
    default: return launch<E, S, 64>(p, a);
    }
}

} // namespace

void mix(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const Shape &s = *p.shape;
    MixArgs a{};
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
    const int64_t values = (int64_t)s.embed * s.head_size * (p.slots.slots + 1);
    a.state = static_cast<uint8_t *>(p.slots.wkv) + layer * values * (p.slots.wkv_half ? sizeof(half) : sizeof(float));
    a.input = p.input;
    a.row_slot = p.row_slot;
    a.stride = p.act.token_room * s.embed;
    a.channels = s.embed;
    a.spare = p.slots.slots;
    a.single = p.single;
    with_element(s, [&](auto e) {
        using E = decltype(e);
        if (p.slots.wkv_half)
            launch<E, half>(p, a);
        else
            launch<E, float>(p, a);
    });
}
