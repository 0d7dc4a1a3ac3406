// gemv_output.cu: the attention's output product and the head for few tokens:
//
//   x += W y ;  logits = H LN(x; ln_out)
//
// x and logits are fp32 ([T][C], [outputs][logits_stride]), y is E [T][C], W is E [C][C],
// H is E [V][C].
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_product.h"

namespace {

struct AddSink {
    float *x;
    int channels;

    __host__ __device__ int kind(int) const { return 0; }
    __device__ float before(int row, int token) const { return x[(int64_t)token * channels + row]; }
    __device__ void store(int row, int token, float sum, float before) const { x[(int64_t)token * channels + row] = before + sum; }
};

struct LogitSink {
    float *logits;
    int64_t stride;

    __host__ __device__ int kind(int) const { return 0; }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const { logits[token * stride + row] = sum; }
};

} // namespace

void output_gemv(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int c = p.shape->embed;
        const Rows<E> rows{{static_cast<const E *>(p.model->layers[layer].output)}, {c / kTileRows}};
        product(rows, PlainInput<E>{static_cast<const E *>(p.act.y), 0, c, p.tokens}, AddSink{p.act.x, c}, p.stream);
    });
}

void head_gemv(const Pass &p) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const Shape &s = *p.shape;
        const Rows<E> rows{{static_cast<const E *>(p.model->head)}, {s.vocab / kTileRows}};
        product_of_norm<E, false>({p.act.x, p.model->ln_out_weight, p.model->ln_out_bias, nullptr, nullptr, nullptr, p.output_row,
                                   nullptr, s.embed, p.outputs, 1, true},
                                  rows, LogitSink{p.act.logits, p.act.logits_stride}, static_cast<E *>(p.act.last), 0, p.stream);
    });
}
