// plain_blaslt.cu: a stand-in for cuBLASLt, for tools that cannot follow its kernels:
// the functions that blaslt.cu looks up, by one kernel without shared memory, a thread
// a value. ROOKERY_CUBLASLT names the library made of it; see sanitize.sh. What
// blaslt.cu does not ask for is refused.
#include <cublasLt.h>

#include <cstring>
#include <new>

#include "device/gpu.h"

namespace {

struct Desc {
    bool transposes_a = false;
};

// A matrix in columns, `stride` values from one of the batch to the next.
struct Layout {
    cudaDataType_t type;
    int64_t rows, columns, column;
    int32_t batch = 1;
    int64_t stride = 0;
};

struct Product {
    int64_t m, n, k;
    int64_t a_row, a_step, a_batch; // values between rows of op(A), between its columns
    int64_t b_column, b_batch, d_column, d_batch;
    float alpha, beta;
};

// D = alpha op(A) B + beta D
template <typename E, typename R> __global__ void multiply(Product p, const E *a, const E *b, R *d) {
    const int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, column = blockIdx.y;
    if (row >= p.m) return;
    a += blockIdx.z * p.a_batch + row * p.a_row;
    b += blockIdx.z * p.b_batch + column * p.b_column;
    d += blockIdx.z * p.d_batch + column * p.d_column + row;
    float sum = 0;
    for (int64_t i = 0; i < p.k; i++) sum += to_float(a[i * p.a_step]) * to_float(b[i]);
    sum *= p.alpha;
    if (p.beta != 0) sum += p.beta * to_float(*d); // memory that is not added may hold anything
    *d = from_float<R>(sum);
}

template <typename E, typename R> cublasStatus_t launch(const Product &p, int batch, const void *a, const void *b, void *d, gpuStream stream) {
    constexpr int kThreads = 128;
    const dim3 blocks((unsigned)ceil_div(p.m, kThreads), (unsigned)p.n, (unsigned)batch);
    multiply<E, R><<<blocks, kThreads, 0, stream>>>(p, static_cast<const E *>(a), static_cast<const E *>(b), static_cast<R *>(d));
    return gpuLastError() == gpuSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Loads a kernel, which may not be done while a stream is captured.
template <typename E, typename R> bool loads() {
    cudaFuncAttributes unused;
    return cudaFuncGetAttributes(&unused, multiply<E, R>) == cudaSuccess;
}

const Desc &desc_of(cublasLtMatmulDesc_t d) { return *reinterpret_cast<const Desc *>(d); }
const Layout &layout_of(cublasLtMatrixLayout_t l) { return *reinterpret_cast<const Layout *>(l); }

template <typename T, typename Handle> cublasStatus_t make(Handle *to, const T &value) {
    T *made = new (std::nothrow) T(value);
    *to = reinterpret_cast<Handle>(made);
    return made ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

template <typename T> cublasStatus_t read(T &to, const void *from, size_t bytes) {
    if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

// Whether this product is supported: the sizes agree, and blaslt.cu uses the types.
bool fits(const Desc &desc, const Layout &a, const Layout &b, const Layout &c, const Layout &d) {
    const int64_t m = desc.transposes_a ? a.columns : a.rows, k = desc.transposes_a ? a.rows : a.columns;
    const bool element = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
    const bool same = c.type == d.type && c.rows == d.rows && c.columns == d.columns && c.column == d.column && c.batch == d.batch && c.stride == d.stride;
    return element && b.type == a.type && (d.type == a.type || d.type == CUDA_R_32F) && same && d.rows == m && b.rows == k && d.columns == b.columns &&
           a.batch == d.batch && b.batch == d.batch && a.column >= a.rows && b.column >= b.rows && d.column >= d.rows;
}

// Returns the only algorithm, which needs no workspace.
cublasStatus_t only_algorithm(bool fits, cublasLtMatmulHeuristicResult_t *result) {
    *result = {};
    result->state = fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
    return result->state;
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    *handle = nullptr; // there is nothing to keep
    return loads<half, half>() && loads<half, float>() && loads<bf16, bf16>() && loads<bf16, float>() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

size_t cublasLtGetVersion() { return 0; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType_t scale) {
    if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    return make(desc, Desc{});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    delete reinterpret_cast<Desc *>(desc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, const void *value, size_t bytes) {
    cublasOperation_t op;
    if (what != CUBLASLT_MATMUL_DESC_TRANSA) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (read(op, value, bytes) != CUBLAS_STATUS_SUCCESS || (op != CUBLAS_OP_N && op != CUBLAS_OP_T)) return CUBLAS_STATUS_INVALID_VALUE;
    reinterpret_cast<Desc *>(desc)->transposes_a = op == CUBLAS_OP_T;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows, uint64_t columns, int64_t column) {
    return make(layout, Layout{type, (int64_t)rows, (int64_t)columns, column});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete reinterpret_cast<Layout *>(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what, const void *value, size_t bytes) {
    Layout &l = *reinterpret_cast<Layout *>(layout);
    if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return read(l.batch, value, bytes);
    if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return read(l.stride, value, bytes);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

// Preferences choose among algorithms, of which there is one.
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    *preference = nullptr;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t, int most,
                                              cublasLtMatmulHeuristicResult_t results[], int *count) {
    *count = 0;
    if (most < 1) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = only_algorithm(fits(desc_of(desc), layout_of(a), layout_of(b), layout_of(c), layout_of(d)), results);
    *count = status == CUBLAS_STATUS_SUCCESS;
    return status;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *,
                                       cublasLtMatmulHeuristicResult_t *result) {
    return only_algorithm(fits(desc_of(desc), layout_of(a), layout_of(b), layout_of(c), layout_of(d)), result);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
    const Layout &la = layout_of(a_layout), &lb = layout_of(b_layout), &ld = layout_of(d_layout);
    const bool transposes = desc_of(desc).transposes_a;
    if (!fits(desc_of(desc), la, lb, layout_of(c_layout), ld) || c != d) return CUBLAS_STATUS_NOT_SUPPORTED;
    Product p{};
    p.m = ld.rows, p.n = ld.columns, p.k = lb.rows;
    p.a_row = transposes ? la.column : 1, p.a_step = transposes ? 1 : la.column, p.a_batch = la.stride;
    p.b_column = lb.column, p.b_batch = lb.stride;
    p.d_column = ld.column, p.d_batch = ld.stride;
    p.alpha = *static_cast<const float *>(alpha), p.beta = *static_cast<const float *>(beta);
    const bool widens = ld.type == CUDA_R_32F;
    if (la.type == CUDA_R_16F) return widens ? launch<half, float>(p, ld.batch, a, b, d, stream) : launch<half, half>(p, ld.batch, a, b, d, stream);
    return widens ? launch<bf16, float>(p, ld.batch, a, b, d, stream) : launch<bf16, bf16>(p, ld.batch, a, b, d, stream);
}
