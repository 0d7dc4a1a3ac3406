// failure.h: errors inside the library. They travel as exceptions of type Failure;
// engine/abi.cu turns each into a status and a message.
#pragma once

#include <string>

#include "device/gpu.h"
#include "rookery.h"

struct Failure {
    int32_t status; // RK_ERR_*
    std::string message;
};

// Throws a Failure with a printf-style message.
[[noreturn]] void fail(int32_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Throws if a runtime call failed; doing says what for: "reading slot 3".
void check(gpuError error, const char *doing);

// Keeps the process-wide message of rk_last_error.
void remember(const std::string &message);
