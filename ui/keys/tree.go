package keys

// The ids of what is done with the tree of a conversation.
const (
	Undo    ID = "undo"
	Redo    ID = "redo"
	Scrub   ID = "scrub"
	Suspend ID = "suspend"

	EditAnswer ID = "edit_answer"
	Fork       ID = "fork"
	ForkMany   ID = "fork_many"
	Best       ID = "best_of"
	Tokens     ID = "tokens"
	Label      ID = "label_turn"
	PinTurn    ID = "pin_turn"
)

// treeTable is the part of the table about the tree of a conversation.
var treeTable = []Action{
	{ID: Undo, Title: "Undo the last exchange", Help: "take the last prompt and its answer back; they stay ahead and can be redone", Category: Tree, Keys: []string{"ctrl+z", "alt+u", "u"}, Contexts: Global, Slash: "undo"},
	{ID: Redo, Title: "Redo an exchange", Help: "go on to the end of the next exchange that was undone", Category: Tree, Keys: []string{"ctrl+y", "alt+shift+u", "U"}, Contexts: Global, Slash: "redo"},
	{ID: Scrub, Title: "Go through the line", Help: "walk over all turns of the line, see how each was made, and go on from any", Category: Tree, Keys: []string{"f7", "alt+g"}, Contexts: Global, Slash: "scrub", Args: "[number]", Aliases: []string{"goto"}},
	{ID: EditAnswer, Title: "Edit an answer", Help: "write another text for the selected or last answer, or let the model go on from the cursor; the old one stays as a version", Category: Tree, Keys: []string{"alt+shift+e", "E"}, Contexts: Global, Slash: "rewrite", Args: "[text]"},
	{ID: Fork, Title: "Fork into a new tab", Help: "open a copy of the conversation up to the selected or last turn, with its state", Category: Tree, Keys: []string{"alt+v", "f"}, Contexts: Global, Slash: "fork", Args: "[number of tabs]"},
	{ID: ForkMany, Title: "Fork into several tabs", Help: "ask for a number and open as many copies", Category: Tree, Keys: []string{"alt+shift+v", "F"}, Contexts: Global},
	{ID: Best, Title: "Best of several answers", Help: "generate several answers to the prompt at once and choose; 4 unless told otherwise", Category: Tree, Keys: []string{"alt+shift+r", "R"}, Contexts: Global, Slash: "best", Args: "[2 to 8]"},
	{ID: Tokens, Title: "Look at the tokens of an answer", Help: "see what else could have stood at each token, and go on from another one", Category: Tree, Keys: []string{"alt+shift+i", "i"}, Contexts: Global, Slash: "tokens", Args: "[token [candidate]]"},
	{ID: Label, Title: "Name a turn", Help: "give the selected or last turn a name; its state is kept", Category: Tree, Keys: []string{"alt+l", "l"}, Contexts: Global, Slash: "label", Args: "[name]"},
	{ID: PinTurn, Title: "Pin a turn", Help: "the state of the selected or last turn is never thinned out, or it may be again", Category: Tree, Keys: []string{"alt+shift+k", "L"}, Contexts: Global, Slash: "pin_turn"},
	{ID: Suspend, Title: "Suspend the program", Help: "go back to the shell, which brings the program back with fg; ctrl+z is undo here", Category: Program, Contexts: Global, Slash: "suspend"},
}
