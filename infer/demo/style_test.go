package demo_test

import (
	"math"
	"regexp"
	"strings"
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

// A tally is what was counted in one story.
type tally struct{ style, words float64 }

func tallies(texts []string, style func(string) float64) []tally {
	list := make([]tally, len(texts))
	for i, text := range texts {
		list[i] = tally{style(text), float64(len(words.FindAllString(strings.ToLower(text), -1)))}
	}
	return list
}

// share is how much of a style stories have for every 100 words together.
func share(list []tally) float64 {
	var sum tally
	for _, t := range list {
		sum.style += t.style
		sum.words += t.words
	}
	return 100 * sum.style / max(1, sum.words)
}

// A shift is the difference of the shares of two lists of stories, each pair
// of one seed, and its standard error.
type shift struct{ by, err float64 }

// shifted compares paired stories. share is a ratio of sums, whose error is
// that of the mean of its residuals (the delta method); those of a pair are
// subtracted, so that what a seed does to both is of no account.
func shifted(from, to []tally) shift {
	residual := func(list []tally) []float64 {
		r, mean := share(list), 0.0
		for _, t := range list {
			mean += t.words / float64(len(list))
		}
		out := make([]float64, len(list))
		for i, t := range list {
			out[i] = (100*t.style - r*t.words) / max(1, mean)
		}
		return out
	}
	a, b := residual(from), residual(to)
	n, sum := float64(len(a)), 0.0 // residuals add up to 0
	for i := range a {
		d := b[i] - a[i]
		sum += d * d
	}
	return shift{share(to) - share(from), math.Sqrt(sum / (n - 1) / n)}
}

// errors is how many of its standard errors a shift has.
func (s shift) errors() float64 { return s.by / max(s.err, 1e-9) }
