// many.h: draws of many rows: a block has one row and reads its logits three times, mostly
// from the second-level cache.
//
// It takes only usual rows: with or without penalties, bans and top_p, but without top_k,
// candidates and members. It also leaves rows with unusual logits (NaN, too large). It
// lists what it leaves, and draw_rows draws those.
//
// Seen and banned tokens are marked as touched; the passes leave them out, and they are
// handled by themselves. The first pass finds the largest value and the sum of the
// softmax. The second sorts that sum roughly into bins, which tells between which two
// values top_p cuts. The third adds up by chunks what is above, lists what is between, and
// shows that the cut is there. It adds up the masses of mass.h, so that the draw is bit
// for bit that of draw_rows.
#pragma once

#include "sampler/sampler.h"

namespace sampling {

// Whether there are so many rows that this is faster, and they fit.
bool takes_many(const DrawArgs &a);

// Draws for the rows it takes; a.scratch.left has the others.
void draw_many(const DrawArgs &a, gpuStream stream);

} // namespace sampling
