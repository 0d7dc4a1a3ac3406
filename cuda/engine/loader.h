// loader.h: copies tensors from the caller's memory to the device (rk_load).
#pragma once

#include "device/handles.h"
#include "engine/model.h"

// Copies tensors through a ring of pinned buffers: while several threads fill one from the
// caller's memory, others cross the bus and are converted on the device.
class Loader {
  public:
    explicit Loader(Model &model);
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;
    ~Loader() { gpuStreamSynchronize(stream_); }

    void load(const char *name, int dtype, const int64_t *dims, int ndim, const void *data, int64_t bytes);

    // Waits for all tensors; throws if one is missing or has values beyond the range of fp16.
    void finish();

  private:
    struct Buffer {
        uint8_t *host = nullptr, *device = nullptr;
        Event free; // after its last use
    };

    Buffer &next();
    void send(const Target &target, int dtype, int64_t first_row, int64_t rows, const uint8_t *data, int64_t bytes);

    static constexpr int kBuffers = 3;
    static constexpr int64_t kBufferBytes = 32 << 20;

    Model &model_;
    Arena arena_; // freed when loading is over
    Stream stream_;
    Buffer buffers_[kBuffers];
    int turn_ = 0;
    int *overflow_ = nullptr; // device, per tensor: whether a value did not fit
};
