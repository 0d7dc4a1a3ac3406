package keys

// The ids of what is done side by side.
const (
	Compare ID = "compare"
	Votes   ID = "votes"

	SetupEdit      ID = "setup_edit"
	SetupDuplicate ID = "setup_duplicate"
	SetupRemove    ID = "setup_remove"
	SetupName      ID = "setup_name"
	SetupModels    ID = "setup_models"
	SetupStates    ID = "setup_states"
	SetupAdapters  ID = "setup_adapters"
	SetupPresets   ID = "setup_presets"
	SetupSeeds     ID = "setup_seeds"
	SetupPrompt    ID = "setup_prompt"
	SetupBlind     ID = "setup_blind"

	PaneNext      ID = "pane_next"
	PanePrev      ID = "pane_previous"
	PaneMark      ID = "pane_mark"
	PaneZoom      ID = "pane_zoom"
	PaneReference ID = "pane_reference"
	PaneSync      ID = "pane_sync"
	PaneUp        ID = "pane_up"
	PaneDown      ID = "pane_down"
	PaneTop       ID = "pane_top"
	PaneEnd       ID = "pane_end"
	PaneDiffers   ID = "pane_difference"
	PaneStop      ID = "pane_stop"
	PaneAgain     ID = "pane_again"
	PaneFork      ID = "pane_fork"
	PaneDrop      ID = "pane_drop"
	PaneDiscard   ID = "pane_discard"
	PaneVote      ID = "pane_vote"
	PaneTie       ID = "pane_tie"
	PaneReveal    ID = "pane_reveal"
	PaneVotes     ID = "pane_votes"

	VotesCSV   ID = "votes_csv"
	VotesJSONL ID = "votes_jsonl"
)

