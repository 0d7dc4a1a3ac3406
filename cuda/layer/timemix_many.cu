// timemix_many.cu: the time mix (timemix_head.h) for many rows of one token and heads of
// 64: where heads times rows fill the card.
//
// A warp has one head, whose parameters it keeps in registers, and works through some of
// the rows. S is handled in parts of 8 KB: while the warp works on one part, the next is
// copied to its shared memory, the first one before the previous kernel has ended, so that
// memory is always busy. The new S is written past the caches.
//
// fp16 states are multiplied by tensor cores; each vector is the sum of two fp16 vectors.
// With the delta rule, S r of the new state is (S diag(w) - (S κ̂)(κ̂ ⊙ a)ᵀ + v k̃ᵀ) r, so that both products
// are of the old state.
#include "device/copy.h"
#include "device/launch.h"
#include "layer/timemix_many_state.h"

namespace timemix {

namespace {

using namespace many;

constexpr int kWarps = 4, kResident = 3; // warps of a block, blocks of a multiprocessor
constexpr int kFewHeads = 1536;          // below which mix_single is faster

// A lane's two channels of a token: results of the products, not yet converted.
template <Rule rule, typename E> struct Ahead {
    struct alignas(2 * sizeof(E)) Two {
        E v[2];
        __device__ void to(float (&f)[2]) const { f[0] = to_float(v[0]), f[1] = to_float(v[1]); }
    };
    Two r, k, v, first, up_v, up_w, up_a, gate;

    __device__ void load(const Args &a, int64_t at) {
        Inputs<rule, 2>::template visit<E>(a, at, [](Two &to, const E *from) { to = *reinterpret_cast<const Two *>(from); }, *this);
    }

    __device__ Inputs<rule, 2> inputs() const {
        Inputs<rule, 2> in;
        r.to(in.r), k.to(in.k), v.to(in.v), up_w.to(in.up_w), gate.to(in.gate);
        if constexpr (rule == Rule::Delta) first.to(in.first), up_v.to(in.up_v), up_a.to(in.up_a);
        return in;
    }
};

// Warp n of all blocks has head n % heads and row group n / heads.
template <Rule rule, typename E, typename S> __global__ void __launch_bounds__(kWarps *kWarp, kResident) mix_heads(Args a, int rows, int groups) {
    using L = Layout<S>;
    __shared__ Vectors vectors[kWarps];
    __shared__ uint4 ahead[kWarps][kPieces * kWarp];
    let_next_start();
    const int heads = a.channels / N, warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, part = lane % L::lanes;
    const int number = blockIdx.x * kWarps + warp, head = number % heads, group = number / heads;
    if (group >= groups) return wait_for_previous();
    Vectors &t = vectors[warp];
    const int copied_row = lane / L::packs; // and every kWarp / packs rows from there: a part lies in one piece
    const SharedPlace<uint4> place(&ahead[warp][copied_row * L::packs + L::place(copied_row, lane % L::packs)]);
    const int i0 = lane * 2, channel = head * N + i0;
    const Weights<rule, 2> weights(a, channel);
    const auto slot_of = [&](int row) { return row < rows ? a.row_slot[row] : a.spare; };
    const auto state_of = [&](int slot, int n) { return static_cast<Pack<S> *>(a.state) + (((int64_t)slot * heads + head) * L::parts + n) * kPieces * kWarp; };
    const auto fetch = [&](int slot, int n) {
        if (slot != a.spare) {
            const Pack<S> *from = state_of(slot, n) + lane;
#pragma unroll
            for (int i = 0; i < kPieces; i++) place.copy16_once(i * kWarp, from + i * kWarp);
        }
        end_group();
    };
    int slot = slot_of(group), next_slot = slot_of(group + groups);
    fetch(slot, 0);
    wait_for_previous();
    Ahead<rule, E> in;
    in.load(a, (int64_t)group * a.channels + channel);
    for (int row = group; row < rows; row += groups) {
        const int64_t at = (int64_t)row * a.channels + channel;
        const int later_slot = slot_of(row + 2 * groups);
        if (slot != a.spare) prepare<rule, E, N>(a, at, i0, weights, in.inputs(), t.token);
        float gate[2];
        in.gate.to(gate);
        if (row + groups < rows) in.load(a, at + (int64_t)groups * a.channels);
        if (std::is_same_v<S, half> && slot != a.spare) split<rule>(t, i0);
#pragma unroll
        for (int n = 0; n < L::parts; n++) {
            const int first = lane / L::lanes, value = n * (N / L::parts) + first; // its first row, of the part and of the head
            State<S> state;
            wait_copies<0>();
            SYNC_WARP();
#pragma unroll
            for (int i = 0; i < L::rows; i++)
#pragma unroll
                for (int m = 0; m < 2; m++)
                    reinterpret_cast<uint4 &>(state.s[i][m]) = ahead[warp][(first + i * L::apart) * L::packs + L::place(first, part + m * L::lanes)];
            SYNC_WARP();
            fetch(n + 1 < L::parts ? slot : next_slot, n + 1 < L::parts ? n + 1 : 0);
            if (slot == a.spare) continue;
            float v[L::rows], removed[L::rows], y[L::rows];
#pragma unroll
            for (int i = 0; i < L::rows; i++) v[i] = t.token.v[value + i * L::apart];
            const auto keep_y = [&] {
#pragma unroll
                for (int i = 0; i < L::rows; i++)
                    if (part == i % L::lanes) t.token.y[value + i * L::apart] = y[i];
            };
            state.template products<rule>(t, lane, v, removed, y);
            if (L::y_from_old) keep_y();
            state.template update<rule>(t.token, part, v, removed, y);
            if (!L::y_from_old) keep_y();
            state.store(state_of(slot, n) + first * L::packs + part, lane);
        }
        SYNC_WARP();
        if (slot != a.spare) finish<rule, E, N>(a, at, i0, weights.gn_weight, weights.gn_bias, gate, t.token);
        SYNC_WARP();
        slot = next_slot;
        next_slot = later_slot;
    }
}

template <Rule rule, typename E, typename S> void launch(const Pass &p, const Args &a) {
    const int heads = p.shape->heads, most = std::max(device_limits().multiprocessors * kResident * kWarps / heads, 1);
    const int groups = (int)ceil_div(p.rows, ceil_div(p.rows, most)); // of nearly equal numbers of rows
    launch_early(mix_heads<rule, E, S>, (int)ceil_div((int64_t)groups * heads, kWarps), kWarps * kWarp, 0, p.stream, a, p.rows, groups);
}

} // namespace

template <Rule rule> bool mix_many(const Pass &p, const Args &a) {
    if (!p.single || p.shape->head_size != N || p.shape->heads * p.rows < kFewHeads) return false;
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        if (p.slots.wkv_half)
            launch<rule, E, half>(p, a);
        else
            launch<rule, E, float>(p, a);
    });
    return true;
}

template bool mix_many<Rule::Delta>(const Pass &, const Args &);
template bool mix_many<Rule::Decay>(const Pass &, const Args &);

} // namespace timemix
