// slots.h: the pool of states.
//
// A slot's state: shifts fp32 [L][slots+1][2][C] (att, ffn) and the WKV state,
// fp32 or fp16, [L][slots+1][H][N value rows][N key columns]. Slot number
// `slots` is the spare one: padding and frozen rows have it.
//
// Beside the state a slot has the sampler's counts, in the order in which the
// tokens first occurred, and the token last drawn.
#pragma once

#include <vector>

#include "device/handles.h"
#include "engine/model.h"

// What kernels see of the pool.
struct SlotView {
    float *shifts;
    void *wkv;
    bool wkv_half;
    int slots;     // the number of the spare one
    int32_t *drawn; // [slots+1]

    // counts: of entry i of slot s at s*limit + i
    int limit;
    int32_t *count_size; // [slots+1]
    int32_t *count_token;
    float *count_n, *count_first;
};

class Slots {
  public:
    Slots(const Shape &shape, const rk_options &options, Arena &arena, int64_t *states, int64_t *scratch, int64_t *pinned);
    Slots(const Slots &) = delete;
    Slots &operator=(const Slots &) = delete;
    ~Slots() {
        gpuStreamSynchronize(side_);
        gpuStreamSynchronize(beside_.stream);
    }

    const SlotView &view() const { return view_; }

    void read(int slot, float *dst);
    void read_beside(int slot, float *dst); // by another thread: see rk_read_slot_beside
    void write(int slot, const float *src);
    void copy(int dst, int src);
    void zero(int slot);

    void set_counts(int slot, const rk_count *counts, int n);
    int get_counts(int slot, rk_count *dst, int size); // returns how many there are
    void set_drawn(int slot, int token);

    // Called by a step before its kernels for every slot it has: the step's
    // stream then waits for what was queued for that slot. after is called
    // when the step is queued: done happens when it is over.
    void before_step(const std::vector<int> &slots, gpuStream stream);
    void after_step(const std::vector<int> &slots, const Event *done);

  private:
    // A way for states to the host: a stream and room for one canonical state.
    struct Reader {
        Stream stream;
        Event queued;
        float *device, *host;
    };

    void order_after_steps(int slot);
    void fetch(int slot, gpuStream stream, float *device, float *host) const;
    void changed(int slot);
    void check_slot(int slot) const;

    const Shape shape_;
    SlotView view_ = {};
    Stream side_;
    Reader beside_; // of read_beside alone
    Event queued_, staged_;
    float *device_staging_, *host_staging_; // one canonical state
    int32_t *host_counts_;                  // [1 + 3*limit]
    std::vector<char> dirty_;               // side_ has work for the slot that no step waits for yet
    std::vector<const Event *> last_step_;  // of each slot, or null
};
