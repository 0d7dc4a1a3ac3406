// blaslt.cu: cuBLASLt is column-major. Y [tokens][out] by rows is to it a matrix of
// out x tokens by columns; all layouts in this file are described that way.
#include "device/blaslt.h"

#include "engine/version.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kWorkspace = 64 << 20;
constexpr int kCandidates = 24;

void check_blas(cublasStatus_t status, const char *doing) {
    if (status != CUBLAS_STATUS_SUCCESS) fail(RK_ERR_DEVICE, "%s: cuBLASLt says %d", doing, (int)status);
}

} // namespace

// The functions used, and the handle.
struct BlasLibrary {
    void *file = nullptr;
    cublasLtHandle_t handle = nullptr;
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtGetVersion) version;
    decltype(&cublasLtMatmul) matmul;
    decltype(&cublasLtMatmulDescCreate) desc_create;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set;
    decltype(&cublasLtMatrixLayoutCreate) layout_create;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
    decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    decltype(&cublasLtMatmulAlgoCheck) algo_check;

    BlasLibrary() {
        open();
        resolve("cublasLtCreate", create);
        resolve("cublasLtDestroy", destroy);
        resolve("cublasLtGetVersion", version);
        resolve("cublasLtMatmul", matmul);
        resolve("cublasLtMatmulDescCreate", desc_create);
        resolve("cublasLtMatmulDescDestroy", desc_destroy);
        resolve("cublasLtMatmulDescSetAttribute", desc_set);
        resolve("cublasLtMatrixLayoutCreate", layout_create);
        resolve("cublasLtMatrixLayoutDestroy", layout_destroy);
        resolve("cublasLtMatrixLayoutSetAttribute", layout_set);
        resolve("cublasLtMatmulPreferenceCreate", preference_create);
        resolve("cublasLtMatmulPreferenceDestroy", preference_destroy);
        resolve("cublasLtMatmulPreferenceSetAttribute", preference_set);
        resolve("cublasLtMatmulAlgoGetHeuristic", heuristic);
        resolve("cublasLtMatmulAlgoCheck", algo_check);
        check_blas(create(&handle), "opening cuBLASLt");
    }

    ~BlasLibrary() {
        if (handle) destroy(handle);
    }

  private:
    // The library stays open until the process ends: it holds device state
    // that must outlive its last user.
    void open() {
        std::vector<std::string> names;
        if (const char *given = getenv("ROOKERY_CUBLASLT")) names.push_back(given);
        for (const char *version : {"13", "12"})
            for (const char *where : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"})
                names.push_back(std::string(where) + "libcublasLt.so." + version);
        for (const std::string &name : names)
            if ((file = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) return;
        fail(RK_ERR_LIBRARY, "cuBLASLt was not found (libcublasLt.so.13 or .12): install it with the CUDA toolkit, or let ROOKERY_CUBLASLT name the file");
    }

    template <typename F> void resolve(const char *name, F &function) {
        function = reinterpret_cast<F>(dlsym(file, name));
        if (!function) fail(RK_ERR_LIBRARY, "cuBLASLt has no %s: it is older than this library needs", name);
    }
};

// An algorithm that the library proposes.
struct Products::Candidate : cublasLtMatmulHeuristicResult_t {};

struct Products::Plan {
    const BlasLibrary &library;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t weights = nullptr, x = nullptr, y = nullptr;
    cublasLtMatmulAlgo_t algo{};
    float beta = 0;

    explicit Plan(const BlasLibrary &l) : library(l) {}
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan() {
        for (auto layout : {weights, x, y})
            if (layout) library.layout_destroy(layout);
        if (desc) library.desc_destroy(desc);
    }
};

Products::Products(const Shape &shape, const ProductSpecs &specs, int64_t logits_stride, Arena &arena, int64_t *scratch)
    : shape_(shape), specs_(specs), logits_stride_(logits_stride), library_(new BlasLibrary) {
    workspace_ = arena.device<uint8_t>(kWorkspace, scratch, "the matrix workspace");
}

Products::~Products() = default;

int Products::padded(int tokens) {
    const struct {
        int up_to, multiple;
    } steps[] = {{8, 1}, {32, 4}, {64, 8}, {128, 16}, {512, 32}, {1024, 64}};
    for (auto s : steps)
        if (tokens <= s.up_to) return (int)round_up(tokens, s.multiple);
    return (int)round_up(tokens, 256);
}

Products::Plan &Products::plan(Product product, int tokens) {
    auto &slot = plans_[{(int)product, tokens}];
    if (slot) return *slot;
    const BlasLibrary &lib = *library_;
    const ProductSpec &s = specs_[(int)product];
    if (s.out == 0) fail(RK_ERR_ARGUMENT, "no such product");
    const cudaDataType_t element = shape_.bf16 ? CUDA_R_16BF : CUDA_R_16F;
    const cudaDataType_t result = s.writes_float ? CUDA_R_32F : element;
    auto made = std::make_unique<Plan>(lib);
    const char *doing = "planning a matrix product";
    check_blas(lib.desc_create(&made->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), doing);
    cublasOperation_t op = s.transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
    check_blas(lib.desc_set(made->desc, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op), doing);
    auto layout = [&](cublasLtMatrixLayout_t *l, cudaDataType_t type, int64_t rows, int64_t cols, int64_t column, int64_t stride) {
        check_blas(lib.layout_create(l, type, rows, cols, column), doing);
        int32_t batch = (int32_t)s.batch;
        check_blas(lib.layout_set(*l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch), doing);
        check_blas(lib.layout_set(*l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride), doing);
    };
    if (s.transposed)
        layout(&made->weights, element, s.out, s.in, s.out, s.weights_stride);
    else
        layout(&made->weights, element, s.in, s.out, s.in, s.weights_stride);
    layout(&made->x, element, s.in, tokens, s.in, s.x_stride);
    layout(&made->y, result, s.out, tokens, product == Product::Head ? logits_stride_ : s.out, s.y_stride);
    made->beta = s.adds ? 1.0f : 0.0f;

    cublasLtMatmulHeuristicResult_t best{};
    auto known = found_.find({(int)product, tokens});
    bool usable = false;
    if (known != found_.end()) {
        memcpy(&made->algo, known->second.data(), sizeof made->algo);
        usable = lib.algo_check(lib.handle, made->desc, made->weights, made->x, made->y, made->y, &made->algo, &best) == CUBLAS_STATUS_SUCCESS &&
                 best.workspaceSize <= kWorkspace;
    }
    if (!usable) {
        made->algo = candidates(*made, 1)[0].algo;
    }
    slot = std::move(made);
    return *slot;
}

// The algorithms that the library proposes, best guess first, without those that add partial
// sums in changing order or round them to E.
std::vector<Products::Candidate> Products::candidates(const Plan &p, int most) const {
    const BlasLibrary &lib = *library_;
    const char *doing = "asking for matrix product algorithms";
    cublasLtMatmulPreference_t preference = nullptr;
    check_blas(lib.preference_create(&preference), doing);
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, decltype(lib.preference_destroy)> owned(preference, lib.preference_destroy);
    size_t workspace = kWorkspace;
    uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    check_blas(lib.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace), doing);
    check_blas(lib.preference_set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes), doing);
    std::vector<Candidate> list(most);
    int count = 0;
    check_blas(lib.heuristic(lib.handle, p.desc, p.weights, p.x, p.y, p.y, preference, most, list.data(), &count), doing);
    list.resize(count);
    list.erase(std::remove_if(list.begin(), list.end(), [](const auto &r) { return r.state != CUBLAS_STATUS_SUCCESS; }), list.end());
    if (list.empty()) fail(RK_ERR_LIBRARY, "cuBLASLt has no algorithm for a matrix product of this model");
    return list;
}

