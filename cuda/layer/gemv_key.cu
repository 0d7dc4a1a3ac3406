// gemv_key.cu: the FFN's key product for few tokens:
//
//   hidden = relu²(K x_k),  x_k = xn + (prev - xn) ⊙ mix,  xn = LN(x; ln2)
//
// x is fp32 [T][C], K is E [F][C], hidden is E [T][F]. All blocks here read the old
// shift, so that value_sparse writes the new one.
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_product.h"

namespace {

template <typename E> struct SquareSink {
    E *hidden;
    int ffn;

    __host__ __device__ int kind(int) const { return 0; }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const {
        sum = fmaxf(sum, 0.0f);
        hidden[(int64_t)token * ffn + row] = from_float_bounded<E>(sum * sum);
    }
};

} // namespace

void key_gemv(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed, f = p.shape->ffn;
    const float *shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c + c;
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        product_of_norm<E, true>({p.act.x, l.ln2_weight, l.ln2_bias, l.mix_ffn, shift, p.row_slot, nullptr, p.act.next_shift, c, p.tokens, 1, true},
                                 Rows<E>{{static_cast<const E *>(l.key)}, {f / kTileRows}}, SquareSink<E>{static_cast<E *>(p.act.hidden), f},
                                 static_cast<E *>(p.act.mixed), p.act.token_room * c, p.stream);
    });
}
