// Package ui is the terminal interface: tabs of conversations, a composer, a
// transcript, panels and dialogs, on Bubble Tea; and a plain, line by line
// interface for screen readers.
//
// One root Model owns everything and is the kit.Host of the rooms, which are
// packages below this one. The root knows a room by its kit.Feature; the composer
// and the transcript are views, of which every tab has one. Panes are plain
// structs with methods, not models of their own: they return lines, and what a
// room wants done is a kit.Action, which Update carries out. Update and View do no
// input or output; whatever may block runs in a command. Tokens reach the screen
// through one frame loop: it waits for the workspace to change and looks at all
// open dialogues at most thirty times a second, so an idle program uses no
// processor time.
package ui