void Products::multiply(Product product, const void *weights, const void *x, void *y, int tokens, gpuStream stream) {
    run(plan(product, tokens), weights, x, y, stream);
}

void Products::prepare(int tokens, int outputs) {
    for (int p = 0; p < kProducts; p++)
        if (specs_[p].out > 0) plan((Product)p, (Product)p == Product::Head ? outputs : tokens);
}

void Products::run(const Plan &p, const void *weights, const void *x, void *y, gpuStream stream) {
    const float alpha = 1;
    check_blas(library_->matmul(library_->handle, p.desc, &alpha, weights, p.weights, x, p.x, &p.beta, y, p.y, y, p.y, &p.algo, workspace_, kWorkspace, stream),
               "multiplying matrices");
}

// The least time of a product in milliseconds, over a few rounds through all weights.
double Products::time(const Plan &p, const Operand &operand, double most, gpuStream stream) {
    Event begin(true), end(true);
    const int count = (int)operand.weights.size();
    double best = 1e30, spent = 0;
    int runs = 1; // in a round; made to last about half a millisecond
    for (int round = 0; round < 6 && (round < 3 || spent < most); round++) {
        begin.record(stream);
        for (int i = 0; i < runs; i++) run(p, operand.weights[i % count], operand.x, operand.y, stream);
        end.record(stream);
        end.wait();
        float ms = 0;
        check(gpuEventElapsed(&ms, begin, end), "timing a matrix product");
        spent += ms;
        if (round == 0) {
            runs = std::max(1, std::min(20, (int)(0.5 / std::max(ms, 1e-3f))));
            continue; // the first one loads the kernel
        }
        best = std::min(best, (double)ms / runs);
    }
    return best;
}

