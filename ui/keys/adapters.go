package keys

// The ids of what is done with adapters.
const (
	Adapters ID = "adapters_panel"
	Reread   ID = "reread"
	Models   ID = "models"
)

// adaptersTable is the part of the table about what runs.
var adaptersTable = []Action{
	{ID: Adapters, Title: "Adapters panel", Help: "choose an adapter and its strength", Category: Sampling, Keys: []string{"f10", "alt+q"}, Contexts: Global, Slash: "adapter", Args: "[name, file or off]", Aliases: []string{"adapters"}},
	{ID: Reread, Title: "Read again with this adapter", Help: "read turns again without a missing adapter", Category: Sampling, Contexts: Global, Slash: "reread", Answers: true},
	{ID: Models, Title: "Models", Help: "choose another model and reopen the conversations", Category: Program, Keys: []string{"alt+shift+m"}, Contexts: Global, Slash: "models", Args: "[name or file]", Aliases: []string{"model"}},
}
