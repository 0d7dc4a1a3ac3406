// small_bench.cu: checks the stages of small.h against float64 and times them.
//
//   small_bench check             all shapes and numbers of tokens; exit status 1 on a failure
//   small_bench time [shape...]   whole steps and single stages by graphs over all layers
//   small_bench once shape tokens a few launches, for a profiler
//   small_bench launch            what a kernel costs in a chain, and a barrier in one kernel
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "../forward.h"
#include "../handles.h"
#include "../small.h"
#include "../small_product.h"
#include "../vectors.h"

namespace {

struct NamedShape {
    const char *name;
    rk_shape shape;
};

const NamedShape kShapes[] = {
    {"0.1b", {12, 768, 12, 64, 3072, 65536, 64, 64, 32, 128}},
    {"1.5b", {24, 2048, 32, 64, 8192, 65536, 96, 96, 64, 256}},
    {"2.9b", {32, 2560, 40, 64, 10240, 65536, 96, 96, 64, 320}},
    {"7.2b", {32, 4096, 64, 64, 16384, 65536, 128, 128, 96, 480}},
    {"odd", {3, 192, 3, 64, 720, 1008, 24, 16, 8, 40}},
};

// ---- random contents --------------------------------------------------------

__device__ float normal_of(uint64_t i, uint64_t seed) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    const float sum = (float)(z & 0xffff) + (float)(z >> 16 & 0xffff) + (float)(z >> 32 & 0xffff) + (float)(z >> 48);
    return (sum / 65536.0f - 2.0f) * 1.7320508f;
}

template <typename E> __global__ void fill(E *p, int64_t n, float mean, float deviation, uint64_t seed) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        p[i] = from_float<E>(mean + deviation * normal_of(i, seed));
}

// Non-negative, and zero but for about a share of `live`.
__global__ void fill_live(half *p, int64_t n, float live, uint64_t seed) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const float choice = normal_of(i, seed), value = normal_of(i, seed + 7919);
        p[i] = from_float<half>(fabsf(choice) < live * 1.2533141f || live >= 1 ? value * value : 0.0f); // near 0 the density is 1/sqrt(2 pi)
    }
}

// ---- a model and buffers ------------------------------------------------------

constexpr int kSlots = 11, kTokenRoom = 16;

struct Bench {
    Shape shape;
    Arena arena;
    int64_t bytes = 0;
    std::unique_ptr<Model> model;
    Stream stream;
    Pass pass{};
    float *x_start;
    uint64_t seed = 1;

    Bench(const rk_shape &s, int weights) : shape(s, weights), model(new Model(shape, arena)) {
        check(gpuDeviceSynchronize(), "zeroing");
        with_element(shape, [&](auto e) { this->fill_model<decltype(e)>(); });
        const int64_t c = shape.embed, f = shape.ffn, t = kTokenRoom;
        Pass &p = pass;
        p.shape = &shape;
        p.model = model.get();
        p.slots.slots = kSlots;
        p.slots.shifts = take<float>(shape.layers * (kSlots + 1) * 2 * c);
        p.slots.wkv = take<float>(shape.layers * (kSlots + 1) * c * shape.head_size);
        Activations &a = p.act;
        a.token_room = t;
        a.row_room = kSmallTokens;
        a.x = take<float>(t * c);
        x_start = take<float>(t * c);
        a.mixed = take<uint16_t>(6 * t * c);
        a.rkv = take<uint16_t>(3 * t * c);
        a.low = take<uint16_t>(3 * t * shape.rank);
        a.low_g = take<uint16_t>(t * shape.rank_gp);
        a.up = take<uint16_t>(4 * t * c);
        a.v_first = take<uint16_t>(t * c);
        a.y = take<uint16_t>(t * c);
        a.hidden = take<uint16_t>(t * f);
        a.last = take<uint16_t>(t * c);
        a.next_shift = take<float>(kSmallTokens * c);
        a.logits_stride = shape.vocab;
        a.logits = take<float>(a.row_room * a.logits_stride);
        p.single = true;
        p.row_slot = take<int32_t>(kSmallTokens);
        int32_t slot[kSmallTokens];
        for (int i = 0; i < kSmallTokens; i++) slot[i] = (i * 4 + 2) % kSlots;
        check(gpuMemcpyAsync(p.row_slot, slot, sizeof slot, gpuToDevice, stream), "slots");
        p.stream = stream;
        set_tokens(1);
        normal(p.slots.shifts, shape.layers * (kSlots + 1) * 2 * c, 0.2f, 1);
        normal(static_cast<float *>(p.slots.wkv), shape.layers * (kSlots + 1) * c * shape.head_size, 0, 0.1f);
        with_element(shape, [&](auto e) { this->inputs<decltype(e)>(); });
        stream.wait();
    }

