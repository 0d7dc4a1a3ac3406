package keys

import "strings"

// An ID names an action, in the configuration and in the code.
type ID string

// A Context is a set of places in which an action's keys are active.
type Context uint8

// The contexts. Exactly one of them has the keyboard at any moment.
const (
	Composer   Context = 1 << iota // the prompt is being written
	Transcript                     // messages are being read
	Panel                          // the sampling or monitor panel
	List                           // a dialog: a list, a question, a text to fill in
	Setup                          // the table of what is compared
	Panes                          // answers side by side

	// Global is everywhere but in dialogs, which are modal.
	Global = Composer | Transcript | Panel
)

// String names the set, for the key page.
func (c Context) String() string {
	var names []string
	if c&Global == Global {
		names, c = append(names, "everywhere"), c&^Global
	}
	for _, n := range []struct {
		c    Context
		name string
	}{{Composer, "prompt"}, {Transcript, "messages"}, {Panel, "panels"}, {List, "dialogs"}, {Setup, "comparison setup"}, {Panes, "comparison"}} {
		if c&n.c != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// A Category groups actions on the help screen and the key page.
type Category string

// The categories, in the order they are shown.
const (
	Conversation Category = "Conversation"
	Tree         Category = "Tree"
	Prompt       Category = "Prompt"
	Messages     Category = "Messages"
	Tabs         Category = "Tabs"
	Sampling     Category = "Sampling"
	Program      Category = "Program"
	Editing      Category = "Text editing"
	Lists        Category = "Dialogs"
	Comparison   Category = "Comparison"
)

// Categories are all categories in the order they are shown.
var Categories = []Category{Conversation, Tree, Prompt, Messages, Tabs, Sampling, Program, Editing, Lists, Comparison}

// An Action is one thing a person can do.
type Action struct {
	ID       ID
	Title    string // imperative, as the palette shows it
	Help     string // one line, no full stop
	Category Category
	Keys     []string // by default, the one to show first
	Contexts Context
	Slash    string // name of the slash command, "" for none
	Args     string // of the slash command: <needed> or [optional]
	Aliases  []string
	Hidden   bool // not in the palette: pressing it from there makes no sense
	Answers  bool // begins answers: it waits while a tab holds them back
}

// NeedsArgument reports whether the slash command is useless without one.
func (a Action) NeedsArgument() bool { return strings.HasPrefix(a.Args, "<") }

// Usage is how the slash command is written: "/temp <0 to 5>".
func (a Action) Usage() string {
	if a.Args == "" {
		return "/" + a.Slash
	}
	return "/" + a.Slash + " " + a.Args
}

// Find returns the action with an id.
func Find(id ID) (Action, bool) {
	a, ok := byID[id]
	return a, ok
}

// Slash returns the action of a slash command, named without its slash.
func Slash(name string) (Action, bool) {
	for _, a := range table {
		if a.Slash == "" {
			continue
		}
		if a.Slash == name {
			return a, true
		}
		for _, alias := range a.Aliases {
			if alias == name {
				return a, true
			}
		}
	}
	return Action{}, false
}

// Actions are all actions in the order of the table. The slice must not be changed.
func Actions() []Action { return table }

var byID = func() map[ID]Action {
	m := make(map[ID]Action, len(table))
	for _, a := range table {
		m[a.ID] = a
	}
	return m
}()
