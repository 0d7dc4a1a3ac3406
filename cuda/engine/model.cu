// model.cu: checks a shape, takes memory for its weights and names every tensor.
#include "engine/model.h"

#include <algorithm>

namespace {

void require(bool ok, const char *what, int value) {
    if (!ok) fail(RK_ERR_ARGUMENT, "no kernel for a model whose %s is %d", what, value);
}

} // namespace

Shape::Shape(const rk_shape &s, int weights)
    : layers(s.layers), embed(s.embed), heads(s.heads), head_size(s.head_size), ffn(s.ffn), vocab(s.vocab),
      rank_w(s.rank_w), rank_a(s.rank_a), rank_v(s.rank_v), rank_g(s.rank_g), rank(0), rank_gp(0),
      bf16(weights == RK_BF16) {
    require(layers >= 1 && layers <= 1024, "number of layers", layers);
    require(embed >= 8 && embed % 8 == 0 && embed <= 8192, "width", embed);
    require(head_size == 8 || head_size == 16 || head_size == 32 || head_size == 64, "head size", head_size);
    require(heads >= 1 && (int64_t)heads * head_size == embed, "number of heads", heads);
    require(ffn >= 8 && ffn % 8 == 0 && ffn <= (1 << 20), "FFN width", ffn);
    require(vocab >= 1 && vocab <= (1 << 20), "vocabulary size", vocab);
    for (int r : {rank_w, rank_a, rank_v, rank_g}) require(r >= 1 && r <= 8192, "low rank", r);
    rank = (int)round_up(std::max({rank_w, rank_a, rank_v}), 32);
    rank_gp = (int)round_up(rank_g, 32);
}

Model::Model(const Shape &s, Arena &arena) : shape(s), arena_(arena) {
    embedding = elements((int64_t)s.vocab * s.embed);
    place("emb.weight", Placing::Embedding, s.vocab, s.embed, const_cast<void *>(embedding));
    ln0_weight = vector("blocks.0.ln0.weight", s.embed);
    ln0_bias = vector("blocks.0.ln0.bias", s.embed);
    ln_out_weight = vector("ln_out.weight", s.embed);
    ln_out_bias = vector("ln_out.bias", s.embed);
    head = matrix("head.weight", s.vocab, s.embed);
    layers.resize(s.layers);
    for (int i = 0; i < s.layers; i++) place_layer(i, &layers[i]);
}

void Model::place_layer(int index, Layer *l) {
    const int64_t c = shape.embed, p = shape.rank, pg = shape.rank_gp;
    const std::string block = "blocks." + std::to_string(index) + ".", att = block + "att.", ffn = block + "ffn.";
    l->ln1_weight = vector(block + "ln1.weight", c);
    l->ln1_bias = vector(block + "ln1.bias", c);
    l->ln2_weight = vector(block + "ln2.weight", c);
    l->ln2_bias = vector(block + "ln2.bias", c);
    l->mix = vectors({att + "x_r", att + "x_k", att + "x_v", att + "x_w", att + "x_a", att + "x_g"}, c);
    l->mix_ffn = vector(ffn + "x_k", c);
    l->w0 = vector(att + "w0", c);
    l->a0 = vector(att + "a0", c);
    l->k_k = vector(att + "k_k", c);
    l->k_a = vector(att + "k_a", c);
    l->r_k = vector(att + "r_k", c);
    l->ln_x_weight = vector(att + "ln_x.weight", c);
    l->ln_x_bias = vector(att + "ln_x.bias", c);

    void *rkv = elements(3 * c * c);
    place(att + "receptance.weight", Placing::Matrix, c, c, rkv);
    place(att + "key.weight", Placing::Matrix, c, c, offset(rkv, c * c));
    place(att + "value.weight", Placing::Matrix, c, c, offset(rkv, 2 * c * c));
    l->rkv = rkv;

    void *down = elements(3 * p * c), *up = elements(3 * c * p);
    const struct {
        const char *name;
        int64_t rank;
    } branches[] = {{"v", shape.rank_v}, {"w", shape.rank_w}, {"a", shape.rank_a}};
    for (int b = 0; b < 3; b++) {
        bool ignored = b == 0 && index == 0;
        std::string name = att + branches[b].name;
        place(name + "1", Placing::Transposed, c, branches[b].rank, ignored ? nullptr : offset(down, b * p * c), c);
        place(name + "2", Placing::Transposed, branches[b].rank, c, ignored ? nullptr : offset(up, b * c * p), p);
    }
    l->down = down;
    l->up = up;
    if (index == 0) {
        place(att + "v0", Placing::Vector, 1, c, nullptr);
        l->v0 = nullptr;
    } else {
        l->v0 = vector(att + "v0", c);
    }

    void *down_g = elements(pg * c), *up_g = elements(c * pg);
    place(att + "g1", Placing::Transposed, c, shape.rank_g, down_g, c);
    place(att + "g2", Placing::Transposed, shape.rank_g, c, up_g, pg);
    l->down_g = down_g;
    l->up_g = up_g;

    l->output = matrix(att + "output.weight", c, c);
    l->key = matrix(ffn + "key.weight", shape.ffn, c);
    void *value = elements((int64_t)shape.ffn * c);
    place(ffn + "value.weight", Placing::Transposed, c, shape.ffn, value, c);
    l->value = value;
}

void Model::check_complete() const {
    for (const std::string &name : names) {
        const Target &t = targets.at(name);
        if (!t.loaded && t.dst) fail(RK_ERR_TENSOR, "tensor %s: missing", name.c_str());
    }
}

void *Model::elements(int64_t count) { return arena_.device<uint16_t>(count, &bytes, "the weights"); }

void *Model::offset(void *base, int64_t count) const { return static_cast<uint16_t *>(base) + count; }

const float *Model::vector(const std::string &name, int64_t size) { return vectors({name}, size); }

const float *Model::vectors(const std::vector<std::string> &list, int64_t size) {
    float *base = arena_.device<float>((int64_t)list.size() * size, &bytes, "the weights");
    for (size_t i = 0; i < list.size(); i++) place(list[i], Placing::Vector, 1, size, base + i * size);
    return base;
}

const void *Model::matrix(const std::string &name, int64_t rows, int64_t cols) {
    void *dst = elements(rows * cols);
    place(name, Placing::Matrix, rows, cols, dst);
    return dst;
}

void Model::place(const std::string &name, Placing placing, int64_t rows, int64_t cols, void *dst, int64_t stride) {
    targets.emplace(name, Target{placing, rows, cols, dst, stride, (int)names.size(), false});
    names.push_back(name);
}
