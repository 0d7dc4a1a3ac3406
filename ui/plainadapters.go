package ui

import (
	"fmt"
	"strconv"
	"strings"

	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// adapter says which adapters there are, or uses the one of a name or a file,
// or none. Words behind a name say what its file does not: alpha=32,
// strength=0.5, blocks=column.
func (p *plain) adapter(arg string) error {
	switch arg {
	case "":
		return p.adapters()
	case "off", "none":
		p.say("No adapter, from the next token on.")
		return p.d.SetAdapter(turn.Adapter{})
	}
	name, o, err := adapterWords(arg)
	if err != nil {
		return err
	}
	a, err := p.workspace.TakeAdapter(p.ctx, kit.ExpandHome(name), o)
	if err != nil {
		return err
	}
	if err := p.d.SetAdapter(a); err != nil {
		return err
	}
	p.say(panel.AboutAdapter(a) + ".")
	return nil
}

// adapterWords takes the answers off the end of a name.
func adapterWords(arg string) (name string, o adapter.Options, err error) {
	words := strings.Fields(arg)
	n := len(words)
	for ; n > 1; n-- {
		key, value, ok := strings.Cut(words[n-1], "=")
		if !ok {
			break
		}
		number, bad := strconv.ParseFloat(value, 32)
		switch key {
		case "alpha":
			o.Alpha, err = float32(number), bad
		case "scale":
			o.Scale, err = float32(number), bad
		case "strength":
			o.Strength, err = float32(number), bad
		case "blocks":
			o.Blocks = value
		case "init":
			o.Init = kit.ExpandHome(value)
		default:
			return arg, adapter.Options{}, nil
		}
		if err != nil {
			return name, o, fmt.Errorf("%s: %q is no number", key, value)
		}
	}
	return strings.Join(words[:n], " "), o, nil
}

// adapters says what is known.
func (p *plain) adapters() error {
	list, err := p.workspace.Adapters(p.ctx)
	if err != nil {
		return err
	}
	inUse := p.d.View().Conversation.Adapter
	for _, a := range list {
		what := "comes with the model"
		if a.Path != "" {
			what = a.Path
		}
		if l := a.Loaded; l != nil {
			what += fmt.Sprintf(", %s, rank %d, %s of memory, used by %d now", l.Kinds(), l.Rank(), kit.FormatSize(l.Bytes), l.Rows)
		}
		p.say(kit.OneLine(a.Title()) + ": " + kit.OneLine(what) + "." + chosen(a.Fingerprint != "" && a.Fingerprint == inUse))
	}
	p.say("/adapter and a name or a file uses one from the next token on; /adapter off uses none.")
	p.say("alpha=32, strength=0.5 or blocks=column behind the name say what a file does not.")
	return nil
}
