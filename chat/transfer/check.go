package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rookery/chat/turn"
)

// Bounds of what is imported.
const (
	importTurns = 1 << 20 // of a conversation
	importText  = 64 << 20
	importName  = 64 << 10 // bytes of a title, a label or another name
	importBans  = 4096

	importLastID = 1 << 62 // leaves room for new ids, which are a little greater
)

// A treeCheck says what is wrong with a tree: with its turns as they come, and
// then with the whole. A tree that passes can be opened: every parent is there,
// lines begin with a prompt, and answers answer prompts.
type treeCheck struct {
	roles map[turn.ID]turn.Role
	above map[turn.ID]turn.ID // parents
}

func (k *treeCheck) checkTurn(t turn.Turn) error {
	if k.roles == nil {
		k.roles, k.above = map[turn.ID]turn.Role{}, map[turn.ID]turn.ID{}
	}
	switch {
	case len(k.roles) >= importTurns:
		return fmt.Errorf("there are more than %d turns", importTurns)
	case t.ID <= 0:
		return fmt.Errorf("%d is no id", t.ID)
	case k.roles[t.ID] != 0:
		return fmt.Errorf("its id %d is also that of an earlier one", t.ID)
	case t.ID > importLastID:
		return fmt.Errorf("its id %d is too great", t.ID)
	case len(t.Text) > importText:
		return fmt.Errorf("its text has %d bytes; %d can be read", len(t.Text), importText)
	case slices.ContainsFunc(t.Tokens, negative) || slices.ContainsFunc(t.Recall, negative):
		return errors.New("it has a token below 0")
	case len(t.Sampling.Ban)+len(t.Sampling.Bias) > importBans:
		return fmt.Errorf("it bans or biases %d tokens", len(t.Sampling.Ban)+len(t.Sampling.Bias))
	case !storableTime(t.Created):
		return fmt.Errorf("it is of the year %d", t.Created.Year())
	}
	for _, name := range append([]string{t.Model, t.ModelName, t.Base, t.Adapter, t.AdapterID, t.Label}, t.History.Names()...) {
		if err := checkName(name); err != nil {
			return err
		}
	}
	if err := t.History.Check(); err != nil {
		return fmt.Errorf("how it was read: %w", err)
	}
	k.roles[t.ID], k.above[t.ID] = t.Role, t.Parent
	return checkMix(t.Mix)
}

// checkTree checks the whole, and puts parents before their children.
func (k *treeCheck) checkTree(t *turn.Tree) (err error) {
	if t.Turns, err = turn.OrderTurns(t.Turns); err != nil {
		return err
	}
	for _, tn := range t.Turns {
		if tn.Role == turn.RoleAssistant && k.roles[tn.Parent] != turn.RoleUser {
			return fmt.Errorf("turn %d is an answer to nothing", tn.ID)
		}
	}
	return k.checkConversation(&t.Conversation)
}

func (k *treeCheck) checkConversation(c *turn.Conversation) error {
	switch {
	case c.ID <= 0 || c.ID > importLastID:
		return fmt.Errorf("%d is no id for a conversation", c.ID)
	case len(k.roles) == 0:
		return errors.New("the conversation has no turns")
	case c.Head != 0 && k.roles[c.Head] == 0:
		return fmt.Errorf("its head is turn %d, which is not there", c.Head)
	case c.Tip != 0 && k.roles[c.Tip] == 0:
		return fmt.Errorf("its tip is turn %d, which is not there", c.Tip)
	case len(c.Form.Text) > importText:
		return fmt.Errorf("the form of its answers has %d bytes; %d can be read", len(c.Form.Text), importText)
	case len(c.System) > importText:
		return fmt.Errorf("its system prompt has %d bytes; %d can be read", len(c.System), importText)
	case !storableTime(c.Created) || !storableTime(c.Updated):
		return errors.New("its times are out of range")
	case len(c.Sampling.Ban)+len(c.Sampling.Bias) > importBans:
		return fmt.Errorf("it bans or biases %d tokens", len(c.Sampling.Ban)+len(c.Sampling.Bias))
	}
	switch c.Think {
	case turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkEnglish, turn.ThinkShort, turn.ThinkLong, turn.ThinkChinese:
	case "":
		c.Think = turn.ThinkOff
	default:
		return fmt.Errorf("there is no thinking mode %.40q", c.Think)
	}
	if !k.isBelow(c.Head, c.Tip) {
		c.Tip = c.Head
	}
	c.Deleted = time.Time{}
	for _, name := range []string{c.Title, c.Preset, c.Adapter} {
		if err := checkName(name); err != nil {
			return err
		}
	}
	return checkMix(c.Mix)
}

// isBelow reports whether a turn is on the line to tip; the beginning always is.
func (k *treeCheck) isBelow(id, tip turn.ID) bool {
	for at := tip; id != 0; at = k.above[at] {
		if at == 0 {
			return false
		}
		if at == id {
			return true
		}
	}
	return true
}

func negative(id int32) bool { return id < 0 }

// storableTime reports whether the store can hold a time.
func storableTime(t time.Time) bool { return t.Year() >= 1 && t.Year() < 10000 }

// checkName refuses what no title, label or name of a model is.
func checkName(s string) error {
	switch {
	case len(s) > importName:
		return fmt.Errorf("a name has %d bytes; %d can be read", len(s), importName)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable):
		return fmt.Errorf("the name %.60q has characters that cannot be shown", s)
	}
	return nil
}

// importFaders bounds the states of a mix.
const importFaders = 64

// checkMix refuses what no mix is.
func checkMix(m turn.Mix) error {
	if !m.Active() {
		return nil
	}
	if len(m.Others) > importFaders {
		return fmt.Errorf("a mix has %d states; %d can be read", len(m.Others), importFaders)
	}
	for _, f := range m.Members() {
		if err := checkName(f.Name); err != nil {
			return err
		}
	}
	return m.Check()
}

func unprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
