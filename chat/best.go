package chat

import "fmt"

// MaxBest is how many answers Best makes at most.
const MaxBest = 32

// Best generates n answers to the last prompt at once, with consecutive seeds.
// The prompt is read once; the answers are rows of the same steps. They stay
// siblings unless Keep drops some.
func (d *Dialogue) Best(n int) error {
	return d.act("best", func() error {
		last := d.tree.prompt(d.conv.Head)
		if last == nil {
			return ErrNothing
		}
		return d.bestOf(last, n)
	})
}

// SendBest adds a user turn below the head and generates n answers to it.
func (d *Dialogue) SendBest(text string, n int) error {
	return d.act(text, func() error {
		if err := checkBest(n); err != nil {
			return err
		}
		return d.bestOf(d.prompted(d.conv.Head, text), n)
	})
}

func checkBest(n int) error {
	if n < 2 || n > MaxBest {
		return fmt.Errorf("choose from 2 to %d answers, not %d", MaxBest, n)
	}
	return nil
}

// bestOf compares the conversation's way with itself, under n seeds. The
// caller holds mu.
func (d *Dialogue) bestOf(prompt *node, n int) error {
	if err := checkBest(n); err != nil {
		return err
	}
	variants := make([]Variant, n)
	seed := d.nextSeed(prompt)
	for i := range variants {
		variants[i] = d.variant()
		variants[i].Sampling.Seed = seed + uint64(i)
	}
	d.compare(prompt, variants, false)
	return nil
}
