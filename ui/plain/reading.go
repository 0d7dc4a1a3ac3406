package plain

import (
	"fmt"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// A rereading is what was told of a conversation that is read again because the
// weights under it are others now, or an adapter is gone.
type rereading struct {
	answer   turn.ID // it is read for; 0: none was told
	quarters int     // of the way that were told
}

// tellRereading tells that a conversation is read again, and then every quarter
// of the way.
func (c *console) tellRereading(live *chat.Live) {
	if live.Swapped == "" && live.Replaced == "" || live.Progress.Generated > 0 {
		return
	}
	if c.reading.answer != live.Turn.ID {
		c.reading = rereading{answer: live.Turn.ID}
		text := fmt.Sprintf("This conversation was made with %s, and %s runs now: it is read again.", kit.OneLine(live.Swapped), kit.OneLine(c.model.Name))
		if live.Swapped == "" {
			text = fmt.Sprintf("%s is not there any more, and what it has read is read again with %s.", kit.OneLine(live.Replaced), kit.OneLine(transcript.AdapterOf(live)))
		}
		c.say(text)
	}
	read, all := live.Progress.Read, live.Progress.ToRead
	if all <= 0 {
		return
	}
	if quarters := 4 * read / all; quarters > c.reading.quarters && quarters < 4 {
		c.reading.quarters = quarters
		c.say(fmt.Sprintf("Read %d of %d tokens, %d percent.", read, all, 25*quarters))
	}
}
