// adapters.h: adapters on the device. An adapter changes a product y = W x by two narrow
// products, y += up (down x), and leaves W as it is (rk_set_delta in rookery.h has the
// definition, layer/adapted.cu the kernels).
#pragma once

#include <vector>

#include "device/handles.h"
#include "engine/model.h"

constexpr int kAdapterTargets = RK_HEAD; // of a layer; the head is one more

// Tokens of one row that one block computes together.
constexpr int kAdapterTokens = 8;

struct AdapterTile {
    int32_t row, first, count; // tokens first to first+count-1 of the pass
};

// What the adapters of a pass change: nothing, the outputs of products, or their inputs
// too.
enum class Adapted : int32_t { No, Added, Reshaped };

// The change of one product. E is the type of weights.
struct AdapterDelta {
    const void *down;   // E [rank][in]; null: there is no change
    const void *up;     // E [rank][out], out rounded up to 8
    const float *gain;  // [in], or null
    const void *blocks; // E [in/size][size inputs][size outputs], or null
    int32_t rank, size;
};

// The arguments of rk_set_delta.
struct HostDelta {
    int rank;
    const float *down, *up, *gain, *blocks;
    int size;
};

class Adapters {
  public:
    Adapters(const Shape &shape, Arena &arena, int64_t *scratch);
    Adapters(const Adapters &) = delete;
    Adapters &operator=(const Adapters &) = delete;
    ~Adapters();

    int add();
    void set(int id, int layer, int target, const HostDelta &delta);
    void drop(int id); // no step that has it may be in flight
    int64_t bytes(int id) const;

    bool has(int id) const { return id > 0 && id <= RK_ADAPTERS_MAX && adapters_[id].loaded; }
    Adapted kind(int id) const { return adapters_[id].kind; }

    // On the device: the change of target t in layer l by adapter a is entry
    // a*deltas(shape) + l*kAdapterTargets + t; that of the head comes after all layers.
    const AdapterDelta *table() const { return table_; }
    static int deltas(const Shape &shape) { return shape.layers * kAdapterTargets + 1; }

  private:
    struct Adapter {
        bool loaded = false;
        Adapted kind = Adapted::Added;
        int64_t bytes = 0;
        std::vector<void *> pieces; // owned
        std::vector<char> set;      // of each product: whether it is changed
    };

    void check(const HostDelta &delta, int64_t out, int64_t in, int target) const;
    void *allocate(Adapter &adapter, int64_t bytes);
    const void *elements(Adapter &adapter, const float *values, int64_t batch, int64_t rows, int64_t cols, int64_t pitch);

    const Shape shape_;
    AdapterDelta *table_;
    Adapter adapters_[RK_ADAPTERS_MAX + 1]; // 0 is none
    Stream stream_;
};
