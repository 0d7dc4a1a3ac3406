// adapters.cu: takes adapters in, checks them, and gives their memory back.
#include "engine/adapters.h"

#include <cmath>

#include "engine/version.h"
#include "layer/element.h"

namespace {

// dst [rows][cols] = src, or its transpose, dst [cols][pitch], if pitch is not 0; for each
// matrix of a batch.
template <typename E> __global__ void place_values(E *dst, const float *src, int64_t rows, int64_t cols, int64_t pitch, int64_t count) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int64_t each = rows * cols, b = i / each, r = i % each / cols, c = i % cols;
    dst[pitch > 0 ? (b * cols + c) * pitch + r : i] = from_float<E>(src[i]);
}

// Device memory until the end of a scope.
struct Staging {
    void *p = nullptr;
    Staging() = default;
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;
    ~Staging() { gpuFree(p); }
};

void allocate_device(void **p, int64_t bytes) {
    const gpuError error = gpuMalloc(p, bytes);
    if (error == gpuOutOfMemory) {
        gpuLastError();
        fail(RK_ERR_MEMORY, "an adapter needs %lld more bytes on the device than there are: drop another, or use fewer slots", (long long)bytes);
    }
    check(error, "taking memory for an adapter");
}

void check_values(const float *v, int64_t n, bool bf16, const char *what) {
    const float most = bf16 ? 3.3e38f : kHalfMax;
    for (int64_t i = 0; v && i < n; i++)
        if (!(std::fabs(v[i]) <= most)) fail(RK_ERR_TENSOR, "an adapter's %s has the value %g, which %s", what, v[i], bf16 ? "is none" : "fp16 does not hold");
}

} // namespace

Adapters::Adapters(const Shape &shape, Arena &arena, int64_t *scratch) : shape_(shape) {
    table_ = arena.device<AdapterDelta>((int64_t)deltas(shape) * (RK_ADAPTERS_MAX + 1), scratch, "the adapters");
}

Adapters::~Adapters() {
    for (Adapter &a : adapters_)
        for (void *p : a.pieces) gpuFree(p);
}

int Adapters::add() {
    for (int id = 1; id <= RK_ADAPTERS_MAX; id++) {
        if (adapters_[id].loaded) continue;
        adapters_[id] = {};
        adapters_[id].loaded = true;
        adapters_[id].set.resize(deltas(shape_));
        return id;
    }
    fail(RK_ERR_MEMORY, "%d adapters are loaded, and no more can be: drop one first", RK_ADAPTERS_MAX);
}

void *Adapters::allocate(Adapter &adapter, int64_t bytes) {
    void *p = nullptr;
    allocate_device(&p, bytes);
    adapter.pieces.push_back(p);
    adapter.bytes += bytes;
    return p;
}

// Copies a batch of matrices [rows][cols] to the device as E; if pitch is not 0, transposed
// to [cols][pitch], with zeros beyond rows.
const void *Adapters::elements(Adapter &adapter, const float *values, int64_t batch, int64_t rows, int64_t cols, int64_t pitch) {
    const int64_t count = batch * rows * cols, bytes = (pitch > 0 ? batch * cols * pitch : count) * 2;
    void *dst = allocate(adapter, bytes);
    Staging staging;
    allocate_device(&staging.p, count * sizeof(float));
    ::check(gpuMemsetAsync(dst, 0, bytes, stream_), "loading an adapter");
    ::check(gpuMemcpyAsync(staging.p, values, count * sizeof(float), gpuToDevice, stream_), "loading an adapter");
    with_element(shape_, [&](auto e) {
        using E = decltype(e);
        place_values<E><<<(unsigned)ceil_div(count, 256), 256, 0, stream_>>>(static_cast<E *>(dst), static_cast<const float *>(staging.p), rows, cols, pitch, count);
    });
    ::check(gpuLastError(), "loading an adapter");
    stream_.wait();
    return dst;
}

