package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat/turn"
	"rookery/sessions"
)

// listingCommands returns the commands that pin, archive, rename and delete conversations.
func (a *app) listingCommands() []*cobra.Command {
	var unpin, unarchive, now bool
	pin := a.changeCommand("pin ID...", "List conversations before the others", func(c *turn.Conversation) { c.Pinned = !unpin })
	pin.Flags().BoolVar(&unpin, "off", false, "unpin them")
	archive := a.changeCommand("archive ID...", "Move conversations to the archive", func(c *turn.Conversation) { c.Archived = !unarchive })
	archive.Flags().BoolVar(&unarchive, "off", false, "move them back to the list")
	restore := a.changeCommand("restore ID...", "Restore conversations from the bin", func(c *turn.Conversation) { c.Deleted = time.Time{} })

	remove := a.changeCommand("rm ID...", "Move conversations to the bin for 30 days", func(c *turn.Conversation) {
		if c.Deleted.IsZero() {
			c.Deleted = time.Now()
		}
	})
	moveToBin := remove.RunE
	remove.RunE = func(cmd *cobra.Command, args []string) error {
		if now {
			return a.deleteSessions(cmd, args)
		}
		return moveToBin(cmd, args)
	}
	remove.Flags().BoolVar(&now, "now", false, "delete them for good instead")

	rename := &cobra.Command{
		Use: "rename ID TITLE...", Short: "Name a conversation", Args: usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			title := oneLine(strings.Join(args[1:], " "))
			if title == "" {
				return exitWith(exitUsage, errors.New("a title needs at least one character"))
			}
			return a.changeConversations(cmd.Context(), args[:1], func(c *turn.Conversation) { c.Title, c.Named = title, true })
		},
	}
	empty := &cobra.Command{Use: "empty", Short: "Delete everything in the bin for good", Args: usageArgs(cobra.NoArgs), RunE: a.emptyBin}
	return []*cobra.Command{remove, restore, empty, pin, archive, rename}
}

func (a *app) changeCommand(use, short string, change func(*turn.Conversation)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeConversations(cmd.Context(), args, change)
		},
	}
}

// changeConversations changes all conversations or, if one is not stored, none.
func (a *app) changeConversations(ctx context.Context, args []string, change func(*turn.Conversation)) error {
	ids, err := parseIDs(args)
	if err != nil {
		return err
	}
	return a.writeSessions(ctx, func(s *sessions.Store) error {
		list, err := s.Conversations(ctx)
		if err != nil {
			return err
		}
		chosen := make([]turn.Conversation, len(ids))
		for i, id := range ids {
			at := slices.IndexFunc(list, func(c turn.Conversation) bool { return c.ID == id })
			if at < 0 {
				return fmt.Errorf("there is no conversation %d: `rookery sessions ls --all` lists them; nothing was changed", id)
			}
			chosen[i] = list[at]
		}
		for _, c := range chosen {
			change(&c)
			if err := s.SaveConversation(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteSessions deletes conversations for good.
func (a *app) deleteSessions(cmd *cobra.Command, args []string) error {
	ids, err := parseIDs(args)
	if err != nil {
		return err
	}
	return a.writeSessions(cmd.Context(), func(s *sessions.Store) error {
		for _, id := range ids {
			if err := s.Delete(cmd.Context(), id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) emptyBin(cmd *cobra.Command, _ []string) error {
	return a.writeSessions(cmd.Context(), func(s *sessions.Store) error {
		list, err := s.Conversations(cmd.Context())
		if err != nil {
			return err
		}
		n := 0
		for _, c := range list {
			if c.Deleted.IsZero() {
				continue
			}
			if err := s.Delete(cmd.Context(), c.ID); err != nil {
				return err
			}
			n++
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s deleted\n", countText(n, "conversation"))
		return err
	})
}

// countText returns a number and the noun in its form.
func countText(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
