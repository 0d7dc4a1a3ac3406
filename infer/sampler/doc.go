// Package sampler turns logits into tokens: penalties, truncation,
// temperature and the draw. It is the specification that every device's
// sampler is tested against.
//
// # The definition
//
// Every step is defined to the bit, and none depends on the order in which
// numbers are added, so that a device can reproduce it draw for draw.
//
//  1. z = the logits of ids below the vocabulary's size. NaN counts as -Inf.
//  2. Penalties and bans (see Mode): z[t] -= penalty(t), z[banned] = -Inf, in
//     float32. A +Inf that is left counts as the largest float32. m = max z.
//  3. The mass of a token is 2^((z-m)*c) as an integer multiple of 2^-44, as
//     the function mass says; c is log2(e) for the softmax and log2(e)/T with
//     a temperature T. Sums of masses are 64-bit integers, and exact.
//  4. Truncation keeps the tokens with z > theta, and of those with z = theta
//     either all, or the first by id, or all with a smaller mass (see Mode).
//     theta is the largest z at which the tokens with z >= theta reach a limit:
//     for top_p (below 1) a mass of max(1, ceil(top_p*sum)), computed in
//     float64 from the sum of the masses of that softmax; for top_k a number.
//     min_p keeps the tokens with z >= m + log2(min_p)/c, computed in float64
//     and rounded to float32: those with at least min_p times the probability of
//     the likeliest. All three look at the same whole softmax, the untempered
//     one (in ModeRapid the tempered one), and the strictest decides. min_p is
//     from Nguyen et al., "Turning Up the Heat: Min-p Sampling for Creative and
//     Coherent LLM Outputs" (2024), which applies it after the temperature; the
//     RWKV order truncates before it.
//     In ModeRapid the n tokens with z = theta have each the mass
//     min(own, (target-above)/n, own*(top_k-places)/n), of the terms whose
//     limit theta reaches, rounded down, where above and places are mass and
//     number of the tokens with z > theta; but at least 1 if there are none.
//  5. The draw takes R, the next 64 bits of the random stream (see Random),
//     and chooses the smallest kept id whose mass and those of all kept ids
//     before it sum up to more than floor(total*R / 2^64).
//
// If no token is left, or there are no logits, the draw is token 0, the end
// of text, with the log-probability -Inf.
package sampler
