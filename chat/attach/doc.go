// Package attach reads the files that a prompt names. A prompt names a file or a
// folder as @path, or as @"a path" if it has spaces, at the beginning of a word:
//
//	Compare @draft.md with @"old drafts/", please.
//
// When the prompt is sent, the mark is dropped from each name and the files' text
// stands behind the prompt, fenced, under their names. A name that no file has stays
// as it was written, and @@ is an @. Files may come from anywhere: they are opened by
// package untrusted, all sizes are bounded, and what is not text is refused by its
// content, whatever it is called.
package attach
