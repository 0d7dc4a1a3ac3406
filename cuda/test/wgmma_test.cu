// wgmma_test.cu: checks the products of layer/wgmma.h against plain sums and times
// them beside cuBLASLt's.
//
//   wgmma_test check          exit status 1 on a failure
//   wgmma_test time [tokens]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "device/blaslt.h"
#include "device/handles.h"
#include "layer/wgmma.h"

namespace {

__device__ float random_of(uint64_t i, uint64_t seed) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (float)(z & 0xffff) / 32768.0f - 1.0f;
}

template <typename E> __global__ void fill(E *p, int64_t n, float scale, uint64_t seed) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) p[i] = from_float<E>(scale * random_of(i, seed));
}

// The values that a product is added to.
__device__ float old_value(int64_t i) { return random_of(i, 99); }

__global__ void fill_old(float *p, int64_t n) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) p[i] = old_value(i);
}

template <typename E> __global__ void plain(const E *w, const E *x, float *y, int rows, int inputs, int tokens, wgmma::Finish f, bool across) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= (int64_t)rows * tokens) return;
    const int row = i % rows, token = i / rows;
    float sum = 0;
    for (int k = 0; k < inputs; k++) sum += to_float(w[across ? (int64_t)k * rows + row : (int64_t)row * inputs + k]) * to_float(x[(int64_t)token * inputs + k]);
    if (f == wgmma::Finish::Tanh) sum = tanhf(sum);
    if (f == wgmma::Finish::Sigmoid) sum = 1 / (1 + expf(-sum));
    if (f == wgmma::Finish::Square) sum = sum > 0 ? sum * sum : 0;
    if (f == wgmma::Finish::Add) sum += old_value(i);
    y[i] = sum;
}

// norms[0] += |got - want|², norms[1] += |want|², norms[2]: counts NaN
template <typename T> __global__ void compare(const T *got, const float *want, int64_t n, double *norms) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const double d = (double)to_float(got[i]) - want[i];
        if (!(d == d)) atomicAdd(norms + 2, 1);
        else atomicAdd(norms, d * d);
        atomicAdd(norms + 1, (double)want[i] * want[i]);
    }
}

template <typename T> T *device(int64_t n) {
    T *p = nullptr;
    check(gpuMalloc((void **)&p, n * sizeof(T)), "taking memory");
    return p;
}

wgmma::Workspace workspace() {
    wgmma::Workspace w{device<float>(wgmma::kPartialSums), device<int32_t>(wgmma::kSharedTiles)};
    check(GPU_NAME(Memset)(w.arrived, 0, wgmma::kSharedTiles * 4), "clearing");
    return w;
}

template <typename E> void multiply(const wgmma::Products &all, const wgmma::Workspace &space, gpuStream s) {
    if (std::is_same_v<E, bf16>)
        wgmma::multiply_bf16(all, space, s);
    else
        wgmma::multiply_half(all, space, s);
}

struct Case {
    int rows, inputs;
    wgmma::Finish finish;
};

