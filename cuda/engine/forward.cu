// forward.cu: the order of the stages, and those that all versions have.
#include "engine/version.h"

#include "layer/gemv.h"

void *part(const Pass &p, void *base, int64_t index, int64_t width) { return static_cast<uint16_t *>(base) + index * p.act.token_room * width; }

void output(const Pass &p, int layer) {
    p.products->multiply(Product::Output, p.model->layers[layer].output, p.act.y, p.act.x, Products::padded(p.tokens), p.stream);
}

void head(const Pass &p) {
    if (p.adapted != Adapted::No) return head_adapted(p);
    if (takes_gemv(p)) return head_gemv(p);
    norm_last(p);
    p.products->multiply(Product::Head, p.model->head, p.act.last, p.act.logits, Products::padded(p.outputs), p.stream);
}

void run(const Pass &p) {
    const Path path = p.shape->version->choose(p);
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