    // Zeroed by the default stream, so that it must have ended.
    template <typename T> T *take(int64_t n) {
        T *p = arena.device<T>(n, &bytes, "bench");
        check(gpuDeviceSynchronize(), "zeroing");
        return p;
    }

    void set_tokens(int n) { pass.tokens = pass.rows = pass.outputs = n; }

    template <typename E> void normal(E *p, int64_t n, float mean, float deviation) {
        fill<E><<<1024, 256, 0, stream>>>(p, n, mean, deviation, seed++);
    }

    template <typename E> void matrix(const void *p, int64_t n, float mean, float deviation) {
        normal(static_cast<E *>(const_cast<void *>(p)), n, mean, deviation);
    }

    void vector(const float *p, int64_t n, float mean, float deviation) { normal(const_cast<float *>(p), n, mean, deviation); }

    // The FFN's bias and key are such that nine of ten hidden units are zero.
    template <typename E> void fill_model() {
        const int64_t c = shape.embed, f = shape.ffn;
        const float scale = 1 / std::sqrt((float)c);
        constexpr float kBias = 0.2f, kQuantile = 0.98f; // of inputs whose deviation is 0.77
        for (Layer &l : model->layers) {
            matrix<E>(l.rkv, 3 * c * c, 0, scale);
            matrix<E>(l.down, 3 * shape.rank * c, 0, scale);
            matrix<E>(l.down_g, shape.rank_gp * c, 0, scale);
            matrix<E>(l.up, 3 * c * shape.rank, 0, 1 / std::sqrt((float)shape.rank));
            matrix<E>(l.up_g, c * shape.rank_gp, 0, 1 / std::sqrt((float)shape.rank_gp));
            matrix<E>(l.output, c * c, 0, scale);
            matrix<E>(l.key, f * c, -kQuantile * 0.5f / (c * kBias), 0.5f * scale);
            matrix<E>(l.value, f * c, 0, 1 / std::sqrt((float)f));
            vector(l.ln1_weight, c, 1, 0.1f);
            vector(l.ln1_bias, c, 0, 0.1f);
            vector(l.ln2_weight, c, 1, 0.02f);
            vector(l.ln2_bias, c, kBias, 0.02f);
            vector(l.mix, 6 * c, 0.5f, 0.2f);
            vector(l.mix_ffn, c, 0.5f, 0.2f);
            for (const float *v : {l.w0, l.a0, l.v0, l.k_k, l.k_a, l.r_k, l.ln_x_weight, l.ln_x_bias})
                if (v) vector(v, c, 0.5f, 0.3f);
        }
        matrix<E>(model->head, (int64_t)shape.vocab * c, 0, scale);
        vector(model->ln_out_weight, c, 1, 0.1f);
        vector(model->ln_out_bias, c, 0, 0.1f);
    }

    template <typename E> void inputs() {
        const int64_t c = shape.embed;
        normal(x_start, kTokenRoom * c, 0.3f, 2);
        normal(static_cast<E *>(pass.act.y), kTokenRoom * c, 0, 1);
        normal(static_cast<E *>(pass.act.hidden), kTokenRoom * shape.ffn, 0, 1);
        restore();
    }

    void restore() {
        check(gpuMemcpyAsync(pass.act.x, x_start, kTokenRoom * shape.embed * sizeof(float), gpuOnDevice, stream), "restoring x");
    }

    float *shift(int layer, int slot, int which) {
        return pass.slots.shifts + (((int64_t)layer * (kSlots + 1) + slot) * 2 + which) * shape.embed;
    }
};

template <typename T> std::vector<T> fetch(Bench &b, const void *p, int64_t n) {
    std::vector<T> v(n);
    check(gpuMemcpyAsync(v.data(), p, n * sizeof(T), gpuToHost, b.stream), "fetching");
    b.stream.wait();
    return v;
}

