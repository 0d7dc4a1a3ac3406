package chat

import (
	"context"

	"rookery/chat/prompt"
	"rookery/infer"
)

// forcedTokens is how many tokens of a forced thought may not end it.
const forcedTokens = 2

// opensThought says that the prompt has opened a thought for which something is set.
func (a *answer) opensThought() bool {
	settings := a.d.workspace.settings()
	return prompt.OpensThought(a.header) && (settings.ForceThought || settings.ThoughtLimit > 0)
}

// drawThinking makes an answer that begins with a thought: its first tokens do not
// end it, if that is set, and what is longer than it may be is ended.
func (a *answer) drawThinking(ctx context.Context, s start) infer.Ending {
	settings := a.d.workspace.settings()
	var all infer.Ending
	left := func() int { // tokens; 0 is no limit
		if settings.MaxTokens == 0 {
			return 0
		}
		return settings.MaxTokens - len(all.Tokens)
	}
	// follow draws up to some tokens more, and says whether the answer goes on.
	follow := func(limit int, ban []int32) (goesOn bool) {
		if most := left(); most > 0 && (limit == 0 || limit > most) {
			limit = most
		}
		end := a.follow(ctx, s, limit, ban)
		all = joinEndings(all, end)
		goesOn = end.Reason == infer.ReasonLength && end.Snapshot != nil && (settings.MaxTokens == 0 || left() > 0)
		if goesOn {
			s = a.startBehind(s, end)
		}
		return goesOn
	}
	if settings.ForceThought && !follow(forcedTokens, a.template.ThoughtEnders()) {
		return all
	}
	if limit := settings.ThoughtLimit; limit > 0 {
		if rest := limit - len(all.Tokens); rest > 0 && !follow(rest, nil) {
			return all
		}
		if a.thinksStill() {
			s.tokens = a.endThought()
			all.Tokens = append(all.Tokens, s.tokens...)
		}
	}
	follow(0, nil)
	return all
}

// thinksStill says that the answer has not ended the thought that its prompt has opened.
func (a *answer) thinksStill() bool {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return !prompt.EndsThought(a.text.String())
}

// endThought writes the end of the thought into the answer, and returns its tokens.
func (a *answer) endThought() []int32 {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	tokens, text := a.template.EncodeThoughtEnd(a.text.String())
	var drawn []infer.Token
	for _, id := range tokens {
		drawn = append(drawn, infer.Token{ID: id})
	}
	a.journal(drawn, text)
	a.drawn = append(a.drawn, drawn...)
	a.text.WriteString(text)
	a.d.publish()
	return tokens
}
