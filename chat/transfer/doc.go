// Package transfer carries conversations out of a store and into one: bundles
// with states, the JSON of whole trees and of visible lines, markdown, and the
// files of other programs in the forms of ShareGPT and OpenAI.
//
// It works on turn.Tree and turn.Store alone. What is read from a file is
// checked before it is stored: a file can at worst be refused. docs/formats.md
// describes the files.
package transfer
