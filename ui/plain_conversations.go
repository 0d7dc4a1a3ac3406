package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/library"
)

// openStored lists the stored conversations that hold a text in their title
// or messages, or opens the one with a number of the full list. What is in the
// bin is not listed.
func (p *plain) openStored(arg string) error {
	list, err := p.stored()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(arg); err == nil {
		if n < 1 || n > len(list) {
			return fmt.Errorf("there are conversations 1 to %d; /open lists them", len(list))
		}
		d := p.workspace.Open(list[n-1].ID)
		if err := loaded(p.ctx, d); err != nil {
			p.workspace.CloseDialogue(d)
			return err
		}
		p.use(d)
		p.welcome("")
		return nil
	}
	found := p.listStored(list, arg)
	if arg != "" {
		more, err := p.searchStored(list, arg)
		if err != nil {
			return err
		}
		found = found || more
	}
	if !found {
		p.say("No stored conversation was found.")
		return nil
	}
	p.say("/open and a number opens one.")
	return nil
}

// stored are the conversations that are not in the bin, as they are listed.
func (p *plain) stored() ([]turn.Conversation, error) {
	list, err := p.workspace.List(p.ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c turn.Conversation) bool { return !c.Deleted.IsZero() })
	open := p.d.View() // may be newer than what is stored, or not be stored yet
	at := slices.IndexFunc(list, func(c turn.Conversation) bool { return c.ID == p.d.ID() })
	switch {
	case at >= 0:
		list[at] = open.Conversation
	case len(open.Turns) > 0 && open.Conversation.Deleted.IsZero():
		list = append(list, open.Conversation)
	}
	return library.Sort(list), nil
}

// listStored says the conversations whose title holds a text; without one,
// those that are not in the archive.
func (p *plain) listStored(list []turn.Conversation, text string) (found bool) {
	for i, c := range list {
		if text == "" && c.Archived || !strings.Contains(strings.ToLower(c.Title), strings.ToLower(text)) {
			continue
		}
		found = true
		p.say(fmt.Sprintf("%d: %s, %s%s.", i+1, kit.TitleOf(c), kit.FormatAge(time.Now(), c.Updated), standing(c)))
	}
	return found
}

func standing(c turn.Conversation) string {
	switch {
	case c.Archived:
		return ", archived"
	case c.Pinned:
		return ", pinned"
	}
	return ""
}

// searchStored says where the messages hold a text.
func (p *plain) searchStored(list []turn.Conversation, text string) (found bool, err error) {
	const enough = 10
	all, err := p.workspace.Search(p.ctx, text)
	if err != nil {
		return false, err
	}
	said := 0
	for _, f := range all {
		i := slices.IndexFunc(list, func(c turn.Conversation) bool { return c.ID == f.Conversation })
		if i < 0 || f.Turn == 0 || said == enough {
			continue
		}
		said++
		p.say(fmt.Sprintf("In %d, %s: %s", i+1, kit.TitleOf(list[i]), kit.OneLine(kit.Clean(f.Snippet))))
	}
	return said > 0, nil
}

// shelve pins, archives, deletes or brings back the open conversation.
func (p *plain) shelve(id keys.ID) error {
	if id == keys.UndeleteConversation {
		return p.undelete()
	}
	v := p.d.View()
	if len(v.Turns) == 0 {
		return errors.New("nothing is stored of this conversation yet")
	}
	c := v.Conversation
	var err error
	var said string
	switch id {
	case keys.PinConversation:
		said, err = "Pinned.", p.workspace.SetPinned(p.ctx, c.ID, !c.Pinned)
		if c.Pinned {
			said = "No longer pinned."
		}
	case keys.ArchiveConversation:
		said, err = "In the archive.", p.workspace.SetArchived(p.ctx, c.ID, !c.Archived)
		if c.Archived {
			said = "Taken out of the archive."
		}
	default:
		p.thrown = c.ID
		err = p.workspace.MoveToBin(p.ctx, c.ID)
		p.use(p.workspace.New())
		said = "“" + kit.TitleOf(c) + "” is in the bin, and this is a new conversation. /undelete undoes it."
	}
	if err == nil {
		p.say(said)
	}
	return err
}

// undelete opens the conversation that was deleted last.
func (p *plain) undelete() error {
	if p.thrown == 0 {
		return errors.New("nothing was deleted since the start; `rookery sessions restore` takes older ones out of the bin")
	}
	if err := p.workspace.RestoreFromBin(p.ctx, p.thrown); err != nil {
		return err
	}
	d := p.workspace.Open(p.thrown)
	if err := loaded(p.ctx, d); err != nil {
		p.workspace.CloseDialogue(d)
		return err
	}
	p.thrown = 0
	p.use(d)
	p.welcome("")
	return nil
}

func (p *plain) importFiles(arg string) error {
	if arg == "" {
		return errors.New("write /import and a file")
	}
	arrivals, err := library.Import(p.ctx, p.options.Workspace, arg)
	if err != nil {
		return err
	}
	p.say(strings.ToUpper(library.AboutImport(arrivals)[:1]) + library.AboutImport(arrivals)[1:] + ". /open lists the conversations.")
	return nil
}

// loaded waits until a dialogue has been read from the store.
func loaded(ctx context.Context, d dialogue) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for d.View().Loading {
		select {
		case <-ctx.Done():
			return errors.New("the conversation could not be read in time; try again")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return d.View().Err
}
