// gated.cu: gated.h by products of cuBLASLt, and the paths of versions without mixes that depend on
// the token.
#include "layer/gated.h"

#include "layer/gemv.h"
#include "layer/wgmma.h"

void place_gated(Model &m, int layer, const std::string &ffn) {
    const int64_t c = m.shape.embed, f = m.shape.ffn;
    void *both = m.elements((f + c) * c);
    m.place(ffn + "key.weight", Placing::Matrix, f, c, both);
    m.place(ffn + "receptance.weight", Placing::Matrix, c, c, m.offset(both, f * c));
    m.layers[layer].key = both;
    m.layers[layer].receptance = m.offset(both, f * c);
}

void gated_products(const Shape &s, ProductSpecs &specs) {
    const int64_t c = s.embed;
    specs[(int)Product::Receptance] = {c, c};
    specs[(int)Product::Value] = {c, s.ffn, 1, 0, 0, 0, true, false, true};
}

void add_gated_operands(const Activations &a, std::vector<Operands> &all) {
    all.push_back({Product::Key, &Layer::key, a.mixed, a.hidden});
    all.push_back({Product::Receptance, &Layer::receptance, a.mixed, a.rkv});
    all.push_back({Product::Value, &Layer::value, a.hidden, a.up});
}

void key_gated(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    shift_ffn_gated(p, layer);
    p.products->multiply(Product::Key, l.key, p.act.mixed, p.act.hidden, n, p.stream);
    p.products->multiply(Product::Receptance, l.receptance, part(p, p.act.mixed, 1, p.shape->embed), p.act.rkv, n, p.stream);
    square_hidden(p);
}

void value_gated(const Pass &p, int layer) {
    p.products->multiply(Product::Value, p.model->layers[layer].value, p.act.hidden, p.act.up, Products::padded(p.tokens), p.stream);
    add_gated(p, p.act.rkv, static_cast<const float *>(p.act.up));
}

void static_products(const Shape &s, int64_t room, ProductSpecs &specs) {
    const int64_t c = s.embed;
    specs[(int)Product::Rkv] = {c, c, s.version->parts.rkv, c * c, room * c, room * c};
    gated_products(s, specs);
}

std::vector<Operands> static_operands(const Shape &, const Activations &a) {
    std::vector<Operands> all = {{Product::Rkv, &Layer::rkv, a.mixed, a.rkv}};
    add_gated_operands(a, all);
    return all;
}

void project_static(const Pass &p, int layer) {
    shift_attention(p, layer);
    p.products->multiply(Product::Rkv, p.model->layers[layer].rkv, p.act.mixed, p.act.rkv, Products::padded(p.tokens), p.stream);
}

Path choose_static(const Pass &p, Stage mix) {
    if (p.adapted != Adapted::No) return {project_static_adapted, mix, output_adapted, key_gated_adapted, value_gated_adapted};
    if (takes_gemv(p)) return {project_static, mix, output_gemv, key_gated_gemv, value_gated_gemv};
    if (takes_wgmma(p)) return {project_static, mix, output_wgmma, key_gated_wgmma, value_gated_wgmma};
    return {project_static, mix, output, key_gated, value_gated};
}
