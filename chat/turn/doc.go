// Package turn has the data of conversations: turns and their tree, states,
// mixes, adapters and votes as they are stored, exported and served, and the
// Store that keeps them. It is plain data; what conversations do is in chat.
package turn
