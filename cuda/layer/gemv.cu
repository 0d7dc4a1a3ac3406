// gemv.cu: which passes the gemv stages can take.
#include "layer/gemv.h"

#include "layer/gemv_product.h"

bool takes_gemv(const Pass &p) {
    const Shape &s = *p.shape;
    return p.single && p.adapted == Adapted::No && p.tokens <= kGemvTokens && p.outputs <= kGemvTokens && s.embed <= kMostChannels && s.embed % kStepInputs == 0 &&
           s.ffn % kTileRows == 0 && s.vocab % kTileRows == 0 &&
           value_fits(p) && product_fits<half>(std::max({s.embed, s.rank, s.rank_wide}), p.tokens);
}
