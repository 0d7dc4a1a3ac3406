package ui

import (
	"errors"

	"rookery/chat/prompt"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/library"
	"rookery/ui/panel"
)

// command runs a slash command of the line interface.
func (p *plain) command(name, arg string) error {
	a, ok := keys.Slash(name)
	if !ok {
		return errors.New("there is no command /" + name + "; /help lists them")
	}
	if a.NeedsArgument() && arg == "" {
		return errors.New("write " + a.Usage())
	}
	switch a.ID {
	case keys.Quit:
		return errLeave
	case keys.Help:
		p.help()
	case keys.NewTab, keys.CloseTab:
		p.use(p.workspace.New())
		p.say("A new conversation.")
	case keys.Conversations:
		return p.openStored(arg)
	case keys.PinConversation, keys.ArchiveConversation, keys.DeleteConversation, keys.UndeleteConversation:
		return p.shelve(a.ID)
	case keys.RenameTab:
		if arg == "" {
			return errors.New("write /rename and a title")
		}
		return p.d.SetTitle(kit.OneLine(arg))
	case keys.System:
		return p.system(arg)
	case keys.EditLast:
		if arg == "" {
			return errors.New("write /edit and the new prompt")
		}
		return p.answered(func() error { return p.d.EditLast(arg) })
	case keys.Retry, keys.Reread:
		return p.answered(func() error { return p.dialogue(a.ID, arg) })
	case keys.Export:
		return p.export(arg)
	case keys.Import:
		return p.importFiles(arg)
	case keys.MonitorPanel:
		p.monitor()
	case keys.States, keys.Bake, keys.KeepState, keys.Drift:
		return p.library(a.ID, arg)
	case keys.Models:
		return p.models(arg)
	case keys.Adapters:
		return p.adapter(arg)
	case keys.Mix, keys.MixPresets, keys.SaveMix:
		return p.mixes(a.ID, arg)
	case keys.SavePreset, keys.SaveDefault:
		return p.keepSampling(a.ID, arg)
	case keys.Fork:
		return p.fork(arg)
	case keys.Tokens:
		return p.tokens(arg)
	case keys.Best:
		p.choosing = true
		return p.dialogue(a.ID, arg)
	case keys.Compare:
		return p.compare(arg)
	case keys.Votes:
		return p.votes(arg)
	case keys.SamplingPanel:
		return p.sampling()
	case keys.Think, keys.Preset:
		if arg == "" {
			p.choices(a.ID)
			return nil
		}
		return p.dialogue(a.ID, arg)
	default:
		return p.dialogue(a.ID, arg)
	}
	return nil
}

// dialogue runs what concerns the conversation alone.
func (p *plain) dialogue(id keys.ID, arg string) error {
	said, err := p.give(id, arg)
	if errors.Is(err, errNoCommand) {
		return errors.New("this command needs the screen; /help lists those that work here")
	}
	if err == nil && said != "" {
		p.say(capital(said) + ".")
	}
	return err
}

// give gives a command to the conversation, about its last turn.
func (p *plain) give(id keys.ID, arg string) (said string, err error) {
	for _, f := range features(p.options) {
		run, ok := f.Commands[id]
		if !ok {
			continue
		}
		c := kit.Call{ID: id, Arg: arg, Dialogue: p.conversation(), Model: p.model, Presets: prompt.Presets(p.model, p.own...)}
		if turns := p.d.View().Turns; len(turns) > 0 {
			c.Turn = turns[len(turns)-1].ID
		}
		return run(c)
	}
	return command(p.d, p.model, p.own, id, arg)
}

// spokenCommands are the commands that work without a screen, in the order of
// the action table.
func spokenCommands() []keys.Action {
	silent := map[keys.ID]bool{
		keys.HistoryFind: true, keys.Editor: true, keys.Top: true, keys.Bottom: true, keys.Fold: true,
		keys.CopyMessage: true, keys.Search: true, keys.ReopenTab: true, keys.Mouse: true,
		keys.Suspend: true, keys.Heat: true,
	}
	var all []keys.Action
	for _, a := range keys.Actions() {
		if a.Slash != "" && !silent[a.ID] {
			all = append(all, a)
		}
	}
	return all
}

func (p *plain) help() {
	p.say("Write a message and press enter. A backslash at the end of a line goes on with the next line.")
	for _, a := range spokenCommands() {
		p.say(a.Usage() + ": " + a.Help + ".")
	}
}

// use makes a dialogue the open one.
func (p *plain) use(d dialogue) {
	if d.ID() != p.d.ID() {
		p.workspace.CloseDialogue(p.d)
		p.d, p.live, p.choosing = d, 0, false
	}
	p.workspace.SaveLayout([]dialogue{p.d}, 0)
}

func (p *plain) system(arg string) error {
	if arg != "" {
		p.say("The system prompt is set.")
		return p.d.SetSystem(arg)
	}
	if text := p.d.View().Conversation.System; text != "" {
		p.say("The system prompt: " + kit.Clean(text))
	} else {
		p.say("There is no system prompt. /system and a text sets one.")
	}
	return nil
}

func (p *plain) export(arg string) error {
	v := p.d.View()
	if len(v.Turns) == 0 {
		return errors.New("there is nothing to export yet")
	}
	e := library.NewExport(arg, kit.TitleOf(v.Conversation))
	if err := e.Write(p.ctx, p.options.Workspace, v.Conversation, v.Turns); err != nil {
		return err
	}
	p.say("Exported to " + e.Path + ".")
	return nil
}

// choices says what there is to choose from.
func (p *plain) choices(id keys.ID) {
	c := p.d.View().Conversation
	if id == keys.Think {
		for _, mode := range prompt.ThinkModes(p.model) {
			p.say(string(mode) + ": " + panel.AboutThinking[mode] + "." + chosen(mode == c.Think))
		}
		return
	}
	for _, preset := range prompt.Presets(p.model, p.own...) {
		p.say(preset.Name + ": " + preset.About + "." + chosen(preset.Name == c.Preset))
	}
}

func chosen(is bool) string {
	if is {
		return " This one is chosen."
	}
	return ""
}
