// Package sampler turns logits into tokens: penalties, truncation,
// temperature and the draw. It is the specification that every device's
// sampler is tested against.
package sampler