std::vector<double> fetch_elements(Bench &b, const void *p, int64_t n) {
    std::vector<uint16_t> bits = fetch<uint16_t>(b, p, n);
    std::vector<double> v(n);
    for (int64_t i = 0; i < n; i++) {
        if (b.shape.bf16) {
            v[i] = to_float(bf16{bits[i]});
        } else {
            half h;
            memcpy(&h, &bits[i], 2);
            v[i] = to_float(h);
        }
    }
    return v;
}

// ---- float64 reference ----------------------------------------------------------

__global__ void ref_norm(double *out, const double *x, const float *weight, const float *bias, int c) {
    const double *from = x + (int64_t)blockIdx.x * c;
    double mean = 0, variance = 0;
    for (int i = 0; i < c; i++) mean += from[i];
    mean /= c;
    for (int i = 0; i < c; i++) variance += (from[i] - mean) * (from[i] - mean);
    const double scale = 1 / sqrt(variance / c + 1e-5);
    for (int i = threadIdx.x; i < c; i += blockDim.x) out[(int64_t)blockIdx.x * c + i] = (from[i] - mean) * scale * weight[i] + bias[i];
}

__global__ void ref_mix(double *out, const double *xn, const float *shift, const int32_t *row_slot, const float *mix, int c) {
    const int64_t at = (int64_t)blockIdx.x * c;
    const float *prev = shift + (int64_t)row_slot[blockIdx.x] * 2 * c;
    for (int i = threadIdx.x; i < c; i += blockDim.x) out[at + i] = xn[at + i] + (prev[i] - xn[at + i]) * (double)mix[i];
}

// out [tokens][rows] = x [tokens][inputs] Wᵀ; kind: 1 tanh, 2 sigmoid, 3 relu².
template <typename E>
__global__ void ref_multiply(double *out, const E *w, const double *x, int rows, int inputs, int tokens, int kind) {
    const int64_t i = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / kWarp;
    if (i >= (int64_t)rows * tokens) return;
    const int row = i / tokens, token = i % tokens, lane = threadIdx.x % kWarp;
    double sum = 0;
    for (int k = lane; k < inputs; k += kWarp) sum += (double)to_float(w[(int64_t)row * inputs + k]) * x[(int64_t)token * inputs + k];
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (kind == 1) sum = tanh(sum);
    if (kind == 2) sum = 1 / (1 + exp(-sum));
    if (kind == 3) sum = sum > 0 ? sum * sum : 0;
    if (lane == 0) out[(int64_t)token * rows + row] = sum;
}

template <typename E> __global__ void ref_value(double *x, const E *value, const double *hidden, int c, int f, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c * tokens) return;
    double sum = 0;
    for (int u = 0; u < f; u++) sum += hidden[(int64_t)(i / c) * f + u] * to_float(value[(int64_t)u * c + i % c]);
    x[i] += sum;
}

template <typename S> __global__ void widen(double *out, const S *in, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = to_float(in[i]);
}

__global__ void add(double *x, const double *y, int64_t n) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}

struct Reference {
    std::vector<double> rkv, up, hidden, x, logits, att_shift, ffn_shift;
};

