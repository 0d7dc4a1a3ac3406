// Package hub fetches model files: by the addresses of Hugging Face and ModelScope, by
// the short names of a table of official releases, or by any URL; in parallel ranges,
// resumed after an interruption, with the checksum computed while they come. It keeps
// them in a folder by their contents. It asks no server before it is told to fetch.
package hub
