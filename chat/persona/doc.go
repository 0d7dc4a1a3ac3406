// Package persona keeps who a conversation is with: a system prompt with variables, and
// the state, adapter, mix, sampling, way to think and form of the answers that belong to
// it. A persona is one JSON file that people can share; a library is a folder of them.
// Character cards of version 2, as JSON or inside of a PNG picture, are read as personas.
//
// Files may come from anywhere: they are opened by package untrusted, every size is
// bounded before it is used, and a persona names states and adapters only, so that no
// file brings weights or runs anything.
package persona
