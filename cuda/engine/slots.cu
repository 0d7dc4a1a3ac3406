// slots.cu: reads, writes, copies and clears states on a side stream, and the counts.
#include "engine/slots.h"

#include <algorithm>
#include <cstring>

namespace {

// Where a slot's state is in one layer, for the kernels below.
struct Layout {
    int embed, wkv, slots; // wkv: values of S in a layer
    float *shifts;
    void *state;

    __device__ float *shift(int layer, int slot) const { return shifts + ((int64_t)layer * (slots + 1) + slot) * 2 * embed; }
    template <typename S> __device__ S *head(int layer, int slot) const {
        return static_cast<S *>(state) + ((int64_t)layer * (slots + 1) + slot) * wkv;
    }
};

constexpr int kThreads = 256;

// grid (pieces, layers); canonical [L][2C + wkv] <-> slot.
template <typename S, bool kRead> __global__ void move_state(Layout a, int slot, float *canonical) {
    const int layer = blockIdx.y, size = 2 * a.embed + a.wkv;
    float *flat = canonical + (int64_t)layer * size, *shift = a.shift(layer, slot);
    S *state = a.template head<S>(layer, slot);
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < size; i += gridDim.x * kThreads) {
        if (i < 2 * a.embed) {
            if (kRead)
                flat[i] = shift[i];
            else
                shift[i] = flat[i];
        } else if (kRead) {
            flat[i] = to_float(state[i - 2 * a.embed]);
        } else {
            state[i - 2 * a.embed] = from_float_bounded<S>(flat[i]);
        }
    }
}

// dst = src, or zero if src < 0.
template <typename S> __global__ void copy_state(Layout a, int dst, int src) {
    const int layer = blockIdx.y;
    const float *from = a.shift(layer, max(src, 0));
    const S *from_state = a.template head<S>(layer, max(src, 0));
    float *to = a.shift(layer, dst);
    S *to_state = a.template head<S>(layer, dst);
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < 2 * a.embed + a.wkv; i += gridDim.x * kThreads) {
        int j = i - 2 * a.embed;
        if (j < 0)
            to[i] = src < 0 ? 0.0f : from[i];
        else
            to_state[j] = src < 0 ? from_float<S>(0.0f) : from_state[j];
    }
}

Layout layout(const Shape &s, const SlotView &v) { return {s.embed, (int)s.wkv_len(), v.slots, v.shifts, v.wkv}; }

dim3 grid(const Shape &s) {
    return dim3((unsigned)std::min<int64_t>(ceil_div(2 * s.embed + s.wkv_len(), kThreads), 64), (unsigned)s.layers);
}

} // namespace

Slots::Slots(const Shape &shape, const rk_options &o, Arena &arena, int64_t *states, int64_t *scratch, int64_t *pinned)
    : shape_(shape), dirty_(o.slots), last_step_(o.slots) {
    const int64_t n = o.slots + 1, limit = o.token_limit, wkv = shape.wkv_len();
    view_.slots = o.slots;
    view_.limit = o.token_limit;
    view_.wkv_half = o.state == RK_F16 && shape.head_size > 1;
    view_.shifts = arena.device<float>(shape.layers * n * 2 * shape.embed, states, "the states");
    view_.wkv = arena.device<uint16_t>(shape.layers * n * wkv * (view_.wkv_half ? 1 : 2), states, "the states");
    view_.count_size = arena.device<int32_t>(n, states, "the penalty counts");
    view_.count_token = arena.device<int32_t>(n * limit, states, "the penalty counts");
    view_.count_n = arena.device<float>(n * limit, states, "the penalty counts");
    view_.count_first = arena.device<float>(n * limit, states, "the penalty counts");
    device_staging_ = arena.device<float>(shape.state_len(), scratch, "the state buffer");
    host_staging_ = arena.pinned<float>(shape.state_len(), pinned, "the state buffer");
    beside_.device = arena.device<float>(shape.state_len(), scratch, "the state buffer");
    beside_.host = arena.pinned<float>(shape.state_len(), pinned, "the state buffer");
    host_counts_ = arena.pinned<int32_t>(1 + 3 * limit, pinned, "the count buffer");
}

void Slots::check_slot(int slot) const {
    if (slot < 0 || slot >= view_.slots) fail(RK_ERR_ARGUMENT, "slot %d: the pool has slots 0 to %d", slot, view_.slots - 1);
}

void Slots::order_after_steps(int slot) {
    if (last_step_[slot]) side_.wait_for(*last_step_[slot]);
}

void Slots::changed(int slot) {
    dirty_[slot] = 1;
    check(gpuLastError(), "changing a state");
}

void Slots::before_step(const std::vector<int> &slots, gpuStream stream) {
    bool wait = false;
    for (int s : slots) {
        wait = wait || dirty_[s];
        dirty_[s] = 0;
    }
    if (!wait) return;
    queued_.record(side_);
    check(gpuStreamWaitEvent(stream, queued_), "ordering a step after the states it needs");
}

void Slots::after_step(const std::vector<int> &slots, const Event *done) {
    for (int s : slots) last_step_[s] = done;
}

// Queues a copy of a state to pinned memory.
void Slots::fetch(int slot, gpuStream stream, float *device, float *host) const {
    Layout a = layout(shape_, view_);
    if (view_.wkv_half)
        move_state<half, true><<<grid(shape_), kThreads, 0, stream>>>(a, slot, device);
    else
        move_state<float, true><<<grid(shape_), kThreads, 0, stream>>>(a, slot, device);
    check(gpuMemcpyAsync(host, device, shape_.state_len() * sizeof(float), gpuToHost, stream), "reading a state");
}