void Adapters::check(const HostDelta &d, int64_t out, int64_t in, int target) const {
    if (d.rank < 1 || d.rank > RK_RANK_MAX) fail(RK_ERR_TENSOR, "an adapter of rank %d: 1 to %d can be run", d.rank, RK_RANK_MAX);
    if (d.gain && d.blocks) fail(RK_ERR_ARGUMENT, "gain and blocks of one change");
    if (d.blocks && (d.size < 1 || in % d.size != 0)) fail(RK_ERR_TENSOR, "an adapter's blocks of %d for %lld inputs", d.size, (long long)in);
    if ((d.gain || d.blocks) && target == RK_FFN_VALUE && in > shape_.version->parts.mixed * (int64_t)shape_.embed)
        fail(RK_ERR_TENSOR, "an adapter changes the inputs of a channel mix of %lld, and there is room for %d", (long long)in, shape_.version->parts.mixed * shape_.embed);
    check_values(d.down, d.rank * in, shape_.bf16, "first half");
    check_values(d.up, d.rank * out, shape_.bf16, "second half");
    check_values(d.gain, in, true, "gain");
    check_values(d.blocks, in * d.size, shape_.bf16, "blocks");
}

void Adapters::set(int id, int layer, int target, const HostDelta &d) {
    if (!has(id)) fail(RK_ERR_ARGUMENT, "adapter %d is not loaded", id);
    if (target < 0 || target > RK_HEAD || layer < 0 || layer >= (target == RK_HEAD ? 1 : shape_.layers) || !(shape_.version->targets >> target & 1))
        fail(RK_ERR_ARGUMENT, "product %d of layer %d: there is none that an adapter of %s can change", target, layer, shape_.version->name);
    const int64_t c = shape_.embed;
    const int64_t in = target == RK_FFN_VALUE ? shape_.ffn : c;
    const int64_t out = target == RK_FFN_KEY ? shape_.ffn : target == RK_HEAD ? shape_.vocab : c;
    check(d, out, in, target);
    Adapter &a = adapters_[id];
    const int index = target == RK_HEAD ? deltas(shape_) - 1 : layer * kAdapterTargets + target;
    if (a.set[index]) fail(RK_ERR_ARGUMENT, "product %d of layer %d is changed already", target, layer);
    AdapterDelta made{};
    made.rank = d.rank;
    made.size = d.size;
    made.down = elements(a, d.down, 1, d.rank, in, 0);
    made.up = elements(a, d.up, 1, out, d.rank, round_up(out, 8));
    if (d.blocks) made.blocks = elements(a, d.blocks, in / d.size, d.size, d.size, d.size);
    if (d.gain) {
        void *gain = allocate(a, in * sizeof(float));
        ::check(gpuMemcpyAsync(gain, d.gain, in * sizeof(float), gpuToDevice, stream_), "loading an adapter");
        made.gain = static_cast<const float *>(gain);
    }
    ::check(gpuMemcpyAsync(table_ + (int64_t)id * deltas(shape_) + index, &made, sizeof made, gpuToDevice, stream_), "loading an adapter");
    stream_.wait();
    a.set[index] = 1;
    if (d.gain || d.blocks) a.kind = Adapted::Reshaped;
}

void Adapters::drop(int id) {
    if (!has(id)) fail(RK_ERR_ARGUMENT, "adapter %d is not loaded", id);
    ::check(gpuMemsetAsync(table_ + (int64_t)id * deltas(shape_), 0, deltas(shape_) * sizeof(AdapterDelta), stream_), "dropping an adapter");
    stream_.wait();
    for (void *p : adapters_[id].pieces) gpuFree(p);
    adapters_[id] = {};
}

int64_t Adapters::bytes(int id) const {
    if (!has(id)) fail(RK_ERR_ARGUMENT, "adapter %d is not loaded", id);
    return adapters_[id].bytes;
}
