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
	{ID: Undo, Title: "Undo the last exchange", Help: "take the last prompt and its answer back", Category: Tree, Keys: []string{"ctrl+z", "alt+u", "u"}, Contexts: Global, Slash: "undo"},
	{ID: Redo, Title: "Redo an exchange", Help: "bring back the exchange that was undone", Category: Tree, Keys: []string{"ctrl+y", "alt+shift+u", "U"}, Contexts: Global, Slash: "redo"},
	{ID: Scrub, Title: "Go through the line", Help: "walk over all turns and go on from any", Category: Tree, Keys: []string{"f7", "alt+g"}, Contexts: Global, Slash: "scrub", Args: "[number]", Aliases: []string{"goto"}},
	{ID: EditAnswer, Title: "Edit an answer", Help: "rewrite an answer, or let the model go on from it", Category: Tree, Keys: []string{"alt+shift+e", "E"}, Contexts: Global, Slash: "rewrite", Args: "[text]"},
	{ID: Fork, Title: "Fork into a new tab", Help: "copy the conversation up to a turn into a new tab", Category: Tree, Keys: []string{"alt+v", "f"}, Contexts: Global, Slash: "fork", Args: "[number of tabs]"},
	{ID: ForkMany, Title: "Fork into several tabs", Help: "open several copies of the conversation", Category: Tree, Keys: []string{"alt+shift+v", "F"}, Contexts: Global},
	{ID: Best, Title: "Best of several answers", Help: "generate several answers and choose one", Category: Tree, Keys: []string{"alt+shift+r", "R"}, Contexts: Global, Slash: "best", Args: "[2 to 8]", Answers: true},
	{ID: Tokens, Title: "Look at the tokens of an answer", Help: "inspect the alternatives of each token", Category: Tree, Keys: []string{"alt+shift+i", "i"}, Contexts: Global, Slash: "tokens", Args: "[token [candidate]]"},
	{ID: Label, Title: "Name a turn", Help: "name a turn and keep its state", Category: Tree, Keys: []string{"alt+l", "l"}, Contexts: Global, Slash: "label", Args: "[name]"},
	{ID: PinTurn, Title: "Pin a turn", Help: "keep the state of a turn, or no longer", Category: Tree, Keys: []string{"alt+shift+k", "L"}, Contexts: Global, Slash: "pin_turn"},
	{ID: Suspend, Title: "Suspend the program", Help: "go back to the shell; fg brings you back", Category: Program, Contexts: Global, Slash: "suspend"},
}
