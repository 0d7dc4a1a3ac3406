// v7.cu: RWKV-7 (x070): its tensors, its products, and the plain stages of its layers.
#include "engine/version.h"

#include "layer/gemv.h"
#include "layer/wgmma.h"

namespace {

enum Rank { kW, kA, kV, kG }; // of Shape::ranks
constexpr uint32_t kTargets = 1 << RK_RECEPTANCE | 1 << RK_KEY | 1 << RK_VALUE | 1 << RK_OUTPUT | 1 << RK_FFN_KEY | 1 << RK_FFN_VALUE | 1 << RK_HEAD;

void round_ranks(Shape &s) {
    s.rank = (int)round_up(std::max({s.ranks[kW], s.ranks[kA], s.ranks[kV]}), 32);
    s.rank_wide = (int)round_up(s.ranks[kG], 32);
}

void place(Model &m, int index, const std::string &block) {
    const Shape &s = m.shape;
    Layer &l = m.layers[index];
    const int64_t c = s.embed, p = s.rank, pg = s.rank_wide;
    const std::string att = block + "att.", ffn = block + "ffn.";
    l.mix = m.vectors({att + "x_r", att + "x_k", att + "x_v", att + "x_w", att + "x_a", att + "x_g"}, c);
    l.mix_ffn = m.vector(ffn + "x_k", c);
    l.w0 = m.vector(att + "w0", c);
    l.a0 = m.vector(att + "a0", c);
    l.k_k = m.vector(att + "k_k", c);
    l.k_a = m.vector(att + "k_a", c);
    l.r_k = m.vector(att + "r_k", c);
    l.ln_x_weight = m.vector(att + "ln_x.weight", c);
    l.ln_x_bias = m.vector(att + "ln_x.bias", c);
    l.rkv = m.matrices({att + "receptance.weight", att + "key.weight", att + "value.weight"}, c, c);

    void *down = m.elements(3 * p * c), *up = m.elements(3 * c * p);
    const struct {
        const char *name;
        int64_t rank;
    } branches[] = {{"v", s.ranks[kV]}, {"w", s.ranks[kW]}, {"a", s.ranks[kA]}};
    for (int b = 0; b < 3; b++) {
        const bool ignored = b == 0 && index == 0;
        const std::string name = att + branches[b].name;
        m.place(name + "1", Placing::Transposed, c, branches[b].rank, ignored ? nullptr : m.offset(down, b * p * c), c);
        m.place(name + "2", Placing::Transposed, branches[b].rank, c, ignored ? nullptr : m.offset(up, b * c * p), p);
    }
    l.down = down;
    l.up = up;
    if (index == 0) {
        m.place(att + "v0", Placing::Vector, 1, c, nullptr);
        l.v0 = nullptr;
    } else {
        l.v0 = m.vector(att + "v0", c);
    }

    void *down_g = m.elements(pg * c), *up_g = m.elements(c * pg);
    m.place(att + "g1", Placing::Transposed, c, s.ranks[kG], down_g, c);
    m.place(att + "g2", Placing::Transposed, s.ranks[kG], c, up_g, pg);
    l.down_g = down_g;
    l.up_g = up_g;
    l.key = m.matrix(ffn + "key.weight", s.ffn, c);
}

void products(const Shape &s, int64_t room, ProductSpecs &specs) {
    const int64_t c = s.embed, p = s.rank;
    specs[(int)Product::Rkv] = {c, c, 3, c * c, room * c, room * c};
    specs[(int)Product::Down] = {p, c, 3, p * c, room * c, room * p};
    specs[(int)Product::Up] = {c, p, 3, c * p, room * p, room * c};
    specs[(int)Product::DownWide] = {s.rank_wide, c};
    specs[(int)Product::UpWide] = {c, s.rank_wide};
}

std::vector<Operands> operands(const Shape &, const Activations &a) {
    return {{Product::Rkv, &Layer::rkv, a.mixed, a.rkv},   {Product::Down, &Layer::down, a.mixed, a.low},    {Product::DownWide, &Layer::down_g, a.mixed, a.low_wide},
            {Product::Up, &Layer::up, a.low, a.up},        {Product::UpWide, &Layer::up_g, a.low_wide, a.up}, {Product::Key, &Layer::key, a.mixed, a.hidden},
            {Product::Value, &Layer::value, a.hidden, a.x}};
}

Path choose(const Pass &p) {
    if (p.adapted != Adapted::No) return {project_adapted, mix, output_adapted, key_adapted, value_adapted};
    if (takes_gemv(p)) return {project_gemv, mix, output_gemv, key_gemv, value_sparse};
    if (takes_wgmma(p)) return {project_wgmma, mix, output_wgmma, key_wgmma, value_wgmma};
    return {project, mix, output, key, value};
}

} // namespace

void project(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    const int64_t c = p.shape->embed;
    shift_attention(p, layer);
    p.products->multiply(Product::Rkv, l.rkv, p.act.mixed, p.act.rkv, n, p.stream);
    p.products->multiply(Product::Down, l.down, part(p, p.act.mixed, 2, c), p.act.low, n, p.stream);
    p.products->multiply(Product::DownWide, l.down_g, part(p, p.act.mixed, 5, c), p.act.low_wide, n, p.stream);
    activate_low(p);
    project_up(p, layer);
}

void project_up(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    p.products->multiply(Product::Up, l.up, p.act.low, p.act.up, n, p.stream);
    p.products->multiply(Product::UpWide, l.up_g, p.act.low_wide, part(p, p.act.up, 3, p.shape->embed), n, p.stream);
}

void key(const Pass &p, int layer) {
    shift_ffn(p, layer);
    p.products->multiply(Product::Key, p.model->layers[layer].key, p.act.mixed, p.act.hidden, Products::padded(p.tokens), p.stream);
    square_hidden(p);
}

void value(const Pass &p, int layer) {
    p.products->multiply(Product::Value, p.model->layers[layer].value, p.act.hidden, p.act.x, Products::padded(p.tokens), p.stream);
}

const Version v7{RK_V7, "RWKV-7", 4, true, kTargets, {6, 6, 3, 3, 4, true, false}, round_ranks, place, products, operands, choose};
