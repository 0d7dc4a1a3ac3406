// v5.cu: RWKV-5.2, 5.1 and 5.0 (x052, x051, x050): RWKV-6 without what depends on the token.
//
//   k, v, r, g = W x_{k,v,r,g} ;  x_i = xn + (prev - xn) ⊙ mix_i ;  then the time mix (timemix_head.h)
//
// with w = exp(-exp(time_decay)) and u = time_faaaa, one for each channel. RWKV-5.1 and 5.0 have
// one for each head, RWKV-5.0 has no gate. The files' mixes are those of xn: mix_i = 1 - theirs.
// The channel mix is that of gated.h. mixed and rkv are [4][T_max][C], k, v, r, g; without a
// gate [3][T_max][C].
#include "engine/version.h"

#include "layer/gated.h"

namespace {

void round_ranks(Shape &) {}

// time_decay and u of each head are repeated for its channels.
template <bool kHeads, bool kGate> void place(Model &m, int index, const std::string &block) {
    const Shape &s = m.shape;
    Layer &l = m.layers[index];
    const int64_t c = s.embed;
    const std::string att = block + "att.", ffn = block + "ffn.";
    const Form mixes{1, Form::Complement}, each{kHeads ? s.head_size : 1};
    std::vector<std::string> mix = {att + "time_mix_k", att + "time_mix_v", att + "time_mix_r"};
    std::vector<std::string> rkv = {att + "key.weight", att + "value.weight", att + "receptance.weight"};
    if (kGate) {
        mix.push_back(att + "time_mix_g");
        rkv.push_back(att + "gate.weight");
    }
    l.mix = m.vectors(mix, c, mixes);
    l.mix_ffn = m.vectors({ffn + "time_mix_k", ffn + "time_mix_r"}, c, mixes);
    l.w0 = m.vector(att + "time_decay", c, each);
    // Older files of RWKV-5.1 and 5.0 have its logarithm.
    const std::string u = att + "time_faaaa", log_u = att + "time_first";
    float *values = m.floats(c);
    m.place(u, Placing::Vector, 1, c / each.repeat, values, 0, {}, each, log_u);
    m.place(log_u, Placing::Vector, 1, c / each.repeat, values, 0, {}, {each.repeat, Form::Exponential}, u);
    l.r_k = values;
    l.ln_x_weight = m.vector(att + "ln_x.weight", c);
    l.ln_x_bias = m.vector(att + "ln_x.bias", c);
    l.rkv = m.matrices(rkv, c, c);
    place_gated(m, index, ffn);
}

Path choose(const Pass &p) { return choose_static(p, mix_decay); }

} // namespace

const Version v52{RK_V52, "RWKV-5.2", 0, true, kGatedTargets, {4, 5, 4, 0, 2, false, false}, round_ranks, place<false, true>, static_products, static_operands, choose};
const Version v51{RK_V51, "RWKV-5.1", 0, true, kGatedTargets, {4, 5, 4, 0, 2, false, false}, round_ranks, place<true, true>, static_products, static_operands, choose};
const Version v50{RK_V50, "RWKV-5.0", 0, true, kUngatedTargets, {3, 5, 3, 0, 2, false, false}, round_ranks, place<true, false>, static_products, static_operands, choose};
