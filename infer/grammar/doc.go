// Package grammar lets an answer only be what a JSON schema, a regular
// expression or a GBNF grammar describes: it says which tokens may come next.
//
// A grammar is compiled to rules over bytes. Each rule is a deterministic
// automaton whose edges read a byte or call another rule, so characters of
// several bytes are whole by construction. A position in the grammar is a set
// of stacks of such states (frames that share their parents). Positions are
// numbered as they are met, and each remembers where each byte leads to, so
// a text that was met before costs a look into a table for every byte.
//
// The tokens that may come next are found by walking the vocabulary as a trie.
// What a token does inside a rule does not depend on the stack below, so that
// part is computed once for each state; only the few tokens that reach beyond
// the end of the rule are tried on the whole stack.
//
// Every position can reach an end: parts of a grammar that match nothing are
// removed, and a grammar in which nothing is left is refused. Text of a
// grammar, a schema or an expression is untrusted: its size, its nesting and
// the size of what it becomes are bounded.
package grammar
