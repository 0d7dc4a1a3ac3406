package plain

import (
	"errors"
	"fmt"

	"rookery/chat/prompt"
	"rookery/ui/compare"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// ownCommands are the commands that this interface carries out by itself. All
// others are those of the features.
func (c *console) ownCommands() map[keys.ID]func(arg string) error {
	return map[keys.ID]func(string) error{
		keys.Quit:     func(string) error { return errLeave },
		keys.Help:     c.help,
		keys.NewTab:   c.begin,
		keys.CloseTab: c.begin,
		keys.System:   c.system,
		keys.EditLast: c.editLast,
		keys.Retry:    c.startByFeature(keys.Retry),
		keys.Reread:   c.startByFeature(keys.Reread),
		keys.Think:    c.think,
		keys.Form:     c.form,
		keys.Preset:   c.preset,

		keys.Conversations:        c.openStored,
		keys.RenameTab:            c.rename,
		keys.PinConversation:      c.pin,
		keys.ArchiveConversation:  c.archive,
		keys.DeleteConversation:   c.moveToBin,
		keys.UndeleteConversation: c.restoreFromBin,
		keys.Export:               c.export,
		keys.Import:               c.importFiles,

		keys.States:    c.states,
		keys.Bake:      c.bake,
		keys.FromFiles: c.fromFiles,
		keys.KeepState: c.keepState,
		keys.Drift:     c.drift,
		keys.Personas:  c.persona,

		keys.Fork:   c.fork,
		keys.Tokens: c.tokens,

		keys.Best:    c.best,
		keys.Compare: c.compare,
		keys.Votes:   c.votes,

		keys.Mix:        c.mix,
		keys.MixPresets: c.savedMixes,
		keys.SaveMix:    c.saveMix,

		keys.Adapters:      c.adapter,
		keys.Models:        c.models,
		keys.SamplingPanel: c.sampling,
		keys.SavePreset:    c.savePreset,
		keys.SaveDefault:   c.saveDefault,
		keys.MonitorPanel:  c.monitor,
	}
}

// runCommand runs a slash command.
func (c *console) runCommand(name, arg string) error {
	a, ok := keys.Slash(name)
	switch {
	case !ok:
		return errors.New("there is no command /" + name + "; /help lists them")
	case a.NeedsArgument() && arg == "":
		return errors.New("write " + a.Usage())
	}
	if run, ok := c.own[a.ID]; ok {
		return run(arg)
	}
	return c.runFeature(a.ID, arg)
}

// featureCommand is the command of a feature, or nil.
func (c *console) featureCommand(id keys.ID) func(kit.Call) (string, error) {
	for _, f := range c.options.Features {
		if run, ok := f.Commands[id]; ok {
			return run
		}
	}
	return nil
}

// runFeature gives a command of a feature to the conversation, about its last
// turn.
func (c *console) runFeature(id keys.ID, arg string) error {
	run := c.featureCommand(id)
	if run == nil {
		return errors.New("this command needs the screen; /help lists those that work here")
	}
	call := kit.Call{ID: id, Arg: arg, Dialogue: c.d, Model: c.model, Presets: c.allPresets()}
	if turns := c.d.View().Turns; len(turns) > 0 {
		call.Turn = turns[len(turns)-1].ID
	}
	said, err := run(call)
	if err == nil && said != "" {
		c.say(kit.Capitalize(said) + ".")
	}
	return err
}

// startByFeature is a command of a feature that starts an answer.
func (c *console) startByFeature(id keys.ID) func(string) error {
	return func(arg string) error {
		return c.startAnswer(func() error { return c.runFeature(id, arg) })
	}
}

// works reports whether a command works without a screen.
func (c *console) works(a keys.Action) bool {
	return a.Slash != "" && (c.own[a.ID] != nil || c.featureCommand(a.ID) != nil)
}

// help lists the commands in the order of the action table.
func (c *console) help(string) error {
	c.say("Write a message and press enter. A backslash at the end of a line goes on with the next line. @ and a path names a file, whose text is sent too.")
	for _, a := range keys.Actions() {
		if c.works(a) {
			c.say(a.Usage() + ": " + a.Help + ".")
		}
	}
	return nil
}

func (c *console) begin(string) error {
	c.use(c.workspace.New())
	c.say("A new conversation.")
	return nil
}

func (c *console) system(text string) error {
	if text != "" {
		c.say("The system prompt is set.")
		return c.d.SetSystem(text)
	}
	if text := c.d.View().Conversation.System; text != "" {
		c.say("The system prompt: " + kit.Clean(text))
	} else {
		c.say("There is no system prompt. /system and a text sets one.")
	}
	return nil
}

func (c *console) editLast(text string) error {
	if text == "" {
		return errors.New("write /edit and the new prompt")
	}
	text, err := c.readFiles(text)
	if err != nil {
		return err
	}
	return c.startAnswer(func() error { return c.d.EditLast(text) })
}

// best answers the last prompt several times, with other seeds.
func (c *console) best(arg string) error {
	n, err := kit.ParseNumber(arg, compare.DefaultBest)
	if err != nil {
		return err
	}
	if err := c.d.Best(n); err != nil {
		return err
	}
	c.choosing = true
	c.say(fmt.Sprintf("%d answers to the prompt.", n))
	return nil
}

// think chooses the way to think, or says which there are.
func (c *console) think(mode string) error {
	if mode != "" {
		return c.runFeature(keys.Think, mode)
	}
	inUse := c.d.View().Conversation.Think
	for _, mode := range prompt.ThinkModes(c.model) {
		c.say(string(mode) + ": " + panel.AboutThinking[mode] + "." + markChosen(mode == inUse))
	}
	return nil
}

// form holds the answers to a form, or says which one is in use.
func (c *console) form(text string) error {
	if text == "" {
		c.say(panel.FormNote(c.d.View().Conversation.Form) + ".")
		return nil
	}
	spec, err := panel.ReadForm(c.ctx, text)
	if err != nil {
		return err
	}
	if err := c.d.SetForm(spec); err != nil {
		return err
	}
	c.say(panel.FormNote(spec) + ", from the next one on.")
	return nil
}

// preset chooses a preset of sampling, or says which there are.
func (c *console) preset(name string) error {
	if name != "" {
		return c.runFeature(keys.Preset, name)
	}
	inUse := c.d.View().Conversation.Preset
	for _, p := range c.allPresets() {
		c.say(p.Name + ": " + p.About + "." + markChosen(p.Name == inUse))
	}
	return nil
}

// allPresets are those of the model and the person's own.
func (c *console) allPresets() []prompt.Preset { return prompt.Presets(c.model, c.presets...) }

func markChosen(is bool) string {
	if is {
		return " This one is chosen."
	}
	return ""
}
