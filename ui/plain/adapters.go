package plain

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
func (c *console) adapter(arg string) error {
	switch arg {
	case "":
		return c.listAdapters()
	case "off", "none":
		c.say("No adapter, from the next token on.")
		return c.d.SetAdapter(turn.Adapter{})
	}
	name, o, strength, err := parseAdapter(arg)
	if err != nil {
		return err
	}
	a, err := c.workspace.Adapters().FindAt(c.ctx, kit.ExpandHome(name), o, strength)
	if err != nil {
		return err
	}
	if err := c.d.SetAdapter(a); err != nil {
		return err
	}
	c.say(panel.AboutAdapter(a) + ".")
	return nil
}

// parseAdapter takes the options and the strength off the end of a name.
func parseAdapter(arg string) (name string, o adapter.Options, strength float32, err error) {
	strength = 1
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
			strength, err = float32(number), bad
		case "blocks":
			o.Blocks = value
		case "init":
			o.Init = kit.ExpandHome(value)
		default:
			return arg, adapter.Options{}, 1, nil
		}
		if err != nil {
			return name, o, strength, fmt.Errorf("%s: %q is no number", key, value)
		}
	}
	return strings.Join(words[:n], " "), o, strength, nil
}

func (c *console) listAdapters() error {
	list, err := c.workspace.Adapters().List(c.ctx)
	if err != nil {
		return err
	}
	inUse := c.d.View().Conversation.Adapter
	for _, a := range list {
		what := "comes with the model"
		if a.Path != "" {
			what = a.Path
		}
		if l := a.Loaded; l != nil {
			what += fmt.Sprintf(", %s, rank %d, %s of memory, used by %d now", l.Kinds(), l.Rank(), kit.FormatSize(l.Bytes), l.Rows)
		}
		c.say(kit.OneLine(a.Title()) + ": " + kit.OneLine(what) + "." + markChosen(a.Fingerprint != "" && a.Fingerprint == inUse))
	}
	c.say("/adapter and a name or a file uses one from the next token on; /adapter off uses none.")
	c.say("alpha=32, strength=0.5 or blocks=column behind the name say what a file does not.")
	return nil
}
