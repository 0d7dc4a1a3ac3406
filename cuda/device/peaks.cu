// peaks.cu: measures a long copy on the device, a large matrix product of cuBLASLt and a
// transfer from pinned host memory.
#include "device/peaks.h"

#include "engine/version.h"

namespace {

constexpr int64_t kCopied = 1 << 30, kSent = 256 << 20;
constexpr int kSide = 8192; // of the square matrices
constexpr int kRepeats = 8;
constexpr double kTuning = 0.2; // seconds to find the fastest product

// Fills v with random values: zeros would be multiplied faster.
__global__ void fill(half *v, int64_t n, uint32_t seed) {
    const int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at >= n) return;
    uint32_t h = ((uint32_t)at + seed) * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    h ^= h >> 13;
    v[at] = __float2half_rn((float)(int32_t)h * (1.0f / 2147483648.0f));
}

// Seconds of one run of f: the best mean of three series of runs.
template <typename F> double seconds(gpuStream stream, F f) {
    Event begin(true), end(true);
    double best = 1e30;
    f();
    for (int series = 0; series < 3; series++) {
        begin.record(stream);
        for (int i = 0; i < kRepeats; i++) f();
        end.record(stream);
        end.wait();
        float ms = 0;
        check(gpuEventElapsed(&ms, begin, end), "timing the device");
        best = std::min(best, (double)ms / 1e3 / kRepeats);
    }
    return best;
}

double copy_rate(const Stream &stream) {
    Arena arena;
    int64_t bytes = 0;
    auto *from = arena.device<uint8_t>(kCopied, &bytes, "measuring a copy"), *to = arena.device<uint8_t>(kCopied, &bytes, "measuring a copy");
    check(gpuDeviceSynchronize(), "measuring a copy");
    return 2 * kCopied / seconds(stream, [&] { check(gpuMemcpyAsync(to, from, kCopied, gpuOnDevice, stream), "measuring a copy"); });
}

double upload_rate(const Stream &stream) {
    Arena arena;
    int64_t bytes = 0;
    auto *from = arena.pinned<uint8_t>(kSent, &bytes, "measuring a transfer");
    auto *to = arena.device<uint8_t>(kSent, &bytes, "measuring a transfer");
    check(gpuDeviceSynchronize(), "measuring a transfer");
    return kSent / seconds(stream, [&] { check(gpuMemcpyAsync(to, from, kSent, gpuToDevice, stream), "measuring a transfer"); });
}

double matrix_rate(const Stream &stream) {
    const char *what = "measuring a matrix product";
    const Shape shape({RK_V7, 1, kSide, kSide / 64, 64, kSide, 64, {32, 32, 32, 32}}, RK_F16);
    Arena arena;
    int64_t bytes = 0;
    const int64_t n = (int64_t)kSide * kSide;
    half *w = arena.device<half>(n, &bytes, what), *x = arena.device<half>(n, &bytes, what), *y = arena.device<half>(n, &bytes, what);
    Products products(shape, product_specs(shape, kSide), 64, arena, &bytes);
    check(gpuDeviceSynchronize(), what);
    fill<<<(unsigned)ceil_div(n, 256), 256, 0, stream>>>(w, n, 1);
    fill<<<(unsigned)ceil_div(n, 256), 256, 0, stream>>>(x, n, 77);
    products.tune({kSide}, {{Product::Key, {{w}, x, y, kSide}}}, kTuning, stream);
    return 2.0 * n * kSide / seconds(stream, [&] { products.multiply(Product::Key, w, x, y, kSide, stream); });
}

} // namespace

rk_peaks measure_peaks() {
    const Stream stream;
    return {copy_rate(stream), matrix_rate(stream), upload_rate(stream)};
}
