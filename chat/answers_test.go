package chat_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/prompt"
	"rookery/chat/turn"
)

// Answers without a conversation are those that conversations give, many
// questions at once as well as one; a shared question is read once.
func TestAnswersAreThoseOfConversations(t *testing.T) {
	workspace, e := demoRoom(t, memstore.New(), chat.Defaults{Sampling: seeded(0.8, 7), MaxTokens: 16})
	vs := demoVariants(t, workspace, 7)
	again := vs[1]
	again.Sampling.Seed = 8
	vs = append(vs, again)
	prompts := []string{"Tell me a story about a brave cat.", "Hello! Who are you?", "Tell me a sad story."}
	var all [3][]chat.VariantAnswer
	var asking sync.WaitGroup
	for i, p := range prompts {
		asking.Go(func() {
			var err error
			if all[i], err = workspace.Answers(t.Context(), prompt.QuestionOf(p), vs); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	for i, p := range prompts {
		for j, got := range all[i] {
			want := alone(t, workspace, vs[j], p)
			if got.Text != want.Text || !slices.Equal(got.Tokens, want.Tokens) || got.Reason != want.Reason {
				t.Errorf("%s says %q to %q, in a conversation %q", vs[j].Name, got.Text, p, want.Text)
			}
			if j == 0 {
				continue
			}
			if d := got.FirstDifference(all[i][0]); !d.Found || got.Text[:d.Byte] != all[i][0].Text[:d.Byte] || d.Token < 0 {
				t.Errorf("%s differs at %+v", vs[j].Name, d)
			}
		}
	}
	before := e.Stats().Read
	one, err := workspace.Answers(t.Context(), prompt.QuestionOf(prompts[0]), vs[1:2])
	must(t, err)
	read := e.Stats().Read - before
	before = e.Stats().Read
	three := slices.Repeat(vs[1:2], 3)
	three[1].Sampling.Seed, three[2].Sampling.Temperature = 9, 0.1
	_, err = workspace.Answers(t.Context(), prompt.QuestionOf(prompts[0]), three)
	must(t, err)
	if n := e.Stats().Read - before; n != read || one[0].Usage.Read != int(read) {
		t.Errorf("three variants of one way read %d tokens, one %d", n, read)
	}
	judged, err := workspace.ScoreAnswers(t.Context(), prompt.QuestionOf(prompts[0]), vs[1], all[0])
	must(t, err)
	for j, p := range judged[1].LogProbs {
		if math.Abs(float64(p-all[0][1].Drawn[j].LogProb)) > 1e-3 {
			t.Errorf("token %d is %v likely and was drawn with %v", j, p, all[0][1].Drawn[j].LogProb)
		}
	}
}

// A conversation before the prompt is read as if it had been held.
func TestAnswersAfterMessages(t *testing.T) {
	r := newRoom(t, setup{defaults: chat.Defaults{Sampling: seeded(0, 1)}})
	d := r.workspace.New()
	ask(t, d, "hello")
	want := last(ask(t, d, "again")).Text
	q := prompt.Question{Messages: []prompt.Message{
		{Role: turn.RoleUser, Text: "hello"}, {Role: turn.RoleAssistant, Text: "Hello to you!"}, {Role: turn.RoleUser, Text: "again"},
	}}
	got, err := r.workspace.Answers(t.Context(), q, heats(0))
	must(t, err)
	if got[0].Text != want {
		t.Errorf("%q, in a conversation %q", got[0].Text, want)
	}
	for what, messages := range map[string][]prompt.Message{
		"no prompt":       nil,
		"take turns":      {q.Messages[1]},
		"message 2":       {q.Messages[0], q.Messages[0]},
		"is empty":        {{Role: turn.RoleUser, Text: " \n"}},
		"nothing to answ": q.Messages[:2],
	} {
		bad := prompt.Question{Messages: messages}
		if _, err := r.workspace.Answers(t.Context(), bad, heats(0)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.workspace.Answers(ctx, q, heats(0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}
