// model.h: the weights on the device, and where each tensor of a file goes.
//
// Matrices have the element type E (fp16 or bf16), vectors are fp32, all row-major.
// Padding (ranks rounded up to 32) is zero. README.md has the layouts.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "device/arena.h"

// Sizes of a model, given and derived.
struct Shape {
    int layers, embed, heads, head_size, ffn, vocab;
    int rank_w, rank_a, rank_v, rank_g;
    int rank;   // P: the largest of w, a and v, rounded up to 32
    int rank_gp; // P_g: of g, rounded up to 32
    bool bf16;  // E is bf16

    // Throws if no model has these sizes or no kernel takes them.
    Shape(const rk_shape &shape, int weights);

    int64_t state_len() const { return layers * (2 * (int64_t)embed + (int64_t)embed * head_size); }
};

struct Layer {
    const float *ln1_weight, *ln1_bias, *ln2_weight, *ln2_bias;
    const float *mix;     // [6][C]: r, k, v, w, a, g
    const float *mix_ffn; // [C]
    const float *w0, *a0, *v0;
    const float *k_k, *k_a, *r_k;
    const float *ln_x_weight, *ln_x_bias;
    const void *rkv;    // E [3][C][C]
    const void *down;   // E [3][P][C]: v, w, a
    const void *down_g; // E [P_g][C]
    const void *up;     // E [3][C][P]: v, w, a
    const void *up_g;   // E [C][P_g]
    const void *output; // E [C][C]
    const void *key;    // E [F][C]
    const void *value;  // E [F][C]: transposed
};

// How a tensor is stored on the device.
enum class Placing {
    Vector,     // fp32, as it is
    Matrix,     // E, as it is
    Transposed, // E, element [r][c] at c*stride + r
    Embedding,  // E, each row normalised to mean 0 and variance 1
};

struct Target {
    Placing placing;
    int64_t rows, cols; // as stored; a vector has one row
    void *dst;          // null: accepted and ignored
    int64_t stride;     // of Transposed
    int index;          // among all tensors
    bool loaded;
};

class Model {
  public:
    Model(const Shape &shape, Arena &arena);

    const Shape shape;
    int64_t bytes = 0; // on the device
    std::vector<Layer> layers;
    const void *embedding;                 // E [V][C], rows normalised
    const float *ln0_weight, *ln0_bias;    // applied when a row is looked up
    const float *ln_out_weight, *ln_out_bias;
    const void *head; // E [V][C]

    std::unordered_map<std::string, Target> targets;

    // The names of targets by index.
    std::vector<std::string> names;

    // Throws if a tensor was not loaded.
    void check_complete() const;

  private:
    void *elements(int64_t count);
    const float *vector(const std::string &name, int64_t size);
    const float *vectors(const std::vector<std::string> &names, int64_t size);
    void place(const std::string &name, Placing placing, int64_t rows, int64_t cols, void *dst, int64_t stride = 0);
    void place_layer(int index, Layer *layer);
    const void *matrix(const std::string &name, int64_t rows, int64_t cols);
    void *offset(void *base, int64_t elements) const;

    Arena &arena_;
};