// What project, output, key, value and head make of the buffers as they are.
template <typename E> Reference refer(Bench &b, int layer) {
    const Shape &s = b.shape;
    const Layer &l = b.model->layers[layer];
    const int c = s.embed, f = s.ffn, tokens = b.pass.tokens;
    Arena arena;
    int64_t bytes = 0;
    auto take = [&](int64_t n) { return arena.device<double>(n, &bytes, "reference"); };
    double *x = take(tokens * c), *xn = take(tokens * c), *mixed = take(6 * tokens * c), *rkv = take(3 * tokens * c);
    double *low = take(tokens * std::max(s.rank, s.rank_gp)), *up = take(4 * tokens * c), *y = take(tokens * c), *add_to = take(tokens * c);
    double *hidden = take(tokens * f), *logits = take((int64_t)tokens * s.vocab);
    check(gpuDeviceSynchronize(), "zeroing");
    const float *shift = b.shift(layer, 0, 0);
    auto multiply = [&](double *out, const void *w, int64_t offset, const double *in, int rows, int inputs, int kind) {
        const int64_t warps = (int64_t)rows * tokens;
        ref_multiply<E><<<(unsigned)ceil_div(warps, 8), 256, 0, b.stream>>>(out, static_cast<const E *>(w) + offset, in, rows, inputs, tokens, kind);
    };
    widen<<<ceil_div(tokens * c, 256), 256, 0, b.stream>>>(x, b.pass.act.x, tokens * c);
    widen<<<ceil_div(tokens * c, 256), 256, 0, b.stream>>>(y, static_cast<const E *>(b.pass.act.y), tokens * c);
    ref_norm<<<tokens, 256, 0, b.stream>>>(xn, x, l.ln1_weight, l.ln1_bias, c);
    Reference r;
    r.att_shift = fetch<double>(b, xn, tokens * c);
    for (int m = 0; m < 6; m++) ref_mix<<<tokens, 256, 0, b.stream>>>(mixed + m * tokens * c, xn, shift, b.pass.row_slot, l.mix + m * c, c);
    for (int m = 0; m < 3; m++) multiply(rkv + m * tokens * c, l.rkv, (int64_t)m * c * c, mixed + m * tokens * c, c, c, 0);
    for (int m = 0; m < 3; m++) {
        multiply(low, l.down, (int64_t)m * s.rank * c, mixed + (m + 2) * tokens * c, s.rank, c, m == 1);
        multiply(up + m * tokens * c, l.up, (int64_t)m * c * s.rank, low, c, s.rank, 0);
    }
    multiply(low, l.down_g, 0, mixed + 5 * tokens * c, s.rank_gp, c, 2);
    multiply(up + 3 * tokens * c, l.up_g, 0, low, c, s.rank_gp, 0);
    multiply(add_to, l.output, 0, y, c, c, 0);
    add<<<ceil_div(tokens * c, 256), 256, 0, b.stream>>>(x, add_to, tokens * c);
    ref_norm<<<tokens, 256, 0, b.stream>>>(xn, x, l.ln2_weight, l.ln2_bias, c);
    r.ffn_shift = fetch<double>(b, xn, tokens * c);
    ref_mix<<<tokens, 256, 0, b.stream>>>(mixed, xn, shift + c, b.pass.row_slot, l.mix_ffn, c);
    multiply(hidden, l.key, 0, mixed, f, c, 3);
    ref_value<E><<<ceil_div(tokens * c, 256), 256, 0, b.stream>>>(x, static_cast<const E *>(l.value), hidden, c, f, tokens);
    ref_norm<<<tokens, 256, 0, b.stream>>>(xn, x, b.model->ln_out_weight, b.model->ln_out_bias, c);
    multiply(logits, b.model->head, 0, xn, s.vocab, c, 0);
    r.rkv = fetch<double>(b, rkv, 3 * tokens * c);
    r.up = fetch<double>(b, up, 4 * tokens * c);
    r.hidden = fetch<double>(b, hidden, tokens * f);
    r.x = fetch<double>(b, x, tokens * c);
    r.logits = fetch<double>(b, logits, (int64_t)tokens * s.vocab);
    check(gpuLastError(), "the reference");
    return r;
}

