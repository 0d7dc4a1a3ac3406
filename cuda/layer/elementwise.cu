// elementwise.cu: what stands between products: tanh, sigmoid, relu², and adding what a gate is
// applied to. Eight values for each thread.
#include "engine/forward.h"

#include "layer/element.h"

namespace {

// w = tanh(w) of n_w values, g = sigmoid(g) of n_g: multiples of 8.
template <typename E> __global__ void activate(E *w, int64_t n_w, E *g, int64_t n_g) {
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= n_w + n_g) return;
    E *p = i < n_w ? w + i : g + (i - n_w);
    float v[8];
    load8(v, p);
#pragma unroll
    for (int e = 0; e < 8; e++) v[e] = i < n_w ? tanhf(v[e]) : sigmoid(v[e]);
    store8(p, v);
}

template <typename E> __global__ void square(E *hidden, int64_t n) {
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= n) return;
    float v[8];
    load8(v, hidden + i);
    Pack<E> q;
#pragma unroll
    for (int e = 0; e < 8; e++) {
        float r = fmaxf(v[e], 0.0f);
        q.v[e] = from_float_bounded<E>(r * r);
    }
    *reinterpret_cast<Pack<E> *>(hidden + i) = q;
}

template <typename E> __global__ void add_times_sigmoid(float *x, const E *gate, const float *y, int64_t n) {
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= n) return;
    float old[8], g[8], v[8];
    load8(old, x + i);
    load8(g, gate + i);
    load8(v, y + i);
#pragma unroll
    for (int e = 0; e < 8; e++) old[e] += sigmoid(g[e]) * v[e];
    store8(x + i, old);
}

unsigned blocks_of_eight(int64_t values) { return (unsigned)ceil_div(values / 8, 256); }

} // namespace

void activate_low(const Pass &p) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int64_t n_w = (int64_t)p.tokens * p.shape->rank, n_g = (int64_t)p.tokens * p.shape->rank_wide;
        E *w = static_cast<E *>(p.act.low) + p.act.token_room * p.shape->rank;
        activate<E><<<blocks_of_eight(n_w + n_g), 256, 0, p.stream>>>(w, n_w, static_cast<E *>(p.act.low_wide), n_g);
    });
}

void activate_tanh(const Pass &p, void *values, int64_t n) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        activate<E><<<blocks_of_eight(n), 256, 0, p.stream>>>(static_cast<E *>(values), n, static_cast<E *>(nullptr), 0);
    });
}

void add_gated(const Pass &p, const void *gate, const float *y) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int64_t n = (int64_t)p.tokens * p.shape->embed;
        add_times_sigmoid<E><<<blocks_of_eight(n), 256, 0, p.stream>>>(p.act.x, static_cast<const E *>(gate), y, n);
    });
}

void square_hidden(const Pass &p) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int64_t n = (int64_t)p.tokens * p.shape->ffn;
        square<E><<<blocks_of_eight(n), 256, 0, p.stream>>>(static_cast<E *>(p.act.hidden), n);
    });
}
