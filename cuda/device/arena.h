// arena.h: memory taken in a few pieces when an engine opens, and freed with it.
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
        return static_cast<T *>(take(count * (int64_t)sizeof(T), bytes, what));
    }

    // The same in pinned host memory.
    template <typename T> T *pinned(int64_t count, int64_t *bytes, const char *what) {
        return static_cast<T *>(take_pinned(count * (int64_t)sizeof(T), bytes, what));
    }

  private:
    void *take(int64_t size, int64_t *bytes, const char *what);
    void *take_pinned(int64_t size, int64_t *bytes, const char *what);

    std::vector<void *> device_;
    std::vector<void *> pinned_;
};
