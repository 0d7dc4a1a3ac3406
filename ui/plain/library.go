package plain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/library"
)

// openStored lists the stored conversations that hold a text in their title
// or messages, or opens the one with a number of the full list. What is in the
// bin is not listed.
func (c *console) openStored(arg string) error {
	list, err := c.listStored()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(arg); err == nil {
		if n < 1 || n > len(list) {
			return fmt.Errorf("there are conversations 1 to %d; /open lists them", len(list))
		}
		return c.show(list[n-1].ID)
	}
	found := c.sayStored(list, arg)
	if arg != "" {
		more, err := c.searchStored(list, arg)
		if err != nil {
			return err
		}
		found = found || more
	}
	if !found {
		c.say("No stored conversation was found.")
		return nil
	}
	c.say("/open and a number opens one.")
	return nil
}

// show opens a stored conversation.
func (c *console) show(id turn.ID) error {
	d := c.workspace.Open(id)
	if err := awaitLoaded(c.ctx, d); err != nil {
		c.workspace.CloseDialogue(d)
		return err
	}
	c.use(d)
	c.welcome("")
	return nil
}

// awaitLoaded waits until a dialogue has been read from the store.
func awaitLoaded(ctx context.Context, d *chat.Dialogue) error {
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

// listStored are the conversations that are not in the bin, in order.
func (c *console) listStored() ([]turn.Conversation, error) {
	list, err := c.workspace.List(c.ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s turn.Conversation) bool { return !s.Deleted.IsZero() })
	open := c.d.View() // may be newer than what is stored, or not be stored yet
	at := slices.IndexFunc(list, func(s turn.Conversation) bool { return s.ID == c.d.ID() })
	switch {
	case at >= 0:
		list[at] = open.Conversation
	case len(open.Turns) > 0 && open.Conversation.Deleted.IsZero():
		list = append(list, open.Conversation)
	}
	return library.Sort(list), nil
}

// sayStored says the conversations whose title holds a text; without one,
// those that are not in the archive.
func (c *console) sayStored(list []turn.Conversation, text string) (found bool) {
	for i, s := range list {
		if text == "" && s.Archived || !strings.Contains(strings.ToLower(s.Title), strings.ToLower(text)) {
			continue
		}
		found = true
		line := fmt.Sprintf("%d: %s, %s", i+1, kit.TitleOf(s), kit.FormatAge(time.Now(), s.Updated))
		switch {
		case s.Archived:
			line += ", archived"
		case s.Pinned:
			line += ", pinned"
		}
		c.say(line + ".")
	}
	return found
}

// searchStored says where the messages hold a text.
func (c *console) searchStored(list []turn.Conversation, text string) (found bool, err error) {
	const enough = 10
	hits, err := c.workspace.Search(c.ctx, text)
	if err != nil {
		return false, err
	}
	said := 0
	for _, hit := range hits {
		i := slices.IndexFunc(list, func(s turn.Conversation) bool { return s.ID == hit.Conversation })
		if i < 0 || hit.Turn == 0 || said == enough {
			continue
		}
		said++
		c.say(fmt.Sprintf("In %d, %s: %s", i+1, kit.TitleOf(list[i]), kit.OneLine(kit.Clean(hit.Snippet))))
	}
	return said > 0, nil
}

func (c *console) rename(title string) error {
	if title == "" {
		return errors.New("write /rename and a title")
	}
	return c.d.SetTitle(kit.OneLine(title))
}

// stored is the open conversation, once there is something to store of it.
func (c *console) stored() (turn.Conversation, error) {
	v := c.d.View()
	if len(v.Turns) == 0 {
		return turn.Conversation{}, errors.New("nothing is stored of this conversation yet")
	}
	return v.Conversation, nil
}

// pin lists the open conversation first, or no longer.
func (c *console) pin(string) error {
	s, err := c.stored()
	if err != nil {
		return err
	}
	said := "Pinned."
	if s.Pinned {
		said = "No longer pinned."
	}
	return c.sayDone(said, c.workspace.SetPinned(c.ctx, s.ID, !s.Pinned))
}

// archive moves the open conversation to the archive, or back.
func (c *console) archive(string) error {
	s, err := c.stored()
	if err != nil {
		return err
	}
	said := "In the archive."
	if s.Archived {
		said = "Taken out of the archive."
	}
	return c.sayDone(said, c.workspace.SetArchived(c.ctx, s.ID, !s.Archived))
}

// sayDone says what was done if there was no error.
func (c *console) sayDone(said string, err error) error {
	if err == nil {
		c.say(said)
	}
	return err
}

// moveToBin deletes the open conversation and begins a new one.
func (c *console) moveToBin(string) error {
	s, err := c.stored()
	if err != nil {
		return err
	}
	c.lastDeleted = s.ID
	err = c.workspace.MoveToBin(c.ctx, s.ID)
	c.use(c.workspace.New())
	return c.sayDone("“"+kit.TitleOf(s)+"” is in the bin, and this is a new conversation. /undelete undoes it.", err)
}

// restoreFromBin opens the conversation that was deleted last.
func (c *console) restoreFromBin(string) error {
	if c.lastDeleted == 0 {
		return errors.New("nothing was deleted since the start; `rookery sessions restore` takes older ones out of the bin")
	}
	if err := c.workspace.RestoreFromBin(c.ctx, c.lastDeleted); err != nil {
		return err
	}
	if err := c.show(c.lastDeleted); err != nil {
		return err
	}
	c.lastDeleted = 0
	return nil
}

func (c *console) export(arg string) error {
	v := c.d.View()
	if len(v.Turns) == 0 {
		return errors.New("there is nothing to export yet")
	}
	e := library.NewExport(arg, kit.TitleOf(v.Conversation))
	if err := e.Write(c.ctx, c.workspace, v.Conversation, v.Turns); err != nil {
		return err
	}
	c.say("Exported to " + e.Path + ".")
	return nil
}

func (c *console) importFiles(path string) error {
	if path == "" {
		return errors.New("write /import and a file")
	}
	results, err := library.Import(c.ctx, c.workspace, path)
	if err != nil {
		return err
	}
	c.say(kit.Capitalize(library.AboutImport(results)) + ". /open lists the conversations.")
	return nil
}
