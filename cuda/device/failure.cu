// failure.cu: messages for people, and the last one of the process.
#include "device/failure.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace {

std::mutex lock;
std::string last;

} // namespace

void fail(int32_t status, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    throw Failure{status, text};
}

void check(gpuError error, const char *doing) {
    if (error == gpuSuccess) return;
    gpuLastError(); // an error that is not sticky must not show up in the next call
    switch (error) {
    case gpuOutOfMemory:
        fail(RK_ERR_MEMORY, "%s: not enough memory on the device; use fewer slots or a smaller model", doing);
    case gpuDriverTooOld:
        fail(RK_ERR_LIBRARY, "%s: there is no GPU driver, or it is older than this library needs: install a newer one", doing);
    case gpuNoDevice:
        fail(RK_ERR_LIBRARY, "%s: no usable GPU", doing);
    default:
        fail(RK_ERR_DEVICE, "%s: %s", doing, gpuErrorString(error));
    }
}

void remember(const std::string &message) {
    std::lock_guard<std::mutex> held(lock);
    last = message;
}

extern "C" int32_t rk_last_error(char *dst, int32_t size) {
    std::lock_guard<std::mutex> held(lock);
    if (dst && size > 0) {
        size_t n = std::min(last.size(), (size_t)size - 1);
        memcpy(dst, last.data(), n);
        dst[n] = 0;
    }
    return (int32_t)last.size();
}