// Whether all products are right, and the same in two runs.
template <typename E>
bool check_products(int tokens, const std::vector<Case> &cases, const wgmma::Workspace &space, gpuStream s, bool across = false, bool narrow = false) {
    wgmma::Products all;
    all.tokens = tokens;
    all.across = across;
    all.narrow = narrow;
    std::vector<float *> wants;
    std::vector<void *> taken;
    for (size_t j = 0; j < cases.size(); j++) {
        const Case &c = cases[j];
        const int64_t n = (int64_t)c.rows * tokens;
        E *w = device<E>((int64_t)c.rows * c.inputs), *x = device<E>((int64_t)tokens * c.inputs);
        float *out = device<float>(n); // half of it is used where results are rounded
        float *want = device<float>(n);
        fill<<<512, 256, 0, s>>>(w, (int64_t)c.rows * c.inputs, 3.0f / sqrtf(c.inputs), j * 2 + 1);
        fill<<<512, 256, 0, s>>>(x, (int64_t)tokens * c.inputs, 1.0f, j * 2 + 2);
        plain<E><<<ceil_div(n, 128), 128, 0, s>>>(w, x, want, c.rows, c.inputs, tokens, c.finish, across);
        all.add({w, x, out, c.rows, c.inputs, c.finish});
        wants.push_back(want);
        for (void *p : {(void *)w, (void *)x, (void *)want, (void *)out}) taken.push_back(p);
    }
    bool ok = true;
    double *norms = device<double>(3);
    std::vector<std::vector<uint8_t>> before(cases.size());
    for (int round = 0; round < 2; round++) {
        for (size_t j = 0; j < cases.size(); j++) {
            const int64_t n = (int64_t)cases[j].rows * tokens;
            if (cases[j].finish == wgmma::Finish::Add)
                fill_old<<<512, 256, 0, s>>>((float *)all.product[j].out, n);
            else
                check(gpuMemsetAsync(all.product[j].out, 0xff, n * 2, s), "clearing");
        }
        multiply<E>(all, space, s);
        check(gpuLastError(), "launching");
        for (size_t j = 0; j < cases.size(); j++) {
            const int64_t n = (int64_t)cases[j].rows * tokens;
            check(gpuMemsetAsync(norms, 0, 24, s), "clearing");
            const bool adds = cases[j].finish == wgmma::Finish::Add;
            if (adds)
                compare<<<256, 256, 0, s>>>((const float *)all.product[j].out, wants[j], n, norms);
            else
                compare<<<256, 256, 0, s>>>((const E *)all.product[j].out, wants[j], n, norms);
            double got[3];
            std::vector<uint8_t> now(n * (adds ? 4 : 2));
            check(gpuMemcpyAsync(got, norms, 24, gpuToHost, s), "reading");
            check(gpuMemcpyAsync(now.data(), all.product[j].out, now.size(), gpuToHost, s), "reading");
            check(gpuStreamSynchronize(s), "running the products");
            const double error = got[2] > 0 ? 1e9 : sqrt(got[0] / got[1]), limit = std::is_same_v<E, bf16> ? 4e-3 : 5e-4;
            if (!(error < limit)) {
                printf("  %d tokens, product %zu (%d x %d): error %.2e, %g NaN\n", tokens, j, cases[j].rows, cases[j].inputs, error, got[2]);
                ok = false;
            }
            if (round > 0 && now != before[j]) {
                printf("  %d tokens, product %zu: not the same twice\n", tokens, j);
                ok = false;
            }
            before[j] = now;
        }
    }
    for (void *p : taken) gpuFree(p);
    gpuFree(norms);
    return ok;
}

int check_all() {
    Stream s;
    const wgmma::Workspace space = workspace();
    using F = wgmma::Finish;
    const std::vector<Case> layer = {{4096, 4096, F::Store}, {4096, 4096, F::Store}, {128, 4096, F::Tanh}, {480, 4096, F::Sigmoid}};
    const std::vector<Case> odd = {{1024, 1056, F::Store}, {96, 1056, F::Tanh}, {40, 72, F::Sigmoid}, {520, 2048, F::Store}};
    const std::vector<Case> small = {{768, 768, F::Store}, {64, 768, F::Tanh}, {3072, 768, F::Square}}, added = {{1000, 1032, F::Add}}, values = {{768, 3080, F::Add}};
    int failed = 0;
    for (int tokens : {1, 9, 16, 17, 32, 33, 64, 65, 100, 128, 129, 200, 256}) {
        bool ok = check_products<half>(tokens, layer, space, s) & check_products<half>(tokens, odd, space, s) & check_products<bf16>(tokens, odd, space, s);
        ok &= check_products<half>(tokens, small, space, s, false, true) & check_products<bf16>(tokens, added, space, s, false, true);
        if (tokens <= wgmma::kFewTokens) ok &= check_products<half>(tokens, added, space, s);
        if (tokens <= wgmma::kValueTokens) ok &= check_products<half>(tokens, values, space, s, true) & check_products<bf16>(tokens, values, space, s, true);
        printf("%d tokens: %s\n", tokens, ok ? "right" : "WRONG");
        failed += !ok;
    }
    return failed > 0;
}

// ---- times ---------------------------------------------------------------------

struct Widths {
    const char *name;
    int embed, rank, rank_g;
};
constexpr int kLayers = 6, kRoom = 1024, kVocab = 65536;

