// adapted_gated.cu: the stages of layers of RWKV-4 to 6 in which some rows have adapters. Changed
// inputs x' are in `up`, which has at least two parts, where it is free; else in other parts
// of mixed.
#include "layer/adapted.h"
#include "layer/gated.h"
#include "layer/wgmma.h"

namespace {

// The change of k, v, r and, where there is one, g, in the order of rkv.
AdaptArgs adapt_projections(const Pass &p, int layer, const void *x) {
    const int64_t room = p.act.token_room * p.shape->embed;
    return p.shape->version->parts.rkv > 3 ? adapt_inputs(p, layer, {RK_KEY, RK_VALUE, RK_RECEPTANCE, RK_GATE}, x, room, p.shape->embed)
                                           : adapt_inputs(p, layer, {RK_KEY, RK_VALUE, RK_RECEPTANCE}, x, room, p.shape->embed);
}

void add_projections(const Pass &p, const AdaptArgs &a) {
    add_outputs(p, a, Outputs::Elements, p.act.rkv, p.act.token_room * p.shape->embed, p.shape->embed, p.shape->embed);
}

} // namespace

void project_v6_adapted(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int64_t c = p.shape->embed;
    const int n = Products::padded(p.tokens);
    AdaptArgs a = adapt_projections(p, layer, part(p, p.act.mixed, 1, c));
    if (p.adapted == Adapted::Reshaped) {
        mix_inputs(p, layer);
        p.products->multiply(Product::Down, l.down, p.act.mixed, p.act.low, n, p.stream);
        const void *x = reshape(p, a, part(p, p.act.up, 1, c), a.x_part, p.tokens);
        p.products->multiply(Product::Rkv, l.rkv, x, p.act.rkv, n, p.stream);
        activate_tanh(p, p.act.low, (int64_t)p.tokens * p.shape->rank);
        p.products->multiply(Product::Up, l.up, p.act.low, p.act.up, n, p.stream);
    } else if (takes_wgmma(p)) {
        project_v6_wgmma(p, layer);
        a.ready = Ready::InputsAndOutputs; // only low to up is still running
    } else {
        project_v6(p, layer);
    }
    add_projections(p, a);
}

void project_static_adapted(const Pass &p, int layer) {
    const AdaptArgs a = adapt_projections(p, layer, p.act.mixed);
    shift_attention(p, layer);
    for (int i = 0; i < a.products; i++) { // one by one: there is no room for all changed inputs
        AdaptArgs one = a;
        one.change[0] = a.change[i];
        one.products = 1;
        one.x = part(p, p.act.mixed, i, p.shape->embed);
        const void *w = Model::offset(const_cast<void *>(p.model->layers[layer].rkv), i * (int64_t)p.shape->embed * p.shape->embed);
        void *y = part(p, p.act.rkv, i, p.shape->embed);
        p.products->multiply(Product::Receptance, w, reshape(p, one, p.act.up, 0, p.tokens), y, Products::padded(p.tokens), p.stream);
    }
    add_projections(p, a);
}

void key_gated_adapted(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int c = p.shape->embed, f = p.shape->ffn;
    const int64_t room = p.act.token_room * c;
    void *second = part(p, p.act.mixed, 1, c);
    shift_ffn_gated(p, layer);
    AdaptArgs receptance = adapt_inputs(p, layer, {RK_FFN_RECEPTANCE}, second, 0, c), key = adapt_inputs(p, layer, {RK_FFN_KEY}, p.act.mixed, 0, c);
    p.products->multiply(Product::Receptance, l.receptance, reshape(p, receptance, p.act.up, room, p.tokens), p.act.rkv, Products::padded(p.tokens), p.stream);
    add_outputs(p, receptance, Outputs::Elements, p.act.rkv, 0, c, c);
    key.ready = multiply_or_else(p, Product::Key, l.key, reshape(p, key, p.act.up, room, p.tokens), p.act.hidden);
    add_outputs(p, key, Outputs::Squares, p.act.hidden, 0, f, f);
}

void value_gated_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    const AdaptArgs a = adapt_inputs(p, layer, {RK_FFN_VALUE}, p.act.hidden, 0, p.shape->ffn);
    const bool room = p.shape->ffn <= p.shape->version->parts.mixed * c; // Adapters::check refuses changed inputs otherwise
    const void *x = room ? reshape(p, a, p.act.mixed, 0, p.tokens) : p.act.hidden;
    p.products->multiply(Product::Value, p.model->layers[layer].value, x, p.act.up, Products::padded(p.tokens), p.stream);
    add_outputs(p, a, Outputs::Floats, p.act.up, 0, c, c);
    add_gated(p, p.act.rkv, static_cast<const float *>(p.act.up));
}
