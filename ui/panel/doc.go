// Package panel has the panels beside the messages (sampling, monitor, mixer,
// adapters), the heat strip above the prompt, the monitor's one-line form for
// the bottom of the screen, and the commands that belong to them.
//
// What a key should change is returned as an action for the program to carry
// out. It shows once the panel has looked at the conversation again.
package panel
