#include "small.h"

#include "small_product.h"

ProductPlan product_plan;

bool takes_small(const Pass &p) {
    const Shape &s = *p.shape;
    return p.single && p.tokens <= kSmallTokens && p.outputs <= kSmallTokens && s.embed % kStepInputs == 0 && s.embed <= kMostChannels &&
           s.ffn % kTileRows == 0;
}
