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
//     float32. Then biases: z[t] += bias. Then DRY: a token that would go on with
//     a repetition of n tokens, n at least dry_length, loses
//     dry*dry_base^(n-dry_length), computed in float64 and rounded to float32; n
//     is the longest end of the answer that occurred before it with this token
//     after it, within the last 2,048 tokens of the answer. No repetition goes
//     over, and no penalty is charged on, a token with a new line, a colon, a
//     quote or an asterisk. DRY is Weidmann's (text-generation-webui, pull
//     request 5677); it looks at the answer alone, as the other penalties do.
//     A +Inf that is left counts as the largest float32. m = max z.
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
//     RWKV order truncates before it. top_a is as min_p with
//     top_a*2^44/sum in place of min_p, which is top_a times the largest
//     probability (Bo Peng's, in RWKV-LM).
//     In ModeRapid the n tokens with z = theta have each the mass
//     min(own, (target-above)/n, own*(top_k-places)/n), of the terms whose
//     limit theta reaches, rounded down, where above and places are mass and
//     number of the tokens with z > theta; but at least 1 if there are none.
//     Typical and XTC then take tokens away from what is kept, whose masses are
//     those of the softmax that truncation looked at. Typical keeps the tokens
//     whose surprise, -ln of the share of the mass, is nearest to the mean
//     surprise of the kept, up to a mass of max(1, ceil(typical*sum)), with all
//     that tie with the last; distances are float32 (Meister et al., "Locally
//     Typical Sampling", 2023). XTC acts if a number of a stream of its own, of
//     53 bits, is below xtc: of the tokens with at least the share xtc_threshold
//     of the mass it keeps only the least likely, with all that tie with it
//     (Weidmann, text-generation-webui, pull request 6335). After either, m is
//     the largest z that is left, but in ModeRapid.
//  5. The draw takes R, the next 64 bits of the random stream (see Random),
//     and chooses the smallest kept id whose mass and those of all kept ids
//     before it sum up to more than floor(total*R / 2^64).
//
// If no token is left, or there are no logits, the draw is token 0, the end
// of text, with the log-probability -Inf.
package sampler
