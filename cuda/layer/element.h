// element.h: the sigmoid, and calling a template with the model's element type.
#pragma once

#include "engine/model.h"

__device__ inline float sigmoid(float v) { return 1.0f / (1.0f + __expf(-v)); }

// Calls f with a value of the model's element type.
template <typename F> void with_element(const Shape &shape, F f) {
    if (shape.bf16)
        f(bf16{});
    else
        f(half{});
}
