package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
)

const g1 = "rwkv7-g1e-2.9b-20260312-ctx8192"

// modelNamed is a model whose family its name tells.
func modelNamed(name string) *infer.Model {
	m := scripted.Model()
	return scripted.ModelWith(name, m.Tokenizer, m.Shape.Vocab)
}

func TestFamilyOf(t *testing.T) {
	for name, want := range map[string]prompt.Family{
		"rookery-demo":                         prompt.FamilyDemo,
		"rwkv7-g1e-2.9b-20260312-ctx8192":      prompt.FamilyG1,
		"rwkv7-g1-0.1b-20250307-ctx4096":       prompt.FamilyG1,
		"RWKV7-G1x-1.5B":                       prompt.FamilyG1,
		"rwkv7-g0-7.2b-20250722":               prompt.FamilyG1,
		"RWKV-x070-World-0.1B-v2.8-20241210":   prompt.FamilyWorld,
		"rwkv7-0.1B-world":                     prompt.FamilyWorld,
		"rwkv7-g0a2-7.2b-20251005-ctx4096":     prompt.FamilyG1,
		"rwkv7-g0a3-13.3b-20251110-ctx8192":    prompt.FamilyG1,
		"rwkv7-g0a4-13.3b-20251114-ctx8192":    prompt.FamilyG1,
		"rwkv7-g1a2-2.9b-20251031-ctx8192":     prompt.FamilyG1,
		"rwkv7-g1a4-2.9b-20251118-ctx8192.st":  prompt.FamilyG1,
		"model":                                prompt.FamilyWorld,
		"big1":                                 prompt.FamilyWorld,
		"rwkv-6-world-1b6-g10-finetune.st.pth": prompt.FamilyWorld,
	} {
		if got := prompt.FamilyOf(modelNamed(name)); got != want {
			t.Errorf("FamilyOf(%s) = %d, want %d", name, got, want)
		}
	}
}

// What a file says inside counts where its name says nothing.
func TestFamilyByMetadata(t *testing.T) {
	const thinks = "{{ 'Assistant: <think' }}"
	for _, c := range []struct {
		name, inside, template string
		want                   prompt.Family
		why                    string
	}{
		{"model-Q4_K_M", "RWKV7 G1a2 2.9B 20251031", "", prompt.FamilyG1, "g1a2"},
		{"model-Q4_K_M", "", thinks, prompt.FamilyG1, "<think>"},
		{"rwkv7-world-0.4b", "", thinks, prompt.FamilyWorld, "rwkv7-world-0.4b"},
		{"model", "", "rwkv-world", prompt.FamilyWorld, "nothing"},
	} {
		m := modelNamed(c.name)
		m.Metadata = map[string]string{"general.name": c.inside, "tokenizer.chat_template": c.template}
		family, why := prompt.RecogniseFamily(m.Name, m.Metadata)
		if family != c.want || prompt.FamilyOf(m) != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %s, because %s", c, family, why)
		}
		if longer := slices.Contains(prompt.ThinkModes(m), turn.ThinkLong); longer != (c.why == "g1a2") {
			t.Errorf("%+v: thinks at a length: %v", c, longer)
		}
	}
}

func TestStopsAndPresets(t *testing.T) {
	for name, want := range map[string]string{"rookery-demo": "\n\n", g1: "\n\nUser:", "world": "\n\n"} {
		m := modelNamed(name)
		if got := prompt.Stops(m)[0]; got != want {
			t.Errorf("%s stops at %q, want %q", name, got, want)
		}
		seen := map[string]bool{}
		for _, p := range prompt.Presets(m) {
			if err := p.Sampling.Validate(); err != nil || p.Name == "" || p.About == "" || seen[p.Name] {
				t.Errorf("%s, preset %+v: %v", name, p, err)
			}
			seen[p.Name] = true
		}
	}
}

func TestGreeting(t *testing.T) {
	if g := prompt.Greeting(modelNamed("rookery-demo")); !strings.Contains(g, "demonstration") || !strings.Contains(g, "million parameters") {
		t.Errorf("the embedded model says %q", g)
	}
	if g := prompt.Greeting(modelNamed(g1)); g != "" {
		t.Errorf("a released model says %q", g)
	}
}

func TestThinkModes(t *testing.T) {
	for name, want := range map[string][]turn.ThinkMode{
		"rookery-demo":                    {turn.ThinkOff},
		"RWKV-x070-World-0.1B-v2.8":       {turn.ThinkOff},
		"rwkv7-g1-0.4b-20250324-ctx4096":  {turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkChinese},
		"rwkv7-g1d-0.4b-20250922-ctx8192": {turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkEnglish, turn.ThinkShort, turn.ThinkLong, turn.ThinkChinese},
	} {
		if got := prompt.ThinkModes(modelNamed(name)); !slices.Equal(got, want) {
			t.Errorf("%s thinks %v, want %v", name, got, want)
		}
	}
}
