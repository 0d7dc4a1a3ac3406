package transcript

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A job is a block whose exact lines are to be made. It is a copy of what that
// takes: blocks belong to Update.
type job struct {
	block *block
	role  turn.Role
	text  string
}

// Render makes exact lines of text that has none yet, in a command. It is nil if
// there is no such text, or while another command is at work.
func (t *Transcript) Render() tea.Cmd {
	jobs := t.chooseJobs()
	if len(jobs) == 0 {
		return nil
	}
	t.rendering = true
	generation, width, th, markdown := t.generation, t.textWidth(), t.th, t.markdown
	return kit.Await(func() (map[*block][]string, error) {
		lines := make(map[*block][]string, len(jobs))
		for _, j := range jobs {
			lines[j.block] = j.render(markdown, th, width)
		}
		return lines, nil
	}, func(_ kit.Host, lines map[*block][]string, _ error) tea.Cmd {
		t.putLines(generation, lines)
		return nil
	})
}

// chooseJobs is as much text as one command should take: what is on the screen
// first.
func (t *Transcript) chooseJobs() []job {
	const batch = 32 << 10
	if t.rendering || t.width == 0 {
		return nil
	}
	var jobs []job
	taken := 0
	add := func(b *block) {
		if b.live == nil && (!b.exact || b.gen != t.generation) && (taken == 0 || taken+len(b.answer) <= batch) {
			jobs = append(jobs, job{b, b.turn.Role, b.answer})
			taken += len(b.answer) + 1
		}
	}
	shown := t.locate(t.top()).block
	for i := shown; i < len(t.blocks); i++ {
		add(t.blocks[i])
	}
	for i := shown - 1; i >= 0; i-- {
		add(t.blocks[i])
	}
	return jobs
}

// render makes the exact lines, or plain ones if that panics.
func (j job) render(markdown renderer, th theme.Theme, width int) (lines []string) {
	defer func() {
		if recover() != nil {
			lines = plainLines(j.text, width)
		}
	}()
	switch {
	case j.text == "":
		return nil
	case j.role == turn.RoleUser:
		return kit.Wrap(j.text, width)
	}
	return markdown(j.text, th, width)
}

// putLines takes over what a command has made of blocks.
func (t *Transcript) putLines(generation int, lines map[*block][]string) {
	t.rendering = false
	if generation != t.generation {
		return
	}
	for b, exact := range lines {
		if b.live != nil || b.plain {
			continue
		}
		b.body, b.gen, b.exact, b.stream = fixedLines(exact), generation, true, nil
		b.version++
		t.decorate(b)
	}
	t.index()
	t.find.aim(t)
}
