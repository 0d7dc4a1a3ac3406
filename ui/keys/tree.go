package keys

// The ids of what is done with the tree of a conversation.
const (
	Undo    ID = "undo"
	Redo    ID = "redo"
	Scrub   ID = "scrub"
	Suspend ID = "suspend"
)

// treeTable is the part of the table about the tree of a conversation.
var treeTable = []Action{
	{ID: Undo, Title: "Undo the last exchange", Help: "take the last prompt and its answer back; they stay ahead and can be redone", Category: Tree, Keys: []string{"ctrl+z", "alt+u", "u"}, Contexts: Global, Slash: "undo"},
	{ID: Redo, Title: "Redo an exchange", Help: "go on to the end of the next exchange that was undone", Category: Tree, Keys: []string{"ctrl+y", "alt+shift+u", "U"}, Contexts: Global, Slash: "redo"},
	{ID: Scrub, Title: "Go through the line", Help: "walk over all turns of the line, see how each was made, and go on from any", Category: Tree, Keys: []string{"f7", "alt+g"}, Contexts: Global, Slash: "scrub", Args: "[number]", Aliases: []string{"goto"}},
	{ID: Suspend, Title: "Suspend the program", Help: "go back to the shell, which brings the program back with fg; ctrl+z is undo here", Category: Program, Contexts: Global, Slash: "suspend"},
}
