// arena.cu: allocation with errors that say how much is missing.
#include "device/arena.h"

#include <cstring>

namespace {

constexpr double kMiB = 1 << 20;

} // namespace

Arena::~Arena() {
    for (void *p : device_) gpuFree(p);
    for (void *p : pinned_) gpuFreePinned(p);
}

void *Arena::allocate(int64_t size, int64_t *bytes, const char *what) {
    size = round_up(std::max<int64_t>(size, 1), 256);
    void *p = nullptr;
    gpuError error = gpuMalloc(&p, size);
    if (error == gpuOutOfMemory) {
        gpuLastError();
        size_t available = 0, total = 0;
        check(gpuMemGetInfo(&available, &total), "asking for free device memory");
        fail(RK_ERR_MEMORY, "%s need %.0f MiB or more on the device, where %.0f MiB were left for them of %.0f MiB: use fewer slots or a smaller model",
             what, (*bytes + size) / kMiB, (*bytes + available) / kMiB, total / kMiB);
    }
    check(error, what);
    device_.push_back(p);
    check(gpuMemsetAsync(p, 0, size, nullptr), what);
    *bytes += size;
    return p;
}

void *Arena::allocate_pinned(int64_t size, int64_t *bytes, const char *what) {
    size = round_up(std::max<int64_t>(size, 1), 256);
    void *p = nullptr;
    gpuError error = gpuMallocPinned(&p, size);
    if (error == gpuOutOfMemory) {
        gpuLastError();
        fail(RK_ERR_MEMORY, "%s need %.0f MiB of pinned host memory, which there is not", what, size / kMiB);
    }
    check(error, what);
    pinned_.push_back(p);
    memset(p, 0, size);
    *bytes += size;
    return p;
}
