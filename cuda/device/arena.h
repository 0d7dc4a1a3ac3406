// arena.h: device and pinned host memory that is taken when an engine opens and freed
// with it.
#pragma once

#include <vector>

#include "device/failure.h"

// Owns device and pinned host memory. Pieces are aligned to 256 bytes.
class Arena {
  public:
    Arena() = default;
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;
    ~Arena();

    // Takes count values of T on the device, zeroed, and adds them to *bytes.
    // what names them in the error.
    template <typename T> T *device(int64_t count, int64_t *bytes, const char *what) {
        return static_cast<T *>(allocate(count * (int64_t)sizeof(T), bytes, what));
    }

    // The same in pinned host memory.
    template <typename T> T *pinned(int64_t count, int64_t *bytes, const char *what) {
        return static_cast<T *>(allocate_pinned(count * (int64_t)sizeof(T), bytes, what));
    }

  private:
    void *allocate(int64_t size, int64_t *bytes, const char *what);
    void *allocate_pinned(int64_t size, int64_t *bytes, const char *what);

    std::vector<void *> device_;
    std::vector<void *> pinned_;
};
