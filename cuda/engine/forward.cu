// forward.cu: the order of the stages, which path runs them, and the plain path: products
// by cuBLASLt with elementwise kernels between them.
#include "engine/forward.h"

#include "layer/gemv.h"
#include "layer/wgmma.h"

namespace {

// A part of a buffer of E.
void *part(const Pass &p, void *base, int64_t index, int64_t width) {
    return static_cast<uint16_t *>(base) + index * p.act.token_room * width;
}

} // namespace

void project(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    const int64_t c = p.shape->embed;
    shift_attention(p, layer);
    p.products->multiply(Product::Rkv, l.rkv, p.act.mixed, p.act.rkv, n, p.stream);
    p.products->multiply(Product::Down, l.down, part(p, p.act.mixed, 2, c), p.act.low, n, p.stream);
    p.products->multiply(Product::DownG, l.down_g, part(p, p.act.mixed, 5, c), p.act.low_g, n, p.stream);
    activate_low(p);
    project_up(p, layer);
}

void project_up(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int n = Products::padded(p.tokens);
    p.products->multiply(Product::Up, l.up, p.act.low, p.act.up, n, p.stream);
    p.products->multiply(Product::UpG, l.up_g, p.act.low_g, part(p, p.act.up, 3, p.shape->embed), n, p.stream);
}

void output(const Pass &p, int layer) {
    p.products->multiply(Product::Output, p.model->layers[layer].output, p.act.y, p.act.x, Products::padded(p.tokens), p.stream);
}

void key(const Pass &p, int layer) {
    shift_ffn(p, layer);
    p.products->multiply(Product::Key, p.model->layers[layer].key, p.act.mixed, p.act.hidden, Products::padded(p.tokens), p.stream);
    square_hidden(p);
}

void value(const Pass &p, int layer) {
    p.products->multiply(Product::Value, p.model->layers[layer].value, p.act.hidden, p.act.x, Products::padded(p.tokens), p.stream);
}

Path choose(const Pass &p) {
    if (p.adapted != Adapted::No) return {project_adapted, mix, output_adapted, key_adapted, value_adapted};
    if (takes_gemv(p)) return {project_gemv, mix, output_gemv, key_gemv, value_sparse};
    if (takes_wgmma(p)) return {project_wgmma, mix, output_wgmma, key_wgmma, value_wgmma};
    return {project, mix, output, key, value};
}

void head(const Pass &p) {
    if (p.adapted != Adapted::No) return head_adapted(p);
    if (takes_gemv(p)) return head_gemv(p);
    norm_last(p);
    p.products->multiply(Product::Head, p.model->head, p.act.last, p.act.logits, Products::padded(p.outputs), p.stream);
}

void run(const Pass &p) {
    const Path path = choose(p);
    embed(p);
    for (int layer = 0; layer < p.shape->layers; layer++) {
        path.project(p, layer);
        path.mix(p, layer);
        path.output(p, layer);
        path.key(p, layer);
        path.value(p, layer);
    }
    if (p.outputs > 0) {
        head(p);
        draw(p);
    }
    check(gpuLastError(), "launching a step");
}
