// model.cu: checks a shape, takes memory for its weights and names every tensor.
#include "engine/version.h"

#include <algorithm>

namespace {

void require(bool ok, const char *what, int value) {
    if (!ok) fail(RK_ERR_ARGUMENT, "no kernel for a model whose %s is %d", what, value);
}

} // namespace

Shape::Shape(const rk_shape &s, int weights)
    : version(&find_version(s.version)), layers(s.layers), embed(s.embed), heads(s.heads), head_size(s.head_size), ffn(s.ffn), vocab(s.vocab),
      rank(0), rank_wide(0), bf16(weights == RK_BF16) {
    require(layers >= 1 && layers <= 1024, "number of layers", layers);
    require(embed >= 8 && embed % 8 == 0 && embed <= 8192, "width", embed);
    require(head_size == 8 || head_size == 16 || head_size == 32 || head_size == 64 || head_size == 128 || (head_size == 1 && !version->heads), "head size", head_size);
    require(heads >= 1 && (int64_t)heads * head_size == embed, "number of heads", heads);
    require(ffn >= 8 && ffn % 8 == 0 && ffn <= (1 << 20), "FFN width", ffn);
    require(vocab >= 1 && vocab <= (1 << 20), "vocabulary size", vocab);
    for (int i = 0; i < kRanks; i++) {
        ranks[i] = s.ranks[i];
        require(i < version->ranks ? ranks[i] >= 1 && ranks[i] <= 8192 : ranks[i] == 0, "low rank", ranks[i]);
    }
    version->round_ranks(*this);
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
    for (int i = 0; i < s.layers; i++) place_layer(i);
}

void Model::place_layer(int index) {
    Layer &l = layers[index];
    const int64_t c = shape.embed;
    const std::string block = "blocks." + std::to_string(index) + ".";
    l.ln1_weight = vector(block + "ln1.weight", c);
    l.ln1_bias = vector(block + "ln1.bias", c);
    l.ln2_weight = vector(block + "ln2.weight", c);
    l.ln2_bias = vector(block + "ln2.bias", c);
    shape.version->place(*this, index, block);
    l.output = matrix(block + "att.output.weight", c, c);
    l.value = transposed(block + "ffn.value.weight", c, shape.ffn);
}

void Model::check_complete() const {
    for (const std::string &name : names) {
        const Target &t = targets.at(name);
        if (!t.loaded && t.dst && (t.instead.empty() || !targets.at(t.instead).loaded)) fail(RK_ERR_TENSOR, "tensor %s: missing", name.c_str());
    }
}

void *Model::elements(int64_t count) { return arena_.device<uint16_t>(count, &bytes, "the weights"); }

float *Model::floats(int64_t count) { return arena_.device<float>(count, &bytes, "the weights"); }

const float *Model::vector(const std::string &name, int64_t size, Form form) { return vectors({name}, size, form); }

const float *Model::vectors(const std::vector<std::string> &list, int64_t size, Form form) {
    float *base = floats((int64_t)list.size() * size);
    for (size_t i = 0; i < list.size(); i++) place(list[i], Placing::Vector, 1, size / form.repeat, base + i * size, 0, {}, form);
    return base;
}

const void *Model::matrix(const std::string &name, int64_t rows, int64_t cols) { return matrices({name}, rows, cols); }

const void *Model::matrices(const std::vector<std::string> &list, int64_t rows, int64_t cols) {
    void *base = elements((int64_t)list.size() * rows * cols);
    for (size_t i = 0; i < list.size(); i++) place(list[i], Placing::Matrix, rows, cols, offset(base, i * rows * cols));
    return base;
}

const void *Model::transposed(const std::string &name, int64_t rows, int64_t cols) {
    void *base = elements(rows * cols);
    place(name, Placing::Transposed, rows, cols, base, rows);
    return base;
}

void Model::place(const std::string &name, Placing placing, int64_t rows, int64_t cols, void *dst, int64_t stride, Groups groups, Form form, const std::string &instead) {
    targets.emplace(name, Target{placing, rows, cols, dst, stride, groups, form, instead, (int)names.size(), false});
    names.push_back(name);
}
