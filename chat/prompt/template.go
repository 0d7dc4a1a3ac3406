package prompt

import (
	"slices"
	"strings"
	"text/template"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/tokenizer"
)

// A Template says how one model is spoken to.
type Template struct {
	family           Family
	thinkLength      bool               // honours a request for how long to think
	spec             Spec               // what a person says; the zero Spec is nothing
	page             *template.Template // of a person's own, or nil
	Tokenizer        *tokenizer.Tokenizer
	Model, ModelName string // fingerprint and name of the weights
}

// TemplateOf says how a model is spoken to.
func TemplateOf(m *infer.Model) Template { return TemplateWith(m, Spec{}) }

// TemplateWith is TemplateOf with what a person says of a state before what is
// said of the model.
func TemplateWith(m *infer.Model, over Spec) Template {
	spec := over.Over(SpecOf(m))
	page, err := spec.page()
	if err != nil {
		page = nil // it was checked where it was written
	}
	family := FamilyOf(m)
	if f, ok := familyNames[spec.Family]; ok {
		family = f
	}
	return Template{
		family: family, spec: spec, page: page,
		thinkLength: weightsSince(m, thinkLengthSince),
		Tokenizer:   m.Tokenizer,
		Model:       m.Fingerprint,
		ModelName:   m.Name,
	}
}

// allThinkModes are all there are, ThinkOff first.
var allThinkModes = []turn.ThinkMode{turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkEnglish, turn.ThinkShort, turn.ThinkLong, turn.ThinkChinese}

// ThinkModes are the thinking modes that a model was trained for, ThinkOff first.
func ThinkModes(m *infer.Model) []turn.ThinkMode {
	t := TemplateOf(m)
	switch {
	case t.spec.Think != nil:
		return slices.DeleteFunc(slices.Clone(allThinkModes), func(mode turn.ThinkMode) bool { return mode != turn.ThinkOff && !t.thinks(mode) })
	case t.family != FamilyG1:
		return []turn.ThinkMode{turn.ThinkOff}
	case !t.thinkLength:
		return []turn.ThinkMode{turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkChinese}
	}
	return slices.Clone(allThinkModes)
}

// thinks says that a mode is one of the template's.
func (t Template) thinks(m turn.ThinkMode) bool {
	if t.spec.Think != nil {
		return slices.Contains(t.spec.Think, m)
	}
	return t.family == FamilyG1
}

// Stops are the byte strings that end an answer, token 0 aside. A blank line
// ends a turn of World models, whose prompts have none inside; reasoning
// models write them.
func Stops(m *infer.Model) []string { return TemplateOf(m).Stops() }

// Stops is what the function says.
func (t Template) Stops() []string {
	switch {
	case t.spec.Stops != nil:
		return t.spec.Stops
	case t.family == FamilyG1:
		return []string{separator + strings.TrimSpace(t.userSays()), separator + strings.TrimSpace(t.systemSays())}
	}
	return []string{separator}
}

// BannedTokens are tokens that the family should never draw. World chat models end
// their turns with a blank line; they draw token 0 where a document would end.
func (t Template) BannedTokens() []int32 {
	if t.family == FamilyWorld {
		return []int32{0}
	}
	return nil
}

// StopTokens are the tokens that end an answer or begin to: of a stop, a token
// may hold all of it or be its first bytes, one byte aside, which is as likely
// to begin something else.
func (t Template) StopTokens(stops []string) []int32 {
	ids := []int32{0}
	for id := int32(1); int(id) < t.Tokenizer.Size(); id++ {
		text := string(t.Tokenizer.Bytes(id))
		if slices.ContainsFunc(stops, func(stop string) bool {
			return strings.Contains(text, stop) || len(text) > 1 && strings.HasPrefix(stop, text)
		}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// header is the beginning of an answer that the prompt gives, as a
// thinking mode asks. Released prompts end inside a tag because "><" and "></"
// are single tokens.
func (t Template) header(m turn.ThinkMode) string {
	if !t.thinks(m) {
		return ""
	}
	switch m {
	case turn.ThinkFast:
		if t.thinkLength {
			return " <think>\n</think"
		}
		return " <think>\n</think>"
	case turn.ThinkFree, turn.ThinkEnglish, turn.ThinkShort, turn.ThinkLong:
		return " <think"
	case turn.ThinkChinese:
		return " <think>嗯"
	default:
		return ""
	}
}

// lengthRequest is what a thinking mode adds to the end of the user's text.
func (t Template) lengthRequest(m turn.ThinkMode) string {
	if !t.thinks(m) || !t.thinkLength && t.spec.Think == nil {
		return ""
	}
	switch m {
	case turn.ThinkEnglish:
		return " (think)"
	case turn.ThinkShort:
		return " (think a bit)"
	case turn.ThinkLong:
		return " (think a lot)"
	default:
		return ""
	}
}
