package demo_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// The styles of the tuned states are counted in stories, as when the states
// were made.

var (
	words    = regexp.MustCompile(`[a-z]+(?:'[a-z]+)?`)
	anyWords = regexp.MustCompile(`\b[a-z]+\b`)

	animalWords = wordSet(`rabbit rabbits mouse mice fox foxes bear bears squirrel squirrels hedgehog hedgehogs cat cats dog
		dogs duck ducks frog frogs turtle turtles owl owls bird birds pig pigs cow cows horse horses goat goats sheep lamb
		lambs hen hens elephant elephants monkey monkeys lion lions penguin penguins koala koalas panda pandas mole moles
		beaver beavers otter otters snail snails bee bees ant ants butterfly butterflies spider spiders fish whale whales crab
		crabs deer wolf wolves giraffe giraffes zebra zebras kangaroo kangaroos parrot parrots donkey donkeys goose geese puppy
		puppies kitten kittens lizard lizards crow crows raccoon raccoons bunny bunnies bug bugs worm worms dinosaur tiger
		tigers camel rhino hippo seal dolphin shark swan chick chicks calf pony rat toad beetle animal animals`)
	sadWords = wordSet(`sad sadly cry cried crying cries tear tears lonely alone lost gone never empty cold dark miss missed
		goodbye sorry hurt broken died dead nobody quiet silent tired afraid lonelier unhappy upset ill weak nothing`)
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

func among(list []string, set map[string]bool) float64 {
	n := 0.0
	for _, w := range list {
		if set[w] {
			n++
		}
	}
	return n
}

// styles count in a text, by the name of the state that they are of. Animals
// are counted in lower case only: Bunny is a name.
var styles = map[string]func(text string) float64{
	"demo-dialogue": func(text string) float64 { return float64(strings.Count(text, `"`)) / 2 },
	"demo-animals":  func(text string) float64 { return among(anyWords.FindAllString(text, -1), animalWords) },
	"demo-sad":      func(text string) float64 { return among(words.FindAllString(strings.ToLower(text), -1), sadWords) },
}

// samples is how many stories are counted, all of them rows of one engine.
const samples = 64

// tell lets an engine tell stories from a mix of the own run and a state.
func tell(t *testing.T, e *infer.Engine, state infer.Voice, own float32, tokens int) []string {
	t.Helper()
	prompt := e.Model().Tokenizer.Encode(nil, "User: Tell me a story.\n\nAssistant:")
	var streams []*infer.Stream
	for i := range samples {
		s, err := e.Submit(infer.Request{
			Tokens: prompt, Voices: []infer.Voice{state}, Weight: own, MaxTokens: tokens, Stops: []string{"\n\n"},
			Sampling: sampler.Params{Temperature: 0.8, TopP: 0.9, Seed: uint64(1000 + i)},
		})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	var texts []string
	for _, s := range streams {
		<-s.Done()
		end := s.Ending()
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		texts = append(texts, end.Text)
	}
	return texts
}

// share is how much of a style texts have for every 100 words.
func share(texts []string, style func(string) float64) float64 {
	counted, of := 0.0, 0
	for _, text := range texts {
		counted += style(text)
		of += len(words.FindAllString(strings.ToLower(text), -1))
	}
	return 100 * counted / float64(max(1, of))
}

// A fader that moves from the own run to a state moves the style from the
// base's to the state's, a bit further with every step. ROOKERY_STYLES=full
// tells whole stories at five points of all three states; docs/mix.md has what
// it printed.
func TestFadersMoveTheStyle(t *testing.T) {
	if testing.Short() {
		t.Skip("tells hundreds of stories")
	}
	points, tokens := map[string][]float32{"demo-animals": {0, 0.5, 1}, "demo-dialogue": {0, 1}}, 80
	if os.Getenv("ROOKERY_STYLES") == "full" {
		tokens = 400
		for name := range styles {
			points[name] = []float32{0, 0.25, 0.5, 0.75, 1}
		}
	}
	m, b, err := load.Open(t.Context(), load.Spec{Slots: 2*samples + 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(m, b, infer.Options{})
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	states, err := demo.States()
	if err != nil {
		t.Fatal(err)
	}
	var base []string // at weight 0 a state has no say: the stories are the same beside any
	for _, s := range states {
		var found []float64
		for _, w := range points[s.Name] {
			if w == 0 && base != nil {
				found = append(found, share(base, styles[s.Name]))
				continue
			}
			texts := tell(t, e, infer.Voice{Name: s.Name, Weight: w, State: s.Snapshot.State}, 1-w, tokens)
			if w == 0 {
				base = texts
			}
			found = append(found, share(texts, styles[s.Name]))
		}
		if len(found) == 0 {
			continue
		}
		t.Log(s.Name, points[s.Name], fmt.Sprintf("%.2f", found))
		if found[len(found)-1] < 1.3*found[0] {
			t.Errorf("%s: from %.2f of 100 words at 0 to %.2f at 1", s.Name, found[0], found[len(found)-1])
		}
		for i := range len(found) - 1 {
			if found[i+1] <= found[i] {
				t.Errorf("%s: the fader from %v to %v moves the style from %.2f to %.2f", s.Name, points[s.Name][i], points[s.Name][i+1], found[i], found[i+1])
			}
		}
	}
}
