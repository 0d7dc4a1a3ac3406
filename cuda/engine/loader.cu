// loader.cu: each kernel converts rows [first, first+rows) of a tensor [..][cols] from
// the stored type S, at src, to the model's type and writes them to their place.
#include "engine/loader.h"

#include "engine/version.h"

#include <cstring>
#include <thread>

namespace {

constexpr float kNormEps = 1e-5f;
constexpr int kTile = 32;

// The value as E. *overflow is set if fp16 turns a finite value into infinity.
template <typename E> __device__ E convert(float v, int *overflow) {
    E e = from_float<E>(v);
    if (isinf(to_float(e)) && !isinf(v)) *overflow = 1;
    return e;
}

template <typename S, typename E> __global__ void place_rows(E *dst, const S *src, int64_t count, int *overflow) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < count; i += (int64_t)gridDim.x * blockDim.x) dst[i] = convert<E>(to_float(src[i]), overflow);
}

template <typename S> __global__ void place_vector(float *dst, const S *src, int64_t count, Form form) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float v = to_float(src[i]);
    if (form.what == Form::Complement) v = 1 - v;
    if (form.what == Form::Exponential) v = expf(v);
    for (int k = 0; k < form.repeat; k++) dst[i * form.repeat + k] = v;
}

// dst[c*stride + first + r] = src[r][c] without groups, by tiles so that both sides are read
// and written in lines.
template <typename S, typename E>
__global__ void place_transposed(E *dst, const S *src, int64_t first, int rows, int cols, int64_t stride, Groups groups, int *overflow) {
    __shared__ float tile[kTile][kTile + 1];
    int c0 = blockIdx.x * kTile, r0 = blockIdx.y * kTile;
    for (int r = r0 + threadIdx.y; r < min(r0 + kTile, rows); r += blockDim.y)
        if (c0 + threadIdx.x < cols) tile[r - r0][threadIdx.x] = to_float(src[(int64_t)r * cols + c0 + threadIdx.x]);
    __syncthreads();
    for (int c = c0 + threadIdx.y; c < min(c0 + kTile, cols); c += blockDim.y)
        if (r0 + threadIdx.x < rows)
            dst[groups.place(first + r0 + threadIdx.x, c, stride)] = convert<E>(tile[threadIdx.x][c - c0], overflow);
}

// One block a row: (x - mean) / sqrt(variance + eps).
template <typename S, typename E> __global__ void place_normalised(E *dst, const S *src, int cols) {
    __shared__ float shared[2][kWarp];
    const S *x = src + (int64_t)blockIdx.x * cols;
    E *y = dst + (int64_t)blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += to_float(x[c]);
    float mean = block_sum(sum, shared[0]) / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float d = to_float(x[c]) - mean;
        squares += d * d;
    }
    float scale = rsqrtf(block_sum(squares, shared[1]) / cols + kNormEps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = from_float<E>((to_float(x[c]) - mean) * scale);
}

template <typename S, typename E>
void launch(const Target &t, int64_t first, int64_t rows, const void *src, int *overflow, gpuStream stream) {
    const S *from = static_cast<const S *>(src);
    E *to = static_cast<E *>(t.dst);
    const int64_t count = rows * t.cols;
    switch (t.placing) {
    case Placing::Transposed: {
        dim3 grid((unsigned)ceil_div(t.cols, kTile), (unsigned)ceil_div(rows, kTile));
        place_transposed<S, E><<<grid, dim3(kTile, 8), 0, stream>>>(to, from, first, (int)rows, (int)t.cols, t.stride, t.groups, overflow);
        break;
    }
    case Placing::Embedding:
        place_normalised<S, E><<<(unsigned)rows, 256, 0, stream>>>(to + first * t.cols, from, (int)t.cols);
        break;
    default:
        unsigned blocks = (unsigned)std::min<int64_t>(ceil_div(count, 256), 4096);
        place_rows<S, E><<<blocks, 256, 0, stream>>>(to + first * t.cols, from, count, overflow);
    }
    check(gpuLastError(), "converting a tensor");
}

template <typename S> void launch_vector(const Target &t, const void *src, gpuStream stream) {
    place_vector<<<(unsigned)ceil_div(t.cols, 256), 256, 0, stream>>>(static_cast<float *>(t.dst), static_cast<const S *>(src), t.cols, t.form);
    check(gpuLastError(), "converting a tensor");
}

template <typename S>
void launch_as(const Target &t, bool is_bf16, int64_t first, int64_t rows, const void *src, int *overflow, gpuStream stream) {
    if (t.placing == Placing::Vector)
        launch_vector<S>(t, src, stream);
    else if (is_bf16)
        launch<S, bf16>(t, first, rows, src, overflow, stream);
    else
        launch<S, half>(t, first, rows, src, overflow, stream);
}

int64_t size_of(int dtype) { return dtype == RK_F32 ? 4 : 2; }

