// mid.h: the stages of a step for some dozens of tokens, by mid_product.h. They
// are as those in forward.h, with the same results but for rounding.
#pragma once

#include "pass.h"

constexpr int kMidTokens = 64;

// Whether this pass has so many tokens, and a shape that the tiles fit.
bool takes_mid(const Pass &p);

void project_mid(const Pass &p, int layer);
void output_mid(const Pass &p, int layer);
void key_mid(const Pass &p, int layer);
void value_mid(const Pass &p, int layer);
void head_mid(const Pass &p);

// From mixed: low and low_g, and from those up. For any number of tokens.
void low_rank_down(const Pass &p, int layer);
void low_rank_up(const Pass &p, int layer);