// ‖a - b‖ / ‖b‖; NaN counts as infinite.
double error_of(const std::vector<double> &a, const std::vector<double> &b) {
    double difference = 0, norm = 0;
    for (size_t i = 0; i < b.size(); i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    const double e = std::sqrt(difference / norm);
    return e == e ? e : INFINITY;
}

// Parts of [n][room][width] as [n][tokens][width].
std::vector<double> parts_of(Bench &b, const void *p, int n, int width) {
    std::vector<double> out;
    for (int i = 0; i < n; i++) {
        std::vector<double> v = fetch_elements(b, static_cast<const uint16_t *>(p) + (int64_t)i * kTokenRoom * width, (int64_t)b.pass.tokens * width);
        out.insert(out.end(), v.begin(), v.end());
    }
    return out;
}

struct Outputs {
    std::vector<double> rkv, up, hidden, x, logits, att_shift, ffn_shift;
};

void stages(Bench &b, int layer) {
    project_small(b.pass, layer);
    output_small(b.pass, layer);
    key_small(b.pass, layer);
    value_sparse(b.pass, layer);
    head_small(b.pass);
}

Outputs outputs(Bench &b, int layer) {
    const Shape &s = b.shape;
    const int tokens = b.pass.tokens;
    const Activations &a = b.pass.act;
    for (auto [p, n] : {std::pair<void *, int64_t>{a.rkv, 3 * kTokenRoom * s.embed}, {a.up, 4 * kTokenRoom * s.embed}, {a.low, 3 * kTokenRoom * s.rank},
                        {a.low_g, kTokenRoom * s.rank_gp}, {a.hidden, kTokenRoom * s.ffn}, {a.logits, 2 * a.row_room * s.vocab}, {a.mixed, 6 * kTokenRoom * s.embed}})
        check(gpuMemsetAsync(p, 0xff, n * 2, b.stream), "poisoning");
    stages(b, layer);
    check(gpuLastError(), "the stages");
    Outputs o;
    o.rkv = parts_of(b, a.rkv, 3, s.embed);
    o.up = parts_of(b, a.up, 4, s.embed);
    o.hidden = parts_of(b, a.hidden, 1, s.ffn);
    auto floats = [&](const float *p, int64_t n) {
        std::vector<float> v = fetch<float>(b, p, n);
        return std::vector<double>(v.begin(), v.end());
    };
    o.x = floats(a.x, tokens * s.embed);
    o.logits = floats(a.logits, (int64_t)tokens * s.vocab);
    std::vector<int32_t> slot = fetch<int32_t>(b, b.pass.row_slot, tokens);
    for (int t = 0; t < tokens; t++)
        for (int which = 0; which < 2; which++) {
            std::vector<double> v = floats(b.shift(layer, slot[t], which), s.embed), &to = which ? o.ffn_shift : o.att_shift;
            to.insert(to.end(), v.begin(), v.end());
        }
    return o;
}

// Token `from` of one against token `to` of other: how many values differ.
int64_t differing(const Outputs &one, int from, int tokens, const Outputs &other, int to, int other_tokens) {
    int64_t n = 0;
    auto compare = [&](const std::vector<double> &a, const std::vector<double> &b, int parts) {
        const int64_t width = a.size() / parts / tokens;
        for (int p = 0; p < parts; p++)
            for (int64_t i = 0; i < width; i++)
                n += a[(p * tokens + from) * width + i] != b[(p * other_tokens + to) * width + i];
    };
    compare(one.rkv, other.rkv, 3);
    compare(one.up, other.up, 4);
    compare(one.hidden, other.hidden, 1);
    compare(one.x, other.x, 1);
    compare(one.logits, other.logits, 1);
    compare(one.att_shift, other.att_shift, 1);
    compare(one.ffn_shift, other.ffn_shift, 1);
    return n;
}

template <typename E> bool check_shape(const NamedShape &named, int weights, int tokens) {
    rk_shape s = named.shape;
    s.layers = 2;
    Bench b(s, weights);
    b.set_tokens(tokens);
    const int64_t c = s.embed, shifts = 2 * (kSlots + 1) * 2 * c;
    float *kept = b.take<float>(shifts);
    check(gpuMemcpyAsync(kept, b.pass.slots.shifts, shifts * 4, gpuOnDevice, b.stream), "keeping shifts");
    auto again = [&] {
        b.restore();
        check(gpuMemcpyAsync(b.pass.slots.shifts, kept, shifts * 4, gpuOnDevice, b.stream), "restoring shifts");
        return outputs(b, 1);
    };
    const Reference r = refer<E>(b, 1);
    const Outputs o = again();
    std::vector<double> gain = o.x, wanted = r.x;
    std::vector<float> start = fetch<float>(b, b.x_start, tokens * c);
    for (size_t i = 0; i < gain.size(); i++) gain[i] -= start[i], wanted[i] -= start[i];
    const double errors[] = {error_of(o.rkv, r.rkv), error_of(o.up, r.up), error_of(o.hidden, r.hidden), error_of(gain, wanted),
                             error_of(o.logits, r.logits), error_of(o.att_shift, r.att_shift), error_of(o.ffn_shift, r.ffn_shift)};
    const Outputs o2 = again();
    int64_t unequal = 0;
    for (int t = 0; t < tokens; t++) unequal += differing(o, t, tokens, o2, t, tokens);

    // The last token among others, and alone.
    const int last = tokens - 1;
    int64_t among = 0, alone = 0;
    if (tokens > 1) {
        b.normal(b.x_start, last * c, -0.2f, 3);
        b.normal(static_cast<E *>(b.pass.act.y), last * c, 0.5f, 1);
        among = differing(o, last, tokens, again(), last, tokens);
        check(gpuMemcpyAsync(b.x_start, b.x_start + last * c, c * 4, gpuOnDevice, b.stream), "moving x");
        check(gpuMemcpyAsync(b.pass.act.y, static_cast<E *>(b.pass.act.y) + last * c, c * 2, gpuOnDevice, b.stream), "moving y");
        check(gpuMemcpyAsync(b.pass.row_slot, b.pass.row_slot + last, 4, gpuOnDevice, b.stream), "moving the slot");
        b.set_tokens(1);
        alone = differing(o, last, tokens, again(), 0, 1);
    }
    double live = 0;
    for (double h : r.hidden) live += h != 0;
    const double most = weights == RK_F16 ? 2e-3 : 1.5e-2;
    bool ok = unequal == 0 && among == 0;
    for (double e : errors) ok = ok && e < most;
    printf("%s %-5s %s T%d  rkv %.1e up %.1e hidden %.1e x %.1e logits %.1e shifts %.0e %.0e  live %.2f  rerun %lld among %lld alone %lld\n",
           ok ? "ok  " : "FAIL", named.name, weights == RK_F16 ? "fp16" : "bf16", tokens, errors[0], errors[1], errors[2], errors[3],
           errors[4], errors[5], errors[6], live / r.hidden.size(), (long long)unequal, (long long)among, (long long)alone);
    return ok;
}

bool check_all() {
    bool ok = true;
    for (const NamedShape &s : kShapes) {
        const bool full = !strcmp(s.name, "0.1b") || !strcmp(s.name, "odd");
        for (int tokens : full ? std::vector<int>{1, 2, 3, 4, 5, 8} : std::vector<int>{1, 8})
            ok = check_shape<half>(s, RK_F16, tokens) && ok;
        for (int tokens : {1, 3, 8}) ok = check_shape<bf16>(s, RK_BF16, tokens) && ok;
    }
    return ok;
}

// ---- timing --------------------------------------------------------------------

// Median and least microseconds of a graph.
struct Times {
    double median, least;
};

Times time_graph(Bench &b, const std::function<void()> &work, int runs) {
    gpuGraph graph;
    gpuGraphExec exec;
    check(gpuStreamBeginCapture(b.stream), "capturing");
    work();
    check(gpuStreamEndCapture(b.stream, &graph), "capturing");
    check(gpuGraphInstantiate(&exec, graph), "making a graph");
    Event begin(true), end(true);
    std::vector<double> us;
    for (int i = 0; i < runs + 3; i++) {
        begin.record(b.stream);
        check(gpuGraphLaunch(exec, b.stream), "running a graph");
        end.record(b.stream);
        end.wait();
        float ms = 0;
        check(gpuEventElapsed(&ms, begin, end), "timing");
        if (i >= 3) us.push_back(ms * 1000);
    }
    check(gpuGraphExecDestroy(exec), "freeing a graph");
    check(gpuGraphDestroy(graph), "freeing a graph");
    std::sort(us.begin(), us.end());
    return {us[us.size() / 2], us[0]};
}

// In place of the mixing stage: the same reads and writes, next to no arithmetic.
// The state is read early: the kernel before starts it only when all before the
// layer has ended.
template <typename E>
__global__ void stand_in(const E *rkv, const E *up, E *y, float *state, const int32_t *row_slot, int64_t part, int c) {
    const int head = blockIdx.x % (c / 64), token = blockIdx.x / (c / 64), at = token * c + head * 64 + threadIdx.x % 64;
    float4 *s = reinterpret_cast<float4 *>(state + ((int64_t)row_slot[token] * (c / 64) + head) * 4096);
    float4 v[4];
    let_next_start();
    for (int i = 0; i < 4; i++) v[i] = s[threadIdx.x + i * 256];
    wait_for_previous();
    float sum = 0;
    for (int i = 0; i < 3; i++) sum += to_float(rkv[i * part + at]);
    for (int i = 0; i < 4; i++) sum += to_float(up[i * part + at]);
    for (int i = 0; i < 4; i++) {
        sum += 1e-3f * v[i].x;
        v[i].y *= 0.99f;
        s[threadIdx.x + i * 256] = v[i];
    }
    if (threadIdx.x < 64) y[at] = from_float<E>(0.2f * sum);
}

void stand_in_mix(Bench &b, int layer) {
    const Shape &s = b.shape;
    const Activations &a = b.pass.act;
    launch_early(stand_in<half>, b.pass.tokens * s.embed / 64, 256, 0, b.stream, static_cast<const half *>(a.rkv), static_cast<const half *>(a.up),
                 static_cast<half *>(a.y), static_cast<float *>(b.pass.slots.wkv) + (int64_t)layer * (kSlots + 1) * s.embed * 64, b.pass.row_slot,
                 a.token_room * s.embed, s.embed);
}

void time_shape(const NamedShape &named) {
    rk_shape s = named.shape;
    const int real = s.layers;
    if (s.embed < 1024) s.layers = 48; // so that no stage's weights stay in the L2 cache
    Bench b(s, RK_F16);
    const int layers = s.layers;
    const Shape &shape = b.shape;
    const double c = s.embed, f = s.ffn;
    const double stage_bytes[4] = {2 * c * (3 * c + 3 * shape.rank + shape.rank_gp) * 1.0 + 2 * c * (3 * shape.rank + shape.rank_gp), 2 * c * c, 2 * c * f, 2 * c * f};
    const double step_bytes = real * (stage_bytes[0] + stage_bytes[1] + stage_bytes[2] + stage_bytes[3]) + 2.0 * s.vocab * c;
    printf("\n%s: %.2f GB dense, %.0f us at 4.3 TB/s; with a tenth of the values %.0f us\n", named.name, step_bytes / 1e9, step_bytes / 4.3e6,
           (step_bytes - 0.9 * real * stage_bytes[3]) / 4.3e6);
    printf("T   step us   tok/s  with mix() | what the step takes less without: project    mix output    key  value   head | alone: project output    key   head, "
           "value at a tenth of live units, at all\n");
    const int all = 0x3f;
    for (int tokens : {1, 2, 3, 4, 5, 8}) {
        b.set_tokens(tokens);
        auto step = [&](int stages, bool core) {
            return time_graph(b, [&] {
                b.restore();
                for (int l = 0; l < real; l++) {
                    if (stages & 1) project_small(b.pass, l);
                    if (stages & 2) {
                        if (core)
                            mix(b.pass, l);
                        else
                            stand_in_mix(b, l);
                    }
                    if (stages & 4) output_small(b.pass, l);
                    if (stages & 8) key_small(b.pass, l);
                    if (stages & 16) value_sparse(b.pass, l);
                }
                if (stages & 32) head_small(b.pass);
            }, 25).median;
        };
        auto alone = [&](void (*stage)(const Pass &, int)) {
            return time_graph(b, [&] { for (int l = 0; l < layers; l++) stage(b.pass, l); }, 15).median / layers;
        };
        const double whole = step(all, false);
        printf("%d  %8.1f %7.0f  %8.1f |", tokens, whole, tokens * 1e6 / whole, step(all, true));
        for (int stage = 0; stage < 6; stage++) printf(" %6.2f", (whole - step(all & ~(1 << stage), false)) / (stage < 5 ? real : 1));
        const double project = alone(project_small), output = alone(output_small), key = alone(key_small);
        const double head = time_graph(b, [&] { for (int i = 0; i < 4; i++) head_small(b.pass); }, 15).median / 4;
        printf(" | %6.2f (%.2f TB/s) %6.2f (%.2f) %6.2f (%.2f) %6.1f (%.2f),", project, stage_bytes[0] / project / 1e6, output,
               stage_bytes[1] / output / 1e6, key, stage_bytes[2] / key / 1e6, head, 2.0 * s.vocab * c / head / 1e6);
        for (float live : {0.1f, 1.0f}) {
            fill_live<<<1024, 256, 0, b.stream>>>(static_cast<half *>(b.pass.act.hidden), (int64_t)kTokenRoom * s.ffn, live, b.seed++);
            printf(" %6.2f", alone(value_sparse));
        }
        printf("\n");
        check(gpuLastError(), "timing");
        fflush(stdout);
    }
}

// ---- what order costs -------------------------------------------------------------

__global__ void step_late(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void step_early(float *p) {
    let_next_start();
    wait_for_previous();
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

// Every block passes `times` barriers of the whole grid, each around work whose
// input another block has made.
__global__ void barriers(float *p, unsigned *arrived, int times) {
    const int n = gridDim.x * blockDim.x, at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < times; i++) {
        volatile float *from = p + (i & 1) * n, *to = p + (~i & 1) * n;
        to[at] = from[(at + blockDim.x) % n] + 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1);
            const unsigned goal = (i + 1) * gridDim.x;
            while (*(volatile unsigned *)arrived < goal) {
            }
            __threadfence();
        }
        __syncthreads();
    }
}

