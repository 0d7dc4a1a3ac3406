// timemix_single.cu: the time mix (timemix_head.h) for rows of one token and heads of 64.
// It takes as long as reading and writing the states. One block has one head of one row:
// its first warp prepares the token while the others load S; S is written first and the
// output last. S and the parameters are requested before the previous kernel has ended.
#include "device/launch.h"
#include "layer/timemix_head.h"

namespace timemix {

namespace {

constexpr int N = 64;

// A warp that has no part of S, and those that have.
template <typename S> constexpr int kThreads = Grid<S, N>::threads + kWarp;

// grid (heads, rows)
template <Rule rule, typename E, typename S> __global__ void __launch_bounds__(kThreads<S>, 5) mix_rows(Args a) {
    using G = Grid<S, N>;
    __shared__ Token<N> token;
    let_next_start();
    const int head = blockIdx.x, row = blockIdx.y, slot = a.row_slot[row];
    if (slot == a.spare) return wait_for_previous();
    if (threadIdx.x < kWarp) {
        const int i = threadIdx.x * kEachOf<N>, channel = head * N + i;
        const int64_t at = (int64_t)row * a.channels + channel;
        const Weights<rule, kEachOf<N>> w(a, channel);
        wait_for_previous();
        const Inputs<rule, kEachOf<N>> in(a, at, static_cast<const E *>(nullptr));
        prepare<rule, E, N>(a, at, i, w, in, token);
        __syncthreads();
        __syncthreads();
        finish<rule, E, N>(a, at, i, w.gn_weight, w.gn_bias, in.gate, token);
        return;
    }
    const int thread = threadIdx.x - kWarp, value = thread / G::lanes, part = thread % G::lanes;
    S *state = static_cast<S *>(a.state) + (((int64_t)slot * gridDim.x + head) * N + value) * N;
    Part<S, N> s;
    s.load(state, part);
    __syncthreads();
    const float y = s.template step<rule>(token, value, part);
    if (part == 0) token.y[value] = y;
    s.store(state, part);
    __syncthreads();
}

} // namespace

template <Rule rule> void mix_single(const Pass &p, const Args &a) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const dim3 grid(p.shape->heads, p.rows);
        if (p.slots.wkv_half)
            launch_early(mix_rows<rule, E, half>, grid, kThreads<half>, 0, p.stream, a);
        else
            launch_early(mix_rows<rule, E, float>, grid, kThreads<float>, 0, p.stream, a);
    });
}

template void mix_single<Rule::Delta>(const Pass &, const Args &);
template void mix_single<Rule::Decay>(const Pass &, const Args &);

} // namespace timemix
