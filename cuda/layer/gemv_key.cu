// gemv_key.cu: the FFN's key product for few tokens, and with it its receptance, if it has one:
//
//   hidden = relu²(K x_k) ;  gate = R x_r ;  x_i = xn + (prev - xn) ⊙ mix_i ,  xn = LN(x; ln2)
//
// x is fp32 [T][C], K is E [F][C], hidden is E [T][F], gate is E [T][C] (in rkv). All blocks here read the old
// shift, so that value_sparse writes the new one.
#include "layer/element.h"
#include "layer/gemv.h"
#include "layer/gemv_product.h"

namespace {

template <typename E> struct SquareSink {
    E *hidden, *gate;
    int ffn, channels;

    __host__ __device__ int kind(int row) const { return row >= ffn; }
    __device__ float before(int, int) const { return 0; }
    __device__ void store(int row, int token, float sum, float) const {
        if (row >= ffn) {
            gate[(int64_t)token * channels + row - ffn] = from_float<E>(sum);
            return;
        }
        sum = fmaxf(sum, 0.0f);
        hidden[(int64_t)token * ffn + row] = from_float_bounded<E>(sum * sum);
    }
};

// Of so many kinds of inputs: two with receptance.
void multiply_key(const Pass &p, int layer, int kinds) {
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed, f = p.shape->ffn;
    const float *shift = p.slots.shifts + (int64_t)layer * (p.slots.slots + 1) * 2 * c + c;
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const Rows<E> rows{{static_cast<const E *>(l.key), static_cast<const E *>(l.receptance)}, {f / kTileRows, kinds > 1 ? c / kTileRows : 0}};
        product_of_norm<E, true>({p.act.x, l.ln2_weight, l.ln2_bias, l.mix_ffn, shift, p.row_slot, nullptr, p.act.next_shift, c, p.tokens, kinds, true}, rows,
                                 SquareSink<E>{static_cast<E *>(p.act.hidden), static_cast<E *>(p.act.rkv), f, c}, static_cast<E *>(p.act.mixed),
                                 p.act.token_room * c, p.stream);
    });
}

} // namespace

void key_gemv(const Pass &p, int layer) { multiply_key(p, layer, 1); }

void key_gated_gemv(const Pass &p, int layer) { multiply_key(p, layer, 2); }
