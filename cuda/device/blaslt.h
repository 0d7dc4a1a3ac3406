// blaslt.h: the matrix products of a step by cuBLASLt, for any number of tokens.
//
//   Y [batch][tokens][out] = X [batch][tokens][in] · W [batch][out][in]ᵀ
//
// W and X have the model's element type E, sums are fp32, Y is E or fp32 (multiply).
// cuBLASLt is opened at run time, so that a machine without it gets a message of ours
// and not an error of the loader.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/handles.h"
#include "engine/model.h"

// The products of a step. A version has some of them.
enum class Product { Rkv, Down, DownWide, Up, UpWide, Output, Key, Receptance, Value, Head };
constexpr int kProducts = 10;

// Sizes and places of a product.
struct ProductSpec {
    int64_t out = 0, in = 0, batch = 1;                     // out is 0: there is no such product
    int64_t weights_stride = 0, x_stride = 0, y_stride = 0; // elements from one of the batch to the next
    bool transposed = false;                                // weights are [in][out]
    bool adds = false, writes_float = false;                // to y, which is fp32; otherwise Y is E
};

using ProductSpecs = std::array<ProductSpec, kProducts>;

struct BlasLibrary; // the opened library

class Products {
  public:
    // logits_stride is how many values lie between two rows of the head's Y.
    Products(const Shape &shape, const ProductSpecs &specs, int64_t logits_stride, Arena &arena, int64_t *scratch);
    Products(const Products &) = delete;
    Products &operator=(const Products &) = delete;
    ~Products();

    // Multiplies, for a number of tokens that padded has returned.
    void multiply(Product product, const void *weights, const void *x, void *y, int tokens, gpuStream stream);

    // Plans all products for a number of tokens, and the head for a number of outputs, so
    // that multiply needs no planning.
    void prepare(int tokens, int outputs);

    // The least number of tokens, not below `tokens`, that products are made for. Rows of X
    // beyond `tokens` are multiplied too, and their results are not used.
    static int padded(int tokens);

    // Measures candidates for every product at each number of tokens, on the
    // weights of all layers in turn, for about seconds.
    struct Operand {
        std::vector<const void *> weights;
        const void *x;
        void *y;
        int64_t room; // tokens that x and y have room for
    };
    void tune(const std::vector<int> &tokens, const std::map<Product, Operand> &operands, double seconds, gpuStream stream);

    // Read and write the file of tuned algorithms. read ignores a file of another device,
    // library or shape.
    void read(const std::string &path, const std::string &device);
    void write(const std::string &path, const std::string &device) const;

  private:
    struct Plan;
    struct Candidate;

    Plan &plan(Product product, int tokens);
    std::vector<Candidate> candidates(const Plan &plan, int most) const;
    void run(const Plan &plan, const void *weights, const void *x, void *y, gpuStream stream);
    double time(const Plan &plan, const Operand &operand, double most, gpuStream stream);
    std::string identity(const std::string &device) const;

    const Shape shape_;
    const ProductSpecs specs_;
    const int64_t logits_stride_;
    std::unique_ptr<BlasLibrary> library_;
    std::map<std::pair<int, int>, std::unique_ptr<Plan>> plans_; // by product and tokens
    std::map<std::pair<int, int>, std::vector<uint64_t>> found_; // tuned algorithms, by product and tokens
    void *workspace_;
};
