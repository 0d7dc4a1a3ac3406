package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rookery/infer"
)

// A Vote is what a person thought of the answers of several variants to one prompt.
type Vote struct {
	Prompt   string        // hash of its text, see HashPrompt
	Variants []Description // in no order that means anything
	Winner   int           // place in Variants; -1 is a tie
	Created  time.Time
}

// Tie is the Winner of a vote that found none better than the others.
const Tie = -1

// Check says what is wrong with a vote, or nil.
func (v *Vote) Check() error {
	switch {
	case len(v.Variants) < 2:
		return errors.New("a vote is between at least two variants")
	case v.Winner < Tie || v.Winner >= len(v.Variants):
		return fmt.Errorf("variant %d cannot have won: there are %d", v.Winner+1, len(v.Variants))
	}
	return nil
}

// A Description is a variant as votes have it, without its name and its seed:
// variants that are described alike are the same one. It is JSON.
type Description string

// described is a Description's form. Its names are those of stored votes.
type described struct {
	Model       string  `json:"model"`
	State       string  `json:"state,omitempty"`
	Adapter     string  `json:"adapter,omitempty"`
	AdapterID   string  `json:"adapter_id,omitempty"` // beginning of the fingerprint
	Mix         string  `json:"mix,omitempty"`
	Mode        string  `json:"mode"`
	Temperature float32 `json:"temperature"`
	TopK        int     `json:"top_k,omitempty"`
	TopP        float32 `json:"top_p"`
	Presence    float32 `json:"presence,omitempty"`
	Frequency   float32 `json:"frequency,omitempty"`
	Decay       float32 `json:"decay,omitempty"`
}

// Describe is the variant of a model for votes.
func (v *Variant) Describe(m *infer.Model) Description {
	p := v.Sampling
	d := described{
		Model: m.Name, State: v.Base.Name, Adapter: v.Adapter.Name,
		AdapterID: v.Adapter.Fingerprint[:min(len(v.Adapter.Fingerprint), 12)], Mix: v.Mix.plain().String(),
		Mode: p.Mode.String(), Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP, Presence: p.Presence, Frequency: p.Frequency,
	}
	if p.Presence != 0 || p.Frequency != 0 {
		d.Decay = p.Decay
	}
	data, err := json.Marshal(d)
	if err != nil { // a parameter that is no number, which Check refuses
		return Description(fmt.Sprintf("{\"model\":%q}", m.Name))
	}
	return Description(data)
}

// Title says the description in a few words: "demo-sad, demo-pirate, temperature 0.8".
func (d Description) Title() string {
	var v described
	if json.Unmarshal([]byte(d), &v) != nil {
		return string(d)
	}
	title := v.Model
	for _, part := range []string{v.State, v.Adapter, v.Mix} {
		if part != "" {
			title += ", " + part
		}
	}
	title += fmt.Sprintf(", temperature %.3g", v.Temperature)
	if v.TopP > 0 && v.TopP < 1 {
		title += fmt.Sprintf(", top_p %.3g", v.TopP)
	}
	return title
}

// HashPrompt names a prompt in votes, which do not keep what people wrote.
func HashPrompt(text string) string {
	sum := sha256.Sum256([]byte(cleanText(text)))
	return hex.EncodeToString(sum[:])
}

// ErrVoted says that the answers at hand were voted on.
var ErrVoted = errors.New("these answers have their vote: compare again for another one")

// Vote remembers for good which of the answers that wait for Keep a person
// likes best; 0 is a tie. It does not wait for the store, which comes to have
// it as surely as the answers.
func (d *Dialogue) Vote(winner ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.choice
	switch {
	case c == nil || c.chosen || len(c.rows) < 2:
		return errNoChoice
	case c.voted:
		return ErrVoted
	}
	v := Vote{Winner: Tie, Created: time.Now()}
	if winner != 0 {
		if v.Winner = slices.Index(c.rows, winner); v.Winner < 0 {
			return missing(winner)
		}
	}
	if prompt := d.tree.nodes[c.prompt]; prompt != nil {
		v.Prompt = HashPrompt(prompt.turn.Text)
	}
	for _, id := range c.rows {
		v.Variants = append(v.Variants, c.answers[id].variant.Describe(c.answers[id].model()))
	}
	c.voted = true
	saved := make(chan struct{})
	d.workspace.casting(unsavedVote{d.saver, saved})
	d.saver.order("saving the vote", nil, func(ctx context.Context, s Store) error {
		err := s.AddVote(ctx, v)
		if err == nil {
			close(saved)
		}
		return err
	})
	d.publish()
	return nil
}

// A unsavedVote is a vote on its way to the store, behind the answers that it is about.
type unsavedVote struct {
	keep  *saver
	saved chan struct{} // closed when it is there
}

func (k *Workspace) casting(c unsavedVote) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.casts = slices.DeleteFunc(k.casts, func(c unsavedVote) bool {
		select {
		case <-c.saved:
			return true
		default:
			return false
		}
	})
	k.casts = append(k.casts, c)
}

// Votes are all that were given, oldest first; one that cannot be saved now is
// left out. It blocks.
func (k *Workspace) Votes(ctx context.Context) ([]Vote, error) {
	k.mu.Lock()
	casts := slices.Clone(k.casts)
	k.mu.Unlock()
	for _, c := range casts {
		c.keep.await(ctx, c.saved)
	}
	return k.store.Votes(ctx)
}
