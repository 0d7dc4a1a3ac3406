// Package measure times a backend as the engine uses it: whole steps, with
// sampling and the token back on the host.
package measure
