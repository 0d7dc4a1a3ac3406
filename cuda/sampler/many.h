// many.h: draws where there are many rows: a block goes through one row,
// whose logits it reads three times, mostly from the second-level cache.
//
// It takes the usual rows alone: with or without penalties, bans and top_p, but no
// top_k, no candidates and no members. It leaves those aside too whose logits are
// out of the ordinary, and lists what it leaves; draw_rows has them then.
//
// Seen and banned tokens are marked as touched, left out where the row is gone
// through, and gone through by themselves. The first pass finds the largest value
// and the sum of the softmax; the second divides it roughly by bins, which says
// between which two values top_p cuts; the third adds up by chunks what is above,
// lists what is between, and shows that the cut is there. What it adds up are the
// masses of sampler_mass.h, so that the draw is that of draw_rows to the bit.
#pragma once

#include "sampler/sampler.h"

namespace sampling {

// Whether there are so many rows that this is faster, and they fit.
bool takes_many(const DrawArgs &a);

// Draws for the rows it takes; a.scratch.left has the others.
void draw_many(const DrawArgs &a, gpuStream stream);

} // namespace sampling
