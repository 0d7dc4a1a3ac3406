// slots.h: the pool of recurrent states.
//
// The state of a slot:
//   shifts  fp32 [L][slots+1][2][C]: the attention's, then the FFN's
//   WKV     fp32 or fp16 [L][slots+1][H][N value rows][N key columns]; RWKV-4: fp32 [L][slots+1][3][C]
// Slot number `slots` is the spare one: rows that pad a bucket use it, and nobody reads it.
//
// A slot also has the sampler's counts, in the order in which the tokens first occurred.
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

    // A step calls before_step with its slots ahead of its kernels: its stream then waits
    // for the work that was queued for them. It calls after_step once it is queued; `done`
    // is recorded at its end.
    void before_step(const std::vector<int> &slots, gpuStream stream);
    void after_step(const std::vector<int> &slots, const Event *done);

  private:
    // Reads states: a stream and room for one canonical state.
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
    std::vector<char> dirty_;               // whether side_ has work for the slot that no step has waited for
    std::vector<const Event *> last_step_;  // the end of the slot's last step, or null
};
