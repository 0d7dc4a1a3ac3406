// wkv4.cu: RWKV-4's time mix, channel by channel and token by token (infer/cpu is the reference).
// With wd = -exp(w0) and u = r_k:
//
//   q = max(p, u + k) ;  wkv = (e^(p-q) a + e^(u+k-q) v) / (e^(p-q) b + e^(u+k-q)) ;  y = σ(r) wkv
//   q = max(p + wd, k) ;  a ← e^(p+wd-q) a + e^(k-q) v ;  b ← e^(p+wd-q) b + e^(k-q) ;  p ← q
//
// rkv is E [3][token_room][C]: k, v, r; y E [T][C]; a state is fp32 [3][C]: a, b, p. While b is 0
// nothing was read, and p counts as -1e30.
#include "device/launch.h"
#include "engine/forward.h"
#include "layer/element.h"

namespace {

constexpr int kThreads = 64;
constexpr float kNothing = -1e30f;

struct MixArgs {
    const void *rkv;
    void *y;
    const float *decay, *bonus;
    float *state; // of this layer
    const RowInput *input;
    const int32_t *row_slot;
    int64_t stride; // elements between the parts of rkv
    int channels, spare;
    bool single;
};

// grid (channels, rows)
template <typename E> __global__ void __launch_bounds__(kThreads) mix_channels(MixArgs m) {
    begin_early();
    const int c = blockIdx.x * kThreads + threadIdx.x, row = blockIdx.y, slot = m.row_slot[row];
    if (c >= m.channels || slot == m.spare) return;
    float *state = m.state + (int64_t)slot * 3 * m.channels + c;
    float a = state[0], b = state[m.channels], p = b == 0 ? kNothing : state[2 * m.channels];
    const float decay = -expf(m.decay[c]), bonus = m.bonus[c];
    const int first = m.single ? row : m.input[row].first, count = m.single ? 1 : m.input[row].count;
    for (int t = first; t < first + count; t++) {
        const int64_t at = (int64_t)t * m.channels + c;
        const E *from = static_cast<const E *>(m.rkv) + at;
        const float k = to_float(from[0]), v = to_float(from[m.stride]), r = to_float(from[2 * m.stride]);
        float q = fmaxf(p, bonus + k);
        const float old = __expf(p - q), own = __expf(bonus + k - q);
        static_cast<E *>(m.y)[at] = from_float_bounded<E>(sigmoid(r) * (old * a + own * v) / (old * b + own));
        q = fmaxf(p + decay, k);
        const float kept = __expf(p + decay - q), added = __expf(k - q);
        a = kept * a + added * v;
        b = kept * b + added;
        p = q;
    }
    state[0] = a;
    state[m.channels] = b;
    state[2 * m.channels] = p;
}

} // namespace

void mix_v4(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed;
    MixArgs m{};
    m.rkv = p.act.rkv;
    m.y = p.act.y;
    m.decay = l.w0;
    m.bonus = l.r_k;
    m.state = static_cast<float *>(p.slots.wkv) + layer * p.shape->wkv_len() * (p.slots.slots + 1);
    m.input = p.input;
    m.row_slot = p.row_slot;
    m.stride = p.act.token_room * c;
    m.channels = c;
    m.spare = p.slots.slots;
    m.single = p.single;
    const dim3 grid((unsigned)ceil_div(c, kThreads), p.rows);
    with_element(*p.shape, [&](auto e) { launch_early(mix_channels<decltype(e)>, grid, kThreads, 0, p.stream, m); });
}
