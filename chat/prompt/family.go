package prompt

import (
	"regexp"
	"strings"

	"rookery/infer"
)

// A Family is a line of models that are spoken to in the same way.
type Family uint8

// The families.
const (
	FamilyWorld Family = iota // World chat models, and whatever is not known
	FamilyG1                  // reasoning models, G0 and G1 to G1x
	FamilyDemo                // the embedded model
)

// String names a family for people.
func (f Family) String() string {
	return [...]string{FamilyWorld: "World", FamilyG1: "G1 (reasoning)", FamilyDemo: "demonstration"}[f]
}

// familyNames are what a person may call a family in a Spec.
var familyNames = map[string]Family{"world": FamilyWorld, "g1": FamilyG1}

// A generation is g0 or g1, and later ones have a letter and a number: g0a2, g1a4, g1e.
var (
	g1Name   = regexp.MustCompile(`(?:^|[-_. /])(g[01](?:[a-z]\d*)?)(?:[-_. ]|$)`)
	dateName = regexp.MustCompile(`(?:^|\D)(20[2-9]\d[01]\d[0-3]\d)(?:\D|$)`)
)

// thinkLengthSince is the date of the first weights trained to think at a
// length that the prompt asks for.
const thinkLengthSince = "20250922"

// demoName is the Model.Name of the embedded model.
const demoName = "rookery-demo"

// The entries of a file's metadata that tell how its model is spoken to.
const (
	metadataName     = "general.name"
	metadataTemplate = "tokenizer.chat_template"
)

// FamilyOf tells the family of a model.
func FamilyOf(m *infer.Model) Family {
	if f, ok := familyNames[SpecOf(m).Family]; ok {
		return f
	}
	f, _ := RecogniseFamily(m.Name, m.Metadata)
	return f
}

// RecogniseFamily tells the family of a model by its name and by the metadata of
// its file, and what told it. Released files carry it in their names:
// rwkv7-g1e-2.9b-20260312-ctx8192.pth. A name counts before a chat template,
// because converters give one template to every model.
func RecogniseFamily(name string, metadata map[string]string) (f Family, why string) {
	if name == demoName {
		return FamilyDemo, "it comes with the program"
	}
	for _, n := range names(name, metadata) {
		if found := g1Name.FindStringSubmatch(strings.ToLower(n)); found != nil {
			return FamilyG1, "generation " + found[1] + " in the name " + n
		}
		if strings.Contains(strings.ToLower(n), "world") {
			return FamilyWorld, "the name " + n
		}
	}
	if strings.Contains(metadata[metadataTemplate], "<think") {
		return FamilyG1, "the chat template in the file writes <think>"
	}
	return FamilyWorld, "nothing says otherwise"
}

// names are what a model is called: as a file, and inside it.
func names(name string, metadata map[string]string) []string {
	out := []string{name}
	if inside := metadata[metadataName]; inside != "" && inside != name {
		out = append(out, inside)
	}
	return out
}

// weightsSince says whether a name of the model has a date, and one that is not
// before the given one.
func weightsSince(m *infer.Model, date string) bool {
	for _, n := range names(m.Name, m.Metadata) {
		if found := dateName.FindStringSubmatch(n); found != nil {
			return found[1] >= date
		}
	}
	return false
}
