// Package compare holds what answers to one prompt are compared by: where they
// begin to differ, how likely a reference finds them, what people voted, and
// the shares of votes that variants have won.
package compare