void Slots::read(int slot, float *dst) {
    check_slot(slot);
    order_after_steps(slot);
    staged_.wait();
    fetch(slot, side_, device_staging_, host_staging_);
    side_.wait();
    memcpy(dst, host_staging_, shape_.state_len() * sizeof(float));
}

// Runs beside other calls: it uses a stream and buffers of its own, behind everything that
// side_ has queued now, and shares nothing with them but what belongs to the slot.
void Slots::read_beside(int slot, float *dst) {
    check_slot(slot);
    Reader &r = beside_;
    if (last_step_[slot]) r.stream.wait_for(*last_step_[slot]);
    r.queued.record(side_);
    r.stream.wait_for(r.queued);
    fetch(slot, r.stream, r.device, r.host);
    r.stream.wait();
    memcpy(dst, r.host, shape_.state_len() * sizeof(float));
}

void Slots::write(int slot, const float *src) {
    check_slot(slot);
    order_after_steps(slot);
    staged_.wait();
    const int64_t bytes = shape_.state_len() * sizeof(float);
    memcpy(host_staging_, src, bytes);
    check(gpuMemcpyAsync(device_staging_, host_staging_, bytes, gpuToDevice, side_), "writing a state");
    staged_.record(side_);
    Layout a = layout(shape_, view_);
    if (view_.wkv_half)
        move_state<half, false><<<grid(shape_), kThreads, 0, side_>>>(a, slot, device_staging_);
    else
        move_state<float, false><<<grid(shape_), kThreads, 0, side_>>>(a, slot, device_staging_);
    changed(slot);
}

void Slots::copy(int dst, int src) {
    check_slot(dst);
    check_slot(src);
    if (dst == src) return;
    order_after_steps(dst);
    order_after_steps(src);
    Layout a = layout(shape_, view_);
    if (view_.wkv_half)
        copy_state<half><<<grid(shape_), kThreads, 0, side_>>>(a, dst, src);
    else
        copy_state<float><<<grid(shape_), kThreads, 0, side_>>>(a, dst, src);
    changed(dst);
    dirty_[src] = 1; // the next step of src must not overtake the copy
}

void Slots::zero(int slot) {
    check_slot(slot);
    order_after_steps(slot);
    Layout a = layout(shape_, view_);
    if (view_.wkv_half)
        copy_state<half><<<grid(shape_), kThreads, 0, side_>>>(a, slot, -1);
    else
        copy_state<float><<<grid(shape_), kThreads, 0, side_>>>(a, slot, -1);
    changed(slot);
}

void Slots::set_counts(int slot, const rk_count *counts, int n) {
    check_slot(slot);
    if (n < 0 || n > view_.limit) fail(RK_ERR_ARGUMENT, "%d counts: there are %d tokens", n, view_.limit);
    std::vector<char> seen(n ? view_.limit : 0);
    for (int i = 0; i < n; i++) {
        int t = counts[i].token;
        if (t < 0 || t >= view_.limit || seen[t])
            fail(RK_ERR_ARGUMENT, "count %d is of token %d, which is %s", i, t, t < 0 || t >= view_.limit ? "no token" : "there twice");
        seen[t] = 1;
    }
    order_after_steps(slot);
    side_.wait(); // host_counts_ may still be in use
    int32_t *token = host_counts_ + 1;
    float *occurrences = reinterpret_cast<float *>(token + n), *first = occurrences + n;
    host_counts_[0] = n;
    for (int i = 0; i < n; i++) {
        token[i] = counts[i].token;
        occurrences[i] = counts[i].n;
        first[i] = counts[i].first;
    }
    const int64_t at = (int64_t)slot * view_.limit, bytes = n * sizeof(int32_t);
    check(gpuMemcpyAsync(view_.count_size + slot, host_counts_, sizeof(int32_t), gpuToDevice, side_), "setting counts");
    if (n > 0) {
        check(gpuMemcpyAsync(view_.count_token + at, token, bytes, gpuToDevice, side_), "setting counts");
        check(gpuMemcpyAsync(view_.count_n + at, occurrences, bytes, gpuToDevice, side_), "setting counts");
        check(gpuMemcpyAsync(view_.count_first + at, first, bytes, gpuToDevice, side_), "setting counts");
    }
    changed(slot);
}

int Slots::get_counts(int slot, rk_count *dst, int size) {
    check_slot(slot);
    order_after_steps(slot);
    check(gpuMemcpyAsync(host_counts_, view_.count_size + slot, sizeof(int32_t), gpuToHost, side_), "reading counts");
    side_.wait();
    const int n = host_counts_[0];
    if (n < 0 || n > view_.limit) fail(RK_ERR_DEVICE, "slot %d has %d counts: its memory is damaged", slot, n);
    int32_t *token = host_counts_ + 1;
    float *occurrences = reinterpret_cast<float *>(token + n), *first = occurrences + n;
    const int64_t at = (int64_t)slot * view_.limit, bytes = n * sizeof(int32_t);
    if (n > 0) {
        check(gpuMemcpyAsync(token, view_.count_token + at, bytes, gpuToHost, side_), "reading counts");
        check(gpuMemcpyAsync(occurrences, view_.count_n + at, bytes, gpuToHost, side_), "reading counts");
        check(gpuMemcpyAsync(first, view_.count_first + at, bytes, gpuToHost, side_), "reading counts");
        side_.wait();
    }
    std::vector<rk_count> all(n);
    for (int i = 0; i < n; i++) all[i] = {token[i], occurrences[i], first[i]};
    std::sort(all.begin(), all.end(), [](const rk_count &a, const rk_count &b) { return a.token < b.token; });
    std::copy_n(all.begin(), std::min(size, n), dst);
    return n;
}