__global__ void read_all(const uint4 *p, int64_t n, uint32_t *out) {
    uint32_t sum = 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] = i + u * step < n ? p[i + u * step] : uint4{0, 0, 0, 0};
#pragma unroll
        for (int u = 0; u < 8; u++) sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
    }
    if (sum == 0x12345678) *out = sum;
}

void time_launches() {
    rk_shape s = kShapes[4].shape;
    Bench b(s, RK_F16);
    float *p = b.take<float>(2 * 264 * 512);
    unsigned *arrived = b.take<unsigned>(1);
    constexpr int kTimes = 1000;
    for (int blocks : {1, 132, 264}) {
        const double late = time_graph(b, [&] { for (int i = 0; i < kTimes; i++) step_late<<<blocks, 256, 0, b.stream>>>(p); }, 5).median / kTimes;
        const double early = time_graph(b, [&] { for (int i = 0; i < kTimes; i++) launch_early(step_early, blocks, 256, 0, b.stream, p); }, 5).median / kTimes;
        const double barrier = time_graph(b, [&] {
            check(gpuMemsetAsync(arrived, 0, 4, b.stream), "clearing");
            barriers<<<blocks, 256, 0, b.stream>>>(p, arrived, kTimes);
        }, 5).median / kTimes;
        printf("%3d blocks: a kernel in a chain %.2f us, started early %.2f us, a barrier of one kernel %.2f us\n", blocks, late, early, barrier);
    }
    const int64_t bytes = 8ll << 30;
    uint16_t *big = b.take<uint16_t>(bytes / 2);
    b.normal(reinterpret_cast<half *>(big), bytes / 2, 0, 1);
    for (int blocks : {132, 264, 528, 1056}) {
        const double us = time_graph(b, [&] { read_all<<<blocks, 512, 0, b.stream>>>(reinterpret_cast<const uint4 *>(big), bytes / 16, arrived); }, 9).median;
        printf("reading 8 GiB, %4d blocks of 512: %.2f TB/s\n", blocks, bytes / us / 1e6);
    }
    check(gpuLastError(), "timing launches");
}

// Every stage of three layers, for a profiler.
int once(const char *name, int tokens) {
    for (const NamedShape &s : kShapes) {
        if (strcmp(name, s.name)) continue;
        Bench b(s.shape, RK_F16);
        b.set_tokens(tokens);
        for (int l = 0; l < 3; l++) stages(b, l);
        check(gpuLastError(), "the stages");
        b.stream.wait();
        return 0;
    }
    return 2;
}

} // namespace

int main(int argc, char **argv) {
    try {
        const char *what = argc > 1 ? argv[1] : "check";
        if (!strcmp(what, "check")) return check_all() ? 0 : 1;
        if (!strcmp(what, "launch")) return time_launches(), 0;
        if (!strcmp(what, "once")) return argc > 3 ? once(argv[2], atoi(argv[3])) : 2;
        for (const NamedShape &s : kShapes) {
            bool wanted = argc <= 2 && s.shape.embed != 192;
            for (int i = 2; i < argc; i++) wanted |= !strcmp(argv[i], s.name);
            if (wanted) time_shape(s);
        }
        return 0;
    } catch (const Failure &f) {
        fprintf(stderr, "%s\n", f.message.c_str());
        return 1;
    }
}