void Products::tune(const std::vector<int> &tokens, const std::map<Product, Operand> &operands, double seconds, gpuStream stream) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    int left = (int)(tokens.size() * operands.size());
    for (int n : tokens) {
        for (const auto &[product, operand] : operands) {
            if (n > operand.room) {
                left--;
                continue;
            }
            const double share = (seconds - std::chrono::duration<double>(Clock::now() - start).count()) / left--;
            if (share <= 0) return;
            Plan &p = plan(product, n);
            std::vector<Candidate> list = candidates(p, kCandidates);
            const auto began = Clock::now();
            double best = 1e30;
            cublasLtMatmulAlgo_t chosen = list[0].algo;
            for (const auto &candidate : list) {
                if (std::chrono::duration<double>(Clock::now() - began).count() > share) break;
                p.algo = candidate.algo;
                double ms = time(p, operand, share * 1e3 / list.size(), stream);
                if (ms < best) best = ms, chosen = candidate.algo;
            }
            p.algo = chosen;
            std::vector<uint64_t> words(sizeof chosen / sizeof(uint64_t));
            memcpy(words.data(), &chosen, sizeof chosen);
            found_[{(int)product, n}] = words;
        }
    }
}

// The first line of a file of tuned algorithms: what they are valid for.
std::string Products::identity(const std::string &device) const {
    char text[256];
    snprintf(text, sizeof text, "rookery tuning 2, %s, cublasLt %zu, RWKV %d, %s, C %d F %d V %d P %d G %d", device.c_str(), library_->version(),
             shape_.version->number, shape_.bf16 ? "bf16" : "fp16", shape_.embed, shape_.ffn, shape_.vocab, shape_.rank, shape_.rank_wide);
    return text;
}

void Products::read(const std::string &path, const std::string &device) {
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "r"), fclose);
    if (!file) return; // not tuned yet
    char line[1024];
    if (!fgets(line, sizeof line, file.get()) || identity(device) + "\n" != line) return;
    constexpr int kWords = sizeof(cublasLtMatmulAlgo_t) / sizeof(uint64_t);
    while (fgets(line, sizeof line, file.get())) {
        int product = 0, tokens = 0, used = 0;
        if (sscanf(line, "%d %d%n", &product, &tokens, &used) != 2) continue;
        std::vector<uint64_t> words(kWords);
        int have = 0, more = 0;
        for (const char *at = line + used; have < kWords && sscanf(at, "%" SCNx64 "%n", &words[have], &more) == 1; at += more) have++;
        if (have == kWords) found_[{product, tokens}] = words;
    }
}

void Products::write(const std::string &path, const std::string &device) const {
    const std::string part = path + ".part";
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(part.c_str(), "w"), fclose);
    if (!file) fail(RK_ERR_ARGUMENT, "writing %s: %s", part.c_str(), strerror(errno));
    fprintf(file.get(), "%s\n", identity(device).c_str());
    for (const auto &[key, words] : found_) {
        fprintf(file.get(), "%d %d", key.first, key.second);
        for (uint64_t w : words) fprintf(file.get(), " %" PRIx64, w);
        fprintf(file.get(), "\n");
    }
    bool failed = ferror(file.get());
    failed |= fclose(file.release()) != 0;
    if (failed || rename(part.c_str(), path.c_str()) != 0) fail(RK_ERR_ARGUMENT, "writing %s: %s", path.c_str(), strerror(errno));
}
