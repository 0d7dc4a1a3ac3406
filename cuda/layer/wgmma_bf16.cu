// wgmma_bf16.cu: the products of wgmma.h for bf16, compiled apart because it takes long.
#include "layer/wgmma_launch.h"

namespace wgmma {

void multiply_bf16(const Products &all, const Workspace &space, gpuStream stream) { launch<bf16>(all, space, stream); }

} // namespace wgmma
