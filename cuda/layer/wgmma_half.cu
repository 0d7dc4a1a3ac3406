// wgmma_half.cu: the products of wgmma.h for fp16, compiled apart because it takes long.
#include "layer/wgmma_launch.h"

namespace wgmma {

void multiply_half(const Products &all, const Workspace &space, gpuStream stream) { launch<half>(all, space, stream); }

} // namespace wgmma
