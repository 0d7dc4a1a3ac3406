// adapted_stages.cu: the stages of layers in which some rows have adapters, of RWKV-7 and those
// that all versions have.
#include "layer/adapted.h"
#include "layer/wgmma.h"

namespace {

// Part `index` of mixed.
void *mixed(const Pass &p, int index) { return part(p, p.act.mixed, index, p.shape->embed); }

// The products of project in another order: those of w, a and g come first, and the
// changed inputs of r, k and v then take the place of theirs.
void project_reshaped(const Pass &p, int layer, const AdaptArgs &a) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    shift_attention(p, layer);
    p.products->multiply(Product::Down, l.down, mixed(p, 2), p.act.low, n, p.stream);
    p.products->multiply(Product::DownWide, l.down_g, mixed(p, 5), p.act.low_wide, n, p.stream);
    p.products->multiply(Product::Rkv, l.rkv, reshape(p, a, mixed(p, 3), a.x_part, p.tokens), p.act.rkv, n, p.stream);
    activate_low(p);
    project_up(p, layer);
}

} // namespace

void project_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    const int64_t room = p.act.token_room * c;
    AdaptArgs a = adapt_inputs(p, layer, {RK_RECEPTANCE, RK_KEY, RK_VALUE}, p.act.mixed, room, c);
    if (p.adapted == Adapted::Reshaped) {
        project_reshaped(p, layer, a);
    } else if (takes_wgmma(p)) {
        project_wgmma(p, layer);
        if (takes_wgmma_up(p)) a.ready = Ready::InputsAndOutputs; // only low to up is still running
    } else {
        project(p, layer);
    }
    add_outputs(p, a, Outputs::Elements, p.act.rkv, room, c, c);
}

void output_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    AdaptArgs a = adapt_inputs(p, layer, {RK_OUTPUT}, p.act.y, 0, c);
    const void *y = reshape(p, a, mixed(p, 0), 0, p.tokens);
    a.ready = multiply_or_else(p, Product::Output, p.model->layers[layer].output, y, p.act.x);
    add_outputs(p, a, Outputs::Floats, p.act.x, 0, c, c);
}

void key_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed, f = p.shape->ffn;
    shift_ffn(p, layer);
    AdaptArgs a = adapt_inputs(p, layer, {RK_FFN_KEY}, p.act.mixed, 0, c);
    const void *x = reshape(p, a, mixed(p, 1), 0, p.tokens);
    a.ready = multiply_or_else(p, Product::Key, p.model->layers[layer].key, x, p.act.hidden);
    add_outputs(p, a, Outputs::Squares, p.act.hidden, 0, f, f);
}

void value_adapted(const Pass &p, int layer) {
    const int c = p.shape->embed;
    AdaptArgs a = adapt_inputs(p, layer, {RK_FFN_VALUE}, p.act.hidden, 0, p.shape->ffn);
    const bool room = p.shape->ffn <= p.shape->version->parts.mixed * c; // Adapters::check refuses changed inputs otherwise
    const void *x = room ? reshape(p, a, p.act.mixed, 0, p.tokens) : p.act.hidden;
    a.ready = multiply_or_else(p, Product::Value, p.model->layers[layer].value, x, p.act.x);
    add_outputs(p, a, Outputs::Floats, p.act.x, 0, c, c);
}

void head_adapted(const Pass &p) {
    const int c = p.shape->embed;
    norm_last(p);
    AdaptArgs a = adapt_inputs(p, 0, {RK_HEAD}, p.act.last, 0, c);
    a.row_of = p.output_row;
    const void *x = reshape(p, a, p.act.mixed, 0, p.outputs);
    p.products->multiply(Product::Head, p.model->head, x, p.act.logits, Products::padded(p.outputs), p.stream);
    add_outputs(p, a, Outputs::Floats, p.act.logits, 0, p.act.logits_stride, p.shape->vocab);
}
