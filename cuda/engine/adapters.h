// adapters.h: what changes products of the model for some rows, on the device. A
// change is two narrow products beside the model's own, whose weights stay as
// they are (rookery.h has the definition; adapted.cu the kernels).
#pragma once

#include <vector>

#include "device/handles.h"
#include "engine/model.h"

constexpr int kAdapterTargets = 6; // of a layer; the head is one more

// Tokens of one row that are taken together.
constexpr int kAdapterTokens = 8;

struct AdapterTile {
    int32_t row, first, count; // tokens first to first+count-1 of the pass
};

// What adapters ask of a pass: nothing, products that are added, or inputs that
// are changed too.
enum class Adapted : int32_t { No, Added, Reshaped };

// The change of one product. E is the type of weights.
struct AdapterDelta {
    const void *down;   // E [rank][in]; null: there is no change
    const void *up;     // E [rank][out], out rounded up to 8
    const float *gain;  // [in], or null
    const void *blocks; // E [in/size][size inputs][size outputs], or null
    int32_t rank, size;
};

// A change as the host has it: rk_set_delta.
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

    // On the device: of adapter a in layer l, target t is at
    // a*deltas(shape) + l*kAdapterTargets + t, and the head comes after all layers.
    const AdapterDelta *table() const { return table_; }
    static int deltas(const Shape &shape) { return shape.layers * kAdapterTargets + 1; }

  private:
    struct Adapter {
        bool loaded = false;
        Adapted kind = Adapted::Added;
        int64_t bytes = 0;
        std::vector<void *> pieces; // owned
        std::vector<char> set;      // deltas that are there
    };

    void check(const HostDelta &delta, int64_t out, int64_t in, int target) const;
    void *take(Adapter &adapter, int64_t bytes);
    const void *elements(Adapter &adapter, const float *values, int64_t batch, int64_t rows, int64_t cols, int64_t pitch);

    const Shape shape_;
    AdapterDelta *table_;
    Adapter adapters_[RK_ADAPTERS_MAX + 1]; // 0 is none
    Stream stream_;
};
