// blaslt.h: the matrix products of a step by cuBLASLt, for any number of tokens.
//
//   Y [batch][tokens][out] = X [batch][tokens][in] · W [batch][out][in]ᵀ
//
// W and X have the model's element type E, sums are fp32, Y is E or fp32 (multiply).
// cuBLASLt is opened at run time, so that a machine without it gets a message of ours
// and not an error of the loader.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/handles.h"
#include "engine/model.h"

// The products of a step.
enum class Product { Rkv, Down, DownG, Up, UpG, Output, Key, Value, Head };
constexpr int kProducts = 9;

struct BlasLibrary; // the opened library

class Products {
  public:
    // token_room is how many rows of X and Y each buffer has; logits_stride how
    // many values lie between two rows of the head's Y.
    Products(const Shape &shape, int64_t token_room, int64_t logits_stride, Arena &arena, int64_t *scratch);
    Products(const Products &) = delete;
    Products &operator=(const Products &) = delete;
    ~Products();

    // Multiplies, for a number of tokens that padded has returned. Output and
    // Value add to y, which is fp32; Head writes fp32; all others write E.
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
    struct Spec;

    struct Candidate;

    Spec spec(Product product) const;
    Plan &plan(Product product, int tokens);
    std::vector<Candidate> candidates(const Plan &plan, int most) const;
    void run(const Plan &plan, const void *weights, const void *x, void *y, gpuStream stream);
    double time(const Plan &plan, const Operand &operand, double most, gpuStream stream);
    std::string identity(const std::string &device) const;

    const Shape shape_;
    const int64_t token_room_, logits_stride_;
    std::unique_ptr<BlasLibrary> library_;
    std::map<std::pair<int, int>, std::unique_ptr<Plan>> plans_; // by product and tokens
    std::map<std::pair<int, int>, std::vector<uint64_t>> found_; // tuned algorithms, by product and tokens
    void *workspace_;
};
