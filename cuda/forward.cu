#include "forward.h"

#include "mid.h"
#include "small.h"

namespace {

// Up to so many tokens the low-rank branches are two kernels of our own.
constexpr int kGroupedTokens = 512;
constexpr int kGroupedInputs = 32;

// A part of a buffer of E.
void *part(const Pass &p, void *base, int64_t index, int64_t width) {
    return static_cast<uint16_t *>(base) + index * p.act.token_room * width;
}

} // namespace

void project(const Pass &p, int layer) {
    const Layer &l = p.model->layers[layer];
    const int64_t c = p.shape->embed;
    const int n = Products::padded(p.tokens);
    shift_attention(p, layer);
    p.products->multiply(Product::Rkv, l.rkv, p.act.mixed, p.act.rkv, n, p.stream);
    if (p.tokens <= kGroupedTokens && c % kGroupedInputs == 0) {
        low_rank_down(p, layer);
        low_rank_up(p, layer);
        return;
    }
    p.products->multiply(Product::Down, l.down, part(p, p.act.mixed, 2, c), p.act.low, n, p.stream);
    p.products->multiply(Product::DownG, l.down_g, part(p, p.act.mixed, 5, c), p.act.low_g, n, p.stream);
    activate_low(p);
    p.products->multiply(Product::Up, l.up, p.act.low, p.act.up, n, p.stream);
    p.products->multiply(Product::UpG, l.up_g, p.act.low_g, part(p, p.act.up, 3, c), n, p.stream);
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
    if (takes_small(p)) return {project_small, mix, output_small, key_small, value_sparse};
    if (takes_mid(p)) return {project_mid, mix, output_mid, key_mid, value_mid};
    return {project, mix, output, key, value};
}

void head(const Pass &p) {
    if (takes_small(p)) return head_small(p);
    if (p.outputs <= kMidTokens && p.shape->embed % kGroupedInputs == 0) return head_mid(p);
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