// Copies with several threads: one alone is slower than the bus, and each thread reads pages
// of a mapped file.
void copy_parallel(uint8_t *dst, const uint8_t *src, int64_t bytes) {
    constexpr int64_t kLeast = 1 << 20;
    int threads = (int)std::min<int64_t>({8, (int64_t)std::max(1u, std::thread::hardware_concurrency()), bytes / kLeast});
    if (threads <= 1) {
        memcpy(dst, src, bytes);
        return;
    }
    int64_t piece = round_up(ceil_div(bytes, threads), 4096);
    std::vector<std::thread> team;
    for (int64_t at = piece; at < bytes; at += piece)
        team.emplace_back([=] { memcpy(dst + at, src + at, std::min(piece, bytes - at)); });
    memcpy(dst, src, std::min(piece, bytes));
    for (std::thread &t : team) t.join();
}

std::string describe(const int64_t *dims, int ndim) {
    std::string text = "[";
    for (int i = 0; i < ndim; i++) text += (i ? ", " : "") + std::to_string(dims[i]);
    return text + "]";
}

// Whether dims are the target's, dimensions of 1 ignored. Several matrices have a dimension
// more in front.
bool fits(const Target &t, const int64_t *dims, int ndim) {
    std::vector<int64_t> have, want;
    for (int i = 0; i < ndim; i++)
        if (dims[i] != 1) have.push_back(dims[i]);
    for (int64_t d : {t.rows, t.cols})
        if (d != 1) want.push_back(d);
    if (t.placing == Placing::Vector) { // r_k is stored as [H, N]
        int64_t product = 1;
        for (int64_t d : have) {
            if (d < 1 || d > t.cols) return false;
            product *= d;
            if (product > t.cols) return false;
        }
        return product == t.cols;
    }
    if (have.size() == 3 && t.groups.apart > 0 && have[1] == t.groups.rows) have = {have[0] * have[1], have[2]};
    return have == want;
}

} // namespace

Loader::Loader(Model &model) : model_(model) {
    int64_t bytes = 0; // not counted: freed when loading is over
    overflow_ = arena_.device<int>((int64_t)model.names.size(), &bytes, "the loading buffers");
    for (Buffer &b : buffers_) {
        b.device = arena_.device<uint8_t>(kBufferBytes, &bytes, "the loading buffers");
        b.host = arena_.pinned<uint8_t>(kBufferBytes, &bytes, "the loading buffers");
    }
}

void Loader::load(const char *name, int dtype, const int64_t *dims, int ndim, const void *data, int64_t bytes) {
    auto found = model_.targets.find(name);
    if (found == model_.targets.end()) fail(RK_ERR_TENSOR, "tensor %s: %s has no such tensor", name, model_.shape.version->name);
    Target &t = found->second;
    if (!t.dst) return;
    if (!fits(t, dims, ndim))
        fail(RK_ERR_TENSOR, "tensor %s: sizes %s where [%lld, %lld] was expected", name, describe(dims, ndim).c_str(),
             (long long)t.rows, (long long)t.cols);
    const int64_t row = t.cols * size_of(dtype);
    if (bytes != t.rows * row)
        fail(RK_ERR_TENSOR, "tensor %s: %lld bytes where %lld were expected", name, (long long)bytes, (long long)(t.rows * row));
    if (row > kBufferBytes) fail(RK_ERR_TENSOR, "tensor %s: a row of %lld bytes is too long", name, (long long)row);
    const int64_t step = kBufferBytes / row;
    for (int64_t first = 0; first < t.rows; first += step) {
        int64_t rows = std::min(step, t.rows - first);
        send(t, dtype, first, rows, static_cast<const uint8_t *>(data) + first * row, rows * row);
    }
    t.loaded = true;
}

void Loader::send(const Target &t, int dtype, int64_t first, int64_t rows, const uint8_t *data, int64_t bytes) {
    Buffer &b = next();
    copy_parallel(b.host, data, bytes);
    check(gpuMemcpyAsync(b.device, b.host, bytes, gpuToDevice, stream_), "copying a tensor to the device");
    const bool is_bf16 = model_.shape.bf16;
    int *overflow = overflow_ + t.index;
    switch (dtype) {
    case RK_F32: launch_as<float>(t, is_bf16, first, rows, b.device, overflow, stream_); break;
    case RK_F16: launch_as<half>(t, is_bf16, first, rows, b.device, overflow, stream_); break;
    default: launch_as<bf16>(t, is_bf16, first, rows, b.device, overflow, stream_);
    }
    b.free.record(stream_);
}

Loader::Buffer &Loader::next() {
    Buffer &b = buffers_[turn_];
    turn_ = (turn_ + 1) % kBuffers;
    b.free.wait();
    return b;
}

void Loader::finish() {
    model_.check_complete();
    std::vector<int> overflow(model_.names.size());
    check(gpuMemcpyAsync(overflow.data(), overflow_, overflow.size() * sizeof(int), gpuToHost, stream_), "loading the model");
    stream_.wait();
    for (size_t i = 0; i < overflow.size(); i++)
        if (overflow[i])
            fail(RK_ERR_TENSOR, "tensor %s: it has values beyond fp16's range; load the model with bf16 weights",
                 model_.names[i].c_str());
}
