package plain

import (
	"testing"
	"time"

	"rookery/chat/turn"
	"rookery/ui/uitest"
)

func TestStoredConversations(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		day := func(month time.Month) time.Time { return time.Date(1999, month, 5, 0, 0, 0, 0, time.UTC) }
		w := uitest.New(t, uitest.Options{Stored: []turn.Conversation{
			{ID: 1, Title: "Kept for long", Updated: day(5), Pinned: true},
			{ID: 2, Title: "Thrown out", Updated: day(8), Deleted: day(9)},
			{ID: 3, Title: "Put aside", Updated: day(7), Archived: true},
			{ID: 4, Title: "Another dog", Updated: day(6)},
		}})
		w.Keep("A dog story", "and the dog ran")
		k := begin(t, w, Options{Dialogue: w.Converse("Feeding the rook", "what does it eat?")})
		k.talk("/open", "/open dog", "/pin", "/archive", "/archive", "/delete", "/delete", "/undelete", "/undelete", "/open 9", "/rename Crumbs", "/open 1")
		k.hears(
			"1: Kept for long, 1999-05-05, pinned.\n", "5: Another dog", "In 3, A dog story: and the dog ran\n",
			"Pinned.\n", "In the archive.\n", "Taken out of the archive.\n",
			"“Feeding the rook” is in the bin, and this is a new conversation. /undelete undoes it.\n",
			"nothing is stored of this conversation yet", "Conversation: Feeding the rook, 2 messages.\nAnswer: "+uitest.Answer,
			"nothing was deleted since the start", "there are conversations 1 to 5; /open lists them",
		)
		k.hearsNot("Thrown out", "Put aside")
	})
}
