// model.h: the weights on the device, and where each tensor of a file goes.
//
// Matrices have the element type E (fp16 or bf16), vectors are fp32, all row-major.
// Padding (ranks rounded up to 32) is zero. README.md has the layouts.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/arena.h"

struct Version; // version.h

constexpr int kRanks = 4;

// Sizes of a model, given and derived.
struct Shape {
    const Version *version;
    int layers, embed, heads, head_size, ffn, vocab;
    int ranks[kRanks]; // of the version's low-rank branches
    int rank;      // P: of the narrow branches, rounded up to 32
    int rank_wide; // P_g: of the wide one, rounded up to 32
    bool bf16;     // E is bf16

    // Throws if no model has these sizes or no kernel takes them.
    Shape(const rk_shape &shape, int weights);

    int64_t wkv_len() const { return (int64_t)embed * (head_size == 1 ? 3 : head_size); } // of a layer; RWKV-4 has no heads
    int64_t state_len() const { return layers * (2 * (int64_t)embed + wkv_len()); }
};

// The weights of a layer. A version fills those that it has; the sizes are RWKV-7's, those of
// other versions are in their files.
struct Layer {
    const float *ln1_weight, *ln1_bias, *ln2_weight, *ln2_bias;
    const float *mix;     // [6][C]: r, k, v, w, a, g
    const float *mix_ffn; // [C]
    const float *mix_all; // null; RWKV-6: [C], the mix that the others are computed from
    const float *w0, *a0, *v0; // w0: the decay of all versions before its formula
    const float *k_k, *k_a, *r_k; // r_k: what the current token's k v is weighted with; RWKV-4 to 6: u
    const float *ln_x_weight, *ln_x_bias;
    const void *rkv;    // E [3][C][C]
    const void *down;   // E [3][P][C]: v, w, a
    const void *down_g; // E [P_g][C]
    const void *up;     // E [3][C][P]: v, w, a
    const void *up_g;   // E [C][P_g]
    const void *output; // E [C][C]
    const void *key;    // E [F][C]
    const void *receptance; // of the channel mix: null; RWKV-6: E [C][C], follows key
    const void *value;  // E [F][C]: transposed
};

// How a tensor is stored on the device.
enum class Placing {
    Vector,     // fp32, as it is
    Matrix,     // E, as it is
    Transposed, // E, element [r][c] at c*stride + r, or as groups say
    Embedding,  // E, each row normalised to mean 0 and variance 1
};

// What becomes of the values of a vector: each stands for `repeat` values, as it is, as 1 - v or
// as exp(v).
struct Form {
    int repeat = 1;
    enum { Same, Complement, Exponential } what = Same;
};

// Of a tensor that is several matrices: groups of `rows` rows, each `apart` elements after the
// one before, and of `cols` columns, which take `padded` lines each. The others are one group.
struct Groups {
    int64_t rows = INT64_MAX, apart = 0, cols = INT64_MAX, padded = 0;

    __host__ __device__ int64_t place(int64_t r, int64_t c, int64_t stride) const {
        return r / rows * apart + r % rows + (c / cols * padded + c % cols) * stride;
    }
};

struct Target {
    Placing placing;
    int64_t rows, cols; // as stored, matrices one after another; a vector has one row
    void *dst;          // null: accepted and ignored
    int64_t stride;     // of Transposed
    Groups groups;
    Form form;
    std::string instead; // the tensor that may stand for this one; or none
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

    // For the versions: memory for weights, and where the tensor of a name goes.
    void *elements(int64_t count);
    float *floats(int64_t count);
    const float *vector(const std::string &name, int64_t size, Form form = {});
    const float *vectors(const std::vector<std::string> &names, int64_t size, Form form = {}); // size values of each
    const void *matrix(const std::string &name, int64_t rows, int64_t cols);
    const void *matrices(const std::vector<std::string> &names, int64_t rows, int64_t cols); // one after another
    const void *transposed(const std::string &name, int64_t rows, int64_t cols);
    void place(const std::string &name, Placing placing, int64_t rows, int64_t cols, void *dst, int64_t stride = 0, Groups groups = {}, Form form = {}, const std::string &instead = "");
    static void *offset(void *base, int64_t elements) { return static_cast<uint16_t *>(base) + elements; }

  private:
    void place_layer(int index);

    Arena &arena_;
};
