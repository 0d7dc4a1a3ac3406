// v4.cu: RWKV-4 (x040): its tensors. The time mix is in layer/wkv4.cu, the channel mix in gated.h,
// what it has in common with RWKV-5 there too. It has no head norm, no gate and no heads.
#include "engine/version.h"

#include "layer/gated.h"

namespace {

void round_ranks(Shape &s) {
    if (s.head_size != 1) fail(RK_ERR_ARGUMENT, "RWKV-4 with heads of %d: it has none, the size is 1", s.head_size);
}

void place(Model &m, int index, const std::string &block) {
    Layer &l = m.layers[index];
    const int64_t c = m.shape.embed;
    const std::string att = block + "att.", ffn = block + "ffn.";
    const Form mixes{1, Form::Complement};
    l.mix = m.vectors({att + "time_mix_k", att + "time_mix_v", att + "time_mix_r"}, c, mixes);
    l.mix_ffn = m.vectors({ffn + "time_mix_k", ffn + "time_mix_r"}, c, mixes);
    l.w0 = m.vector(att + "time_decay", c);
    l.r_k = m.vector(att + "time_first", c);
    l.rkv = m.matrices({att + "key.weight", att + "value.weight", att + "receptance.weight"}, c, c);
    place_gated(m, index, ffn);
}

Path choose(const Pass &p) { return choose_static(p, mix_v4); }

} // namespace

const Version v4{RK_V4, "RWKV-4", 0, false, kUngatedTargets, {3, 5, 3, 0, 2, false, false}, round_ranks, place, static_products, static_operands, choose};
