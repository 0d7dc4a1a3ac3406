// tensor_map.h: how a matrix is described to Hopper's tensor copy engine, which copies
// boxes of it to shared memory (copy_tile in hopper.h).
#pragma once

#include <type_traits>

#include "device/failure.h"
#include "device/hopper.h"

#if HOPPER_HOST

#include <cuda.h>

namespace hopper {

using TensorMap = CUtensorMap;

// The driver's function that encodes tensor maps; null if the driver has none.
inline auto tensor_map_encoder() {
    using Encoder = decltype(&cuTensorMapEncodeTiled);
    static const Encoder encoder = [] {
        void *f = nullptr;
        cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
        const bool ok = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found) == cudaSuccess;
#else
        const bool ok = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found) == cudaSuccess;
#endif
        return ok && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encoder>(f) : nullptr;
    }();
    return encoder;
}

// A map of base [lines][width], of E, that is copied by boxes [box_lines][box_width].
template <typename E> TensorMap tensor_map(const void *base, int64_t width, int64_t lines, int box_width, int box_lines) {
    TensorMap map;
    const cuuint64_t sizes[2] = {(cuuint64_t)width, (cuuint64_t)lines}, pitch[1] = {(cuuint64_t)width * 2};
    const cuuint32_t box[2] = {(cuuint32_t)box_width, (cuuint32_t)box_lines}, apart[2] = {1, 1};
    const auto type = std::is_same_v<E, bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    const auto encode = tensor_map_encoder();
    if (!encode) fail(RK_ERR_DEVICE, "the driver cannot describe matrices to the device: update it");
    const CUresult result = encode(&map, type, 2, const_cast<void *>(base), sizes, pitch, box, apart, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) fail(RK_ERR_DEVICE, "describing a matrix to the device: error %d", (int)result);
    return map;
}

} // namespace hopper

#endif