// compareTable is the part of the table about comparing answers.
var compareTable = []Action{
	{ID: Compare, Title: "Compare answers", Help: "answer a prompt in 2 to 8 ways, side by side", Category: Tree, Keys: []string{"f12", "alt+shift+c", "C"}, Contexts: Global, Slash: "compare", Args: "[prompt]", Answers: true},
	{ID: Votes, Title: "Votes of comparisons", Help: "show or export votes, or vote for an answer", Category: Tree, Contexts: Global, Slash: "votes", Args: "[number|tie]"},

	{ID: SetupEdit, Title: "Change the cell", Help: "choose or write the value of the cell", Category: Comparison, Keys: []string{"space"}, Contexts: Setup, Hidden: true},
	{ID: SetupPrompt, Title: "Write the prompt", Help: "write the prompt; without one, use the last", Category: Comparison, Keys: []string{"w"}, Contexts: Setup, Hidden: true},
	{ID: SetupModels, Title: "Fill with models", Help: "add a variant for each marked model", Category: Comparison, Keys: []string{"m"}, Contexts: Setup, Hidden: true},
	{ID: SetupStates, Title: "Fill with states", Help: "add a variant for each marked state", Category: Comparison, Keys: []string{"s"}, Contexts: Setup, Hidden: true},
	{ID: SetupAdapters, Title: "Fill with adapters", Help: "add a variant for each marked adapter", Category: Comparison, Keys: []string{"a"}, Contexts: Setup, Hidden: true},
	{ID: SetupPresets, Title: "Fill with presets", Help: "add a variant for each marked preset", Category: Comparison, Keys: []string{"p"}, Contexts: Setup, Hidden: true},
	{ID: SetupSeeds, Title: "Fill with seeds", Help: "repeat the selected variant with other seeds", Category: Comparison, Keys: []string{"n"}, Contexts: Setup, Hidden: true},
	{ID: SetupDuplicate, Title: "Duplicate the variant", Help: "add a copy of the selected variant", Category: Comparison, Keys: []string{"d", "+"}, Contexts: Setup, Hidden: true},
	{ID: SetupRemove, Title: "Remove the variant", Help: "take the selected variant away", Category: Comparison, Keys: []string{"x", "delete", "ctrl+x"}, Contexts: Setup, Hidden: true},
	{ID: SetupName, Title: "Name the variant", Help: "give the selected variant a name", Category: Comparison, Keys: []string{"r", "f2"}, Contexts: Setup, Hidden: true},
	{ID: SetupBlind, Title: "Blind or open", Help: "hide the names until you vote", Category: Comparison, Keys: []string{"b"}, Contexts: Setup, Hidden: true},

	{ID: PaneNext, Title: "Next pane", Help: "go to the next pane", Category: Comparison, Keys: []string{"tab"}, Contexts: Panes, Hidden: true},
	{ID: PanePrev, Title: "Previous pane", Help: "go to the previous pane", Category: Comparison, Keys: []string{"shift+tab"}, Contexts: Panes, Hidden: true},
	{ID: PaneMark, Title: "Mark the pane", Help: "mark the pane, to keep or fork several", Category: Comparison, Keys: []string{"space"}, Contexts: Panes, Hidden: true},
	{ID: PaneZoom, Title: "Zoom", Help: "show one pane large, or all again", Category: Comparison, Keys: []string{"z"}, Contexts: Panes, Hidden: true},
	{ID: PaneReference, Title: "Reference", Help: "compare the other panes with this one", Category: Comparison, Keys: []string{"r"}, Contexts: Panes, Hidden: true},
	{ID: PaneSync, Title: "Scroll together", Help: "scroll all panes together, or each alone", Category: Comparison, Keys: []string{"y"}, Contexts: Panes, Hidden: true},
	{ID: PaneUp, Title: "Scroll up", Help: "scroll up one line", Category: Comparison, Keys: []string{"k", "alt+up"}, Contexts: Panes, Hidden: true},
	{ID: PaneDown, Title: "Scroll down", Help: "scroll down one line", Category: Comparison, Keys: []string{"j", "alt+down"}, Contexts: Panes, Hidden: true},
	{ID: PaneTop, Title: "To the beginning", Help: "scroll to the beginning", Category: Comparison, Keys: []string{"g", "home"}, Contexts: Panes, Hidden: true},
	{ID: PaneEnd, Title: "To the end", Help: "scroll to the end and follow the answers", Category: Comparison, Keys: []string{"G", "end"}, Contexts: Panes, Hidden: true},
	{ID: PaneDiffers, Title: "To the difference", Help: "scroll to the first difference", Category: Comparison, Keys: []string{"d"}, Contexts: Panes, Hidden: true},
	{ID: PaneStop, Title: "Stop", Help: "stop all answers and keep their text", Category: Comparison, Keys: []string{"s"}, Contexts: Panes, Hidden: true},
	{ID: PaneAgain, Title: "Again", Help: "compare again with the next seeds", Category: Comparison, Keys: []string{"a"}, Contexts: Panes, Hidden: true},
	{ID: PaneFork, Title: "Fork into tabs", Help: "open a tab for each marked answer, or for all", Category: Comparison, Keys: []string{"f"}, Contexts: Panes, Hidden: true},
	{ID: PaneDrop, Title: "Keep only these", Help: "keep the marked answers, remove the others", Category: Comparison, Keys: []string{"x", "ctrl+x"}, Contexts: Panes, Hidden: true},
	{ID: PaneDiscard, Title: "Discard all", Help: "remove all answers", Category: Comparison, Keys: []string{"X"}, Contexts: Panes, Hidden: true},
	{ID: PaneVote, Title: "Vote", Help: "vote for this answer and show the names", Category: Comparison, Keys: []string{"v"}, Contexts: Panes, Hidden: true},
	{ID: PaneTie, Title: "Tie", Help: "vote for no answer and show the names", Category: Comparison, Keys: []string{"t"}, Contexts: Panes, Hidden: true},
	{ID: PaneReveal, Title: "Show the names", Help: "show the hidden names without a vote", Category: Comparison, Keys: []string{"b"}, Contexts: Panes, Hidden: true},
	{ID: PaneVotes, Title: "Win table", Help: "show how often each variant was preferred", Category: Comparison, Keys: []string{"w"}, Contexts: Panes, Hidden: true},

	{ID: VotesCSV, Title: "Export votes as CSV", Help: "write all votes to a CSV file", Category: Comparison, Keys: []string{"alt+c"}, Contexts: List, Hidden: true},
	{ID: VotesJSONL, Title: "Export votes as JSONL", Help: "write all votes to a JSONL file", Category: Comparison, Keys: []string{"alt+j"}, Contexts: List, Hidden: true},
}
