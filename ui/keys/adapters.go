package keys

// The ids of what is done with adapters.
const (
	Adapters ID = "adapters_panel"
	Reread   ID = "reread"
	Models   ID = "models"
)

// adaptersTable is the part of the table about what runs.
var adaptersTable = []Action{
	{ID: Adapters, Title: "Adapters panel", Help: "show or hide the adapters: choose one for the conversation from the next token on, at a strength", Category: Sampling, Keys: []string{"f10", "alt+q"}, Contexts: Global, Slash: "adapter", Args: "[name, file or off]", Aliases: []string{"adapters"}},
	{ID: Reread, Title: "Read again with this adapter", Help: "what an adapter has read that is not there any more is read again with the one in use; the answer goes on", Category: Sampling, Contexts: Global, Slash: "reread"},
	{ID: Models, Title: "Models", Help: "choose another model: the program loads it and opens the conversations again", Category: Program, Keys: []string{"alt+shift+m"}, Contexts: Global, Slash: "models", Args: "[name or file]", Aliases: []string{"model"}},
}
