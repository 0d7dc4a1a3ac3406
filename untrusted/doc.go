// Package untrusted opens files that may come from anywhere: models, adapters, states,
// vocabularies, bundles, prompts, configurations. Whoever reads such a file opens it
// here and nowhere else.
//
// A name may lead to a pipe that nobody writes to, a device without an end, a file of
// 400 GB or a disk that does not answer. So only regular files are opened, opening never
// waits for a writer, the size is checked before anything is read, and the context ends
// the reading.
//
// A small file is read whole:
//
//	data, err := untrusted.Read(ctx, path, 64<<20)
//
// A reader of a large format opens the file, says the most that the format can have,
// and checks every count and offset against Size before it allocates:
//
//	f, err := untrusted.Open(ctx, path, untrusted.Unbounded)
//	defer f.Close()
//
// List reads the names in a directory, a bounded number of them.
//
// A reader in infer/checkpoint needs neither: it is given an image that was opened here,
// with its length. Errors name the path and are one line.
package untrusted
