// v6.cu: RWKV-6 (x060): its tensors, its products, and the plain stages of its layers.
//
//   z = tanh(W1 (xn + δ ⊙ mix_all)) ;  x_i = xn + δ ⊙ (mix_i + W2_i z_i)      i = w, k, v, r, g
//   k, v, r, g = W x_{k,v,r,g} ;  d = U tanh(D x_w) ;  then the time mix (timemix_head.h)
//   x += σ(R x_r) ⊙ V relu²(K x_k)                                            the channel mix
//
// with δ = prev - xn. Buffers where they differ from RWKV-7's (M is the rank of a mix, rounded
// up to 32, 64 or 128, P_g = 5 M, P the decay's):
//
//   mixed     [5][T_max][C]: w, k, v, r, g; in the channel mix k, r
//   rkv       [4][T_max][C]: k, v, r, g; in the channel mix its receptance
//   low       [T_max][P]      low_wide [T_max][5 M]: z
//   up        [5][T_max][C]: d in the first part; the others for changed inputs (adapted_gated.cu)
//
// Weights: mix [5][C] and mix_ffn [2][C] in the same orders; rkv [4][C][C]; down [P][C], up
// [C][P]; down_g [5][M][C], up_g [5][C][M]; key [F][C] with receptance [C][C] after it.
#include "engine/version.h"

#include "layer/gated.h"
#include "layer/gemv.h"
#include "layer/wgmma.h"

namespace {

enum Rank { kMix, kDecay }; // of Shape::ranks
constexpr int kMixes = 5;

int mix_rank(const Shape &s) { return s.rank_wide / kMixes; }

void round_ranks(Shape &s) {
    constexpr int kMost = 128; // of a mix
    if (s.ranks[kMix] > kMost) fail(RK_ERR_ARGUMENT, "no kernel for mixes of rank %d: at most %d", s.ranks[kMix], kMost);
    const int rank = s.ranks[kMix] > 64 ? kMost : (int)round_up(s.ranks[kMix], 32);
    s.rank = (int)round_up(s.ranks[kDecay], 32);
    s.rank_wide = kMixes * rank;
}

void place(Model &m, int index, const std::string &block) {
    const Shape &s = m.shape;
    Layer &l = m.layers[index];
    const int64_t c = s.embed, rank = mix_rank(s);
    const std::string att = block + "att.", ffn = block + "ffn.";
    l.mix_all = m.vector(att + "time_maa_x", c);
    l.mix = m.vectors({att + "time_maa_w", att + "time_maa_k", att + "time_maa_v", att + "time_maa_r", att + "time_maa_g"}, c);
    l.mix_ffn = m.vectors({ffn + "time_maa_k", ffn + "time_maa_r"}, c);
    l.w0 = m.vector(att + "time_decay", c);
    l.r_k = m.vector(att + "time_faaaa", c);
    l.ln_x_weight = m.vector(att + "ln_x.weight", c);
    l.ln_x_bias = m.vector(att + "ln_x.bias", c);
    l.rkv = m.matrices({att + "key.weight", att + "value.weight", att + "receptance.weight", att + "gate.weight"}, c, c);

    void *wide_down = m.elements(s.rank_wide * c), *wide_up = m.elements(c * s.rank_wide);
    const int64_t each = s.ranks[kMix];
    m.place(att + "time_maa_w1", Placing::Transposed, c, kMixes * each, wide_down, c, {INT64_MAX, 0, each, rank});
    m.place(att + "time_maa_w2", Placing::Transposed, kMixes * each, c, wide_up, rank, {each, c * rank, INT64_MAX, 0});
    l.down_g = wide_down;
    l.up_g = wide_up;
    void *down = m.elements(s.rank * c), *up = m.elements(c * s.rank);
    m.place(att + "time_decay_w1", Placing::Transposed, c, s.ranks[kDecay], down, c);
    m.place(att + "time_decay_w2", Placing::Transposed, s.ranks[kDecay], c, up, s.rank);
    l.down = down;
    l.up = up;
    place_gated(m, index, ffn);
}

void products(const Shape &s, int64_t room, ProductSpecs &specs) {
    const int64_t c = s.embed;
    specs[(int)Product::Rkv] = {c, c, 4, c * c, room * c, room * c};
    specs[(int)Product::Down] = {s.rank, c};
    specs[(int)Product::Up] = {c, s.rank};
    specs[(int)Product::DownWide] = {s.rank_wide, c};
    gated_products(s, specs);
}

std::vector<Operands> operands(const Shape &, const Activations &a) {
    std::vector<Operands> all = {{Product::Rkv, &Layer::rkv, a.mixed, a.rkv}, {Product::Down, &Layer::down, a.mixed, a.low}, {Product::Up, &Layer::up, a.low, a.up},
                                 {Product::DownWide, &Layer::down_g, a.mixed, a.low_wide}};
    add_gated_operands(a, all);
    return all;
}

} // namespace

void mix_inputs(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    shift_mixes(p, layer);
    p.products->multiply(Product::DownWide, l.down_g, p.act.mixed, p.act.low_wide, n, p.stream);
    activate_tanh(p, p.act.low_wide, (int64_t)p.tokens * p.shape->rank_wide);
    shift_mixed(p, layer);
}

void project_v6(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    mix_inputs(p, layer);
    p.products->multiply(Product::Down, l.down, p.act.mixed, p.act.low, n, p.stream);
    p.products->multiply(Product::Rkv, l.rkv, part(p, p.act.mixed, 1, p.shape->embed), p.act.rkv, n, p.stream);
    activate_tanh(p, p.act.low, (int64_t)p.tokens * p.shape->rank);
    p.products->multiply(Product::Up, l.up, p.act.low, p.act.up, n, p.stream);
}

namespace {

Path choose(const Pass &p) {
    if (p.adapted != Adapted::No) return {project_v6_adapted, mix_decay, output_adapted, key_gated_adapted, value_gated_adapted};
    if (takes_gemv(p)) return {project_v6_gemv, mix_decay, output_gemv, key_gated_gemv, value_gated_gemv};
    if (takes_wgmma(p)) return {project_v6_wgmma, mix_decay, output_wgmma, key_gated_wgmma, value_gated_wgmma};
    return {project_v6, mix_decay, output, key_gated, value_gated};
}

} // namespace

const Version v6{RK_V6, "RWKV-6", 2, true, kGatedTargets, {5, 5, 4, 1, 5, false, true}, round_ranks, place, products, operands, choose};
