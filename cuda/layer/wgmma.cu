// wgmma.cu: the stages of wgmma.h: which products go into which launch, and up to how many
// tokens.
#include "layer/wgmma.h"

#include "device/hopper.h"
#include "engine/forward.h"
#include "layer/gated.h"

namespace {

using wgmma::Finish;

// Part i of buffers of E, each of size values.
void *part(const void *base, int64_t i, int64_t size) { return static_cast<uint16_t *>(const_cast<void *>(base)) + i * size; }

bool is_narrow(const Pass &p) { return p.shape->embed <= wgmma::kNarrowInputs; }

bool is_wide(const Pass &p) { return p.shape->embed >= wgmma::kWideInputs; }

// Whether output, key or value alone is faster here than by cuBLASLt.
bool is_fast(const Pass &p, Product product) {
    if (product == Product::Value) return p.tokens <= wgmma::kValueTokens && !is_wide(p);
    return p.tokens <= (is_wide(p) ? wgmma::kFewTokens / 2 : wgmma::kFewTokens);
}

wgmma::Products products(const Pass &p) {
    wgmma::Products all;
    all.tokens = p.tokens;
    all.narrow = is_narrow(p);
    all.late = p.adapted != Adapted::No; // the narrow products of adapters run beside a product and read its inputs
    return all;
}

void multiply(const Pass &p, const wgmma::Products &all) {
    const auto multiply = p.shape->bf16 ? wgmma::multiply_bf16 : wgmma::multiply_half;
    multiply(all, {p.act.partial, p.act.arrived}, p.stream);
}

// Runs one product in a launch of its own.
void multiply_alone(const Pass &p, const wgmma::Product &product, bool across = false) {
    wgmma::Products all = products(p);
    all.across = across;
    all.add(product);
    multiply(p, all);
}

// The same by tiles of few tokens: where either side of the product is short, larger tiles are
// too few for all blocks.
void multiply_narrow(const Pass &p, const wgmma::Product &product) {
    wgmma::Products all = products(p);
    all.narrow = true;
    all.add(product);
    multiply(p, all);
}

// project_up in one launch.
void project_up_wgmma(const Pass &p, int layer) {
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const int64_t c = s.embed, room = p.act.token_room;
    wgmma::Products all = products(p);
    for (int i = 0; i < 3; i++)
        all.add({part(l.up, i, c * s.rank), part(p.act.low, i, room * s.rank), part(p.act.up, i, room * c), s.embed, s.rank, Finish::Store});
    all.add({l.up_g, p.act.low_wide, part(p.act.up, 3, room * c), s.embed, s.rank_wide, Finish::Store});
    multiply(p, all);
}

} // namespace

bool takes_wgmma(const Pass &p) { return p.tokens <= (is_narrow(p) ? wgmma::kMostNarrowTokens : wgmma::kMostTokens) && hopper::is_current(); }

bool takes_wgmma_up(const Pass &p) { return p.tokens <= wgmma::kFewTokens || is_narrow(p); }

void project_wgmma(const Pass &p, int layer) {
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const int64_t c = s.embed, room = p.act.token_room;
    shift_attention(p, layer);
    wgmma::Products all = products(p);
    for (int i = 0; i < 3; i++)
        all.add({part(l.rkv, i, c * c), part(p.act.mixed, i, room * c), part(p.act.rkv, i, room * c), s.embed, s.embed, Finish::Store});
    for (int i = 0; i < 3; i++) // v, w, a
        all.add({part(l.down, i, s.rank * c), part(p.act.mixed, 2 + i, room * c), part(p.act.low, i, room * s.rank), s.rank, s.embed,
                 i == 1 ? Finish::Tanh : Finish::Store});
    all.add({l.down_g, part(p.act.mixed, 5, room * c), p.act.low_wide, s.rank_wide, s.embed, Finish::Sigmoid});
    multiply(p, all);
    if (takes_wgmma_up(p))
        project_up_wgmma(p, layer);
    else
        project_up(p, layer);
}

bool multiply_wgmma(const Pass &p, Product product, const void *w, const void *x, void *y) {
    if (!takes_wgmma(p) || !is_fast(p, product)) return false;
    const int c = p.shape->embed, f = p.shape->ffn;
    if (product == Product::Key)
        multiply_alone(p, {w, x, y, f, c, Finish::Store});
    else if (product == Product::Value)
        multiply_alone(p, {w, x, y, c, f, Finish::Add}, true);
    else
        multiply_alone(p, {w, x, y, c, c, Finish::Add});
    return true;
}

void output_wgmma(const Pass &p, int layer) {
    if (!multiply_wgmma(p, Product::Output, p.model->layers[layer].output, p.act.y, p.act.x)) output(p, layer);
}

void key_wgmma(const Pass &p, int layer) {
    if (!is_fast(p, Product::Key)) return key(p, layer);
    shift_ffn(p, layer);
    multiply_alone(p, {p.model->layers[layer].key, p.act.mixed, p.act.hidden, p.shape->ffn, p.shape->embed, Finish::Square});
}

void value_wgmma(const Pass &p, int layer) {
    if (!multiply_wgmma(p, Product::Value, p.model->layers[layer].value, p.act.hidden, p.act.x)) value(p, layer);
}

void project_v6_wgmma(const Pass &p, int layer) {
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const int c = s.embed;
    const int64_t all_tokens = p.act.token_room * c;
    shift_mixes(p, layer);
    multiply_narrow(p, {l.down_g, p.act.mixed, p.act.low_wide, s.rank_wide, c, Finish::Tanh});
    shift_mixed(p, layer);
    wgmma::Products all = products(p);
    for (int i = 0; i < 4; i++)
        all.add({part(l.rkv, i, (int64_t)c * c), part(p.act.mixed, 1 + i, all_tokens), part(p.act.rkv, i, all_tokens), c, c, Finish::Store});
    all.add({l.down, p.act.mixed, p.act.low, s.rank, c, Finish::Tanh});
    multiply(p, all);
    multiply_narrow(p, {l.up, p.act.low, p.act.up, c, s.rank, Finish::Store});
}

void key_gated_wgmma(const Pass &p, int layer) {
    if (!is_fast(p, Product::Key)) return key_gated(p, layer);
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed;
    shift_ffn_gated(p, layer);
    wgmma::Products all = products(p);
    all.add({l.key, p.act.mixed, p.act.hidden, p.shape->ffn, c, Finish::Square});
    all.add({l.receptance, part(p.act.mixed, 1, p.act.token_room * c), p.act.rkv, c, c, Finish::Store});
    multiply(p, all);
}

void value_gated_wgmma(const Pass &p, int layer) {
    if (!is_fast(p, Product::Value)) return value_gated(p, layer);
    multiply_alone(p, {p.model->layers[layer].value, p.act.hidden, p.act.x, p.shape->embed, p.shape->ffn, Finish::Add, p.act.rkv}, true);
}
