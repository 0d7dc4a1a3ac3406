// Package markdown renders markdown to terminal lines while it is being
// written.
//
// A Stream takes text in any pieces and keeps finished lines. CommonMark
// itself says that only the last block of a document can still change, so all
// blocks but that one are rendered once and never looked at again; the last
// list item, the last block of a quotation and the last line of an open code
// fence are told apart from what is finished in the same way. The cost of a
// piece of text therefore does not depend on how much came before it.
//
// Goldmark parses, Glamour styles the text of a block, package syntax colours
// code with chroma, package tex writes formulas. The layout is our own,
// because a stream needs three things that Glamour's does not give: where in
// the source a line came from, a layout in which nothing depends on text that
// is yet to come (so a list is not "loose" or "tight", each gap is as
// written), and lines that are exactly as long as what they show. Line breaks
// of the source are kept: a model that breaks a line means it.
//
// Model output is not trusted. Control characters, escape sequences and
// direction overrides, also those written as entities, become visible
// characters; HTML has no meaning and is shown as text; no line is wider than
// asked for; what is nested too deep is shown as plain text, and so is a block
// that cannot be rendered.
package markdown
