// Package persona is the library of personas: who a conversation is with.
package persona
