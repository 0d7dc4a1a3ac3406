// Package composer is where prompts are written: a text area with large pastes
// held aside, the menu of slash commands, the history of prompts, and the way to
// an external editor.
package composer
