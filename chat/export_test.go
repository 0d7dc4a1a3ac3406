package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

func exported() (turn.Conversation, []turn.Turn) {
	at := time.Date(2026, 3, 12, 9, 30, 0, 0, time.UTC)
	p := sampler.Params{Temperature: 1, TopP: 0.5, Presence: 2, Frequency: 0.2, Decay: 0.99, Seed: 1 << 60}
	c := turn.Conversation{
		ID: 1 << 60, Title: "Sorting\nin Go", Named: true, System: "Be kind.\n\nBe brief.", Think: turn.ThinkFree,
		Preset: "default", Sampling: p, Created: at, Updated: at.Add(time.Hour), Head: 4<<12 + 1,
	}
	return c, []turn.Turn{
		{ID: 1<<12 + 1, Role: turn.RoleUser, Text: "Sort this:\n\n```go\nx := []int{3, 1}\n\n\t// <kept> & unchanged\n```", Tokens: []int32{1, 2}, Created: at, Model: "ab12", ModelName: g1},
		{ID: 2<<12 + 1, Parent: 1<<12 + 1, Role: turn.RoleAssistant, Text: "<think>Use slices.\n\nIt sorts.</think>\n# Easy\n\n```go\nslices.Sort(x)\n```\n\nDone.", Tokens: []int32{3, 4, 5}, Recall: []int32{5}, Reason: infer.ReasonStop, Sampling: p, Model: "ab12", ModelName: g1, Created: at.Add(time.Minute), Usage: infer.Usage{Read: 2, Generated: 4, ReadTime: time.Second / 2, DecodeTime: 2 * time.Second, FirstToken: time.Second}},
		{ID: 3<<12 + 1, Parent: 2<<12 + 1, Role: turn.RoleUser, Text: "And backwards?", Tokens: []int32{6}, Created: at.Add(2 * time.Minute), Model: "ab12", ModelName: g1},
		{ID: 4<<12 + 1, Parent: 3<<12 + 1, Role: turn.RoleAssistant, Text: "Like this:\n\n````go\nslices.SortFunc(x, ```", Tokens: []int32{7}, Open: true, Reason: infer.ReasonLength, Sampling: p, Model: "ab12", ModelName: g1, Created: at.Add(3 * time.Minute)},
	}
}

func TestExportMarkdown(t *testing.T) {
	var b bytes.Buffer
	c, line := exported()
	must(t, transfer.Export(&b, transfer.Markdown, c, line))
	golden.RequireEqual(t, b.Bytes())
}

func TestExportJSON(t *testing.T) {
	var b, pretty bytes.Buffer
	c, line := exported()
	must(t, transfer.Export(&b, transfer.JSON, c, line))
	sampling, err := json.Marshal(c.Sampling)
	must(t, err)
	data := bytes.ReplaceAll(b.Bytes(), sampling, []byte(`"all parameters"`)) // of the conversation and both answers
	must(t, json.Indent(&pretty, data, "", "  "))
	golden.RequireEqual(t, pretty.Bytes())
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestExportErrors(t *testing.T) {
	c, line := exported()
	for _, f := range []transfer.Format{transfer.Markdown, transfer.JSON} {
		if err := transfer.Export(brokenPipe{}, f, c, line); err == nil {
			t.Errorf("%s to a broken pipe gave no error", f)
		}
	}
	if err := transfer.Export(&bytes.Buffer{}, "pdf", c, line); err == nil {
		t.Error("an unknown format gave no error")
	}
	must(t, transfer.Export(&bytes.Buffer{}, transfer.Markdown, turn.Conversation{}, nil))
}