// Microseconds of one of `count` calls in a graph.
double time_graph(gpuStream s, int count, const std::function<void(int)> &call) {
    gpuGraph graph = nullptr;
    gpuGraphExec exec = nullptr;
    check(gpuStreamBeginCapture(s), "capturing");
    for (int i = 0; i < count; i++) call(i);
    check(gpuStreamEndCapture(s, &graph), "capturing");
    check(gpuGraphInstantiate(&exec, graph), "making a graph");
    Event begin(true), end(true);
    float best = 1e9;
    for (int r = 0; r < 4; r++) {
        begin.record(s);
        check(gpuGraphLaunch(exec, s), "launching");
        end.record(s);
        end.wait();
        float ms = 0;
        check(gpuEventElapsed(&ms, begin, end), "timing");
        if (r > 0) best = std::min(best, ms);
    }
    gpuGraphExecDestroy(exec);
    gpuGraphDestroy(graph);
    return best * 1e3 / count;
}

void time_widths(const Widths &m, int n) {
    Stream s;
    const wgmma::Workspace space = workspace();
    const int64_t c = m.embed, p = m.rank, pg = m.rank_g, low = 3 * p + pg;
    using F = wgmma::Finish;
    const auto values = [&](int64_t count) {
        half *v = device<half>(count);
        fill<<<2048, 256, 0, s>>>(v, count, 0.02f, 1);
        return v;
    };
    half *square = values(3 * c * c * kLayers), *down = values(low * c * kLayers), *x = values(kRoom * c * 6), *y = values(kRoom * (c * 3 + low));
    const rk_shape rs{kLayers, m.embed, m.embed / 64, 64, 4 * m.embed, kVocab, (int)p, (int)p, (int)p, (int)pg};
    const Shape shape(rs, RK_F16);
    Arena arena;
    int64_t scratch = 0;
    Products blas(shape, kRoom, kVocab, arena, &scratch);
    blas.prepare(n, n);
    const double by_blas = time_graph(s, kLayers, [&](int l) {
        blas.multiply(Product::Rkv, square + l * 3 * c * c, x, y, n, s);
        blas.multiply(Product::Down, down + l * low * c, x + 3 * kRoom * c, y + 3 * kRoom * c, n, s);
        blas.multiply(Product::DownG, down + (l * low + 3 * p) * c, x + 5 * kRoom * c, y + kRoom * (3 * c + 3 * p), n, s);
    });
    const double by_stream = time_graph(s, kLayers, [&](int l) {
        wgmma::Products a;
        a.tokens = n;
        for (int i = 0; i < 3; i++) a.add({square + (l * 3 + i) * c * c, x + i * kRoom * c, y + i * kRoom * c, (int)c, (int)c, F::Store});
        for (int i = 0; i < 3; i++) a.add({down + (l * low + i * p) * c, x + (2 + i) * kRoom * c, y + kRoom * (3 * c + i * p), (int)p, (int)c, F::Tanh});
        a.add({down + (l * low + 3 * p) * c, x + 5 * kRoom * c, y + kRoom * (3 * c + 3 * p), (int)pg, (int)c, F::Sigmoid});
        wgmma::multiply_half(a, space, s);
    });
    const double bytes = (3 * c + low) * c * 2;
    printf("%s, %d tokens: %.1f us, %.2f TB/s; cuBLASLt %.1f us, %.2f TB/s\n", m.name, n, by_stream, bytes / by_stream * 1e-6, by_blas, bytes / by_blas * 1e-6);
}

} // namespace

int main(int argc, char **argv) {
    try {
        const std::string what = argc > 1 ? argv[1] : "check";
        if (what == "check") return check_all();
        for (const Widths &m : {Widths{"7.2b", 4096, 128, 480}, Widths{"1.5b", 2048, 96, 256}})
            for (int n : argc > 2 ? std::vector<int>{atoi(argv[2])} : std::vector<int>{16, 32, 64, 128, 256}) time_widths(m, n);
        return 0;
    } catch (const Failure &e) {
        printf("%s\n", e.message.c_str());
        return 1;
    }
}
