package persona

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// chunk is a chunk of a PNG picture.
func chunk(kind, body string) string {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(out, kind+body...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:])))
}

// picture is a PNG with a card in it.
func picture(card string) string {
	return pngSignature + chunk("IHDR", strings.Repeat("\x00", 13)) +
		chunk("tEXt", "chara\x00"+base64.StdEncoding.EncodeToString([]byte(card))) + chunk("IEND", "")
}

const keeper = `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Keeper","description":"{{char}} keeps rooks.\u001b[31m","personality":"calm",
"scenario":"A tower.","first_mes":"Who is there, {{user}}?","mes_example":"<START>\n{{user}}: Hi","system_prompt":"","creator_notes":"From afar","tags":["x"],"extensions":{}}}`

func TestImportCards(t *testing.T) {
	for name, data := range map[string]string{"card.json": keeper, "card.png": picture(keeper)} {
		l := Library{Dir: filepath.Join(t.TempDir(), "personas")}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := l.Import(t.Context(), path)
		if err != nil {
			t.Fatal(name, err)
		}
		system, err := p.Prompt(map[string]string{"user": "Ann"})
		want := "Keeper keeps rooks.[31m\nKeeper's personality: calm\nScenario: A tower.\nExamples of how Keeper talks:\nAnn: Hi\nKeeper has begun with: Who is there, Ann?"
		if err != nil || system != want || p.About != "From afar" {
			t.Errorf("%s: %q, %q, %v", name, p.About, system, err)
		}
		if _, err := l.Import(t.Context(), path); err == nil {
			t.Error("a persona took the place of another one")
		}
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	png := picture(keeper)
	for name, data := range map[string]string{
		"cut off": png[:60], "length": png[:33] + "\xff\xff\xff\xff" + png[37:], "damaged": strings.Replace(png, "tEXtchara\x00e", "tEXtchara\x00f", 1),
		"no card": pngSignature + chunk("IEND", ""), "no base64": pngSignature + chunk("tEXt", "chara\x00***"), "no JSON": picture("{"),
		"card 3": strings.Replace(keeper, "card_v2", "card_v3", 1), "nameless": strings.Replace(keeper, "Keeper", " ", 1), "empty": `{"spec":"chara_card_v2","data":{"name":"x"}}`,
		"long": `{"name":"x","system":"` + strings.Repeat("x", maxText+1) + `"}`, "deep": strings.Repeat("[", 1<<20), "unknown": `{"name":"x","run":"rm"}`,
		"dots": `{"name":"../.."}`, "sampling": `{"name":"x","sampling":{"temperature":"hot"}}`, "variable": `{"name":"x","variables":{"a}}b":"c"}}`, "behind": `{"name":"x"} {}`,
		"long name": `{"name":"` + strings.Repeat("x", maxName+1) + `"}`, "nothing": "",
	} {
		if p, err := read([]byte(data)); err == nil {
			t.Errorf("%s: read as %.100v", name, p)
		}
	}
	bomb := Persona{Name: "x", System: strings.Repeat("{{a}}", 10000), Variables: map[string]string{"a": strings.Repeat("y", 1<<17)}}
	if err := bomb.tidy(); err != nil {
		t.Fatal(err)
	}
	if _, err := bomb.Prompt(nil); err == nil {
		t.Error("a system prompt of 1.3 GB was made")
	}
}

func TestLibrary(t *testing.T) {
	l, ctx := Library{Dir: filepath.Join(t.TempDir(), "a", "b")}, t.Context()
	if all, err := l.List(ctx); err != nil || len(all) > 0 {
		t.Fatalf("an empty library: %v, %v", all, err)
	}
	p := Persona{
		Name: "Night Owl", System: "You are {{char}}, {{mood}}.", Variables: map[string]string{"mood": "calm"}, State: "book", Adapter: "a", Mix: "own=1,book=0.5", Preset: "chat",
		Sampling: sampler.Changes{"temperature": 0.5}, Think: "fast", Form: grammar.Spec{Kind: grammar.KindJSON},
	}
	path, err := l.Save(ctx, p)
	if err != nil || filepath.Base(path) != "night-owl.json" {
		t.Fatal(path, err)
	}
	got, err := l.Find(ctx, "night owl")
	if key, bad := p.Sampling.Normalise(); bad != nil {
		t.Fatal(key, bad)
	}
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("kept as %+v, %v; want %+v", got, err, p)
	}
	if system, err := got.Prompt(map[string]string{"mood": "awake"}); err != nil || system != "You are Night Owl, awake." {
		t.Errorf("the prompt is %q, %v", system, err)
	}
	if _, err := got.Prompt(map[string]string{"mod": "x"}); err == nil || !strings.Contains(err.Error(), "mood") {
		t.Errorf("an unknown variable: %v", err)
	}
	if _, err := l.Save(ctx, Persona{Name: "night/owl"}); err == nil {
		t.Error("a persona took the file of another one")
	}
	if _, err := l.Find(ctx, "nigt owl"); err == nil || !strings.Contains(err.Error(), "Night Owl") {
		t.Errorf("a slip of the pen: %v", err)
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "bad.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := l.List(ctx); len(all) != 1 || err == nil || !strings.Contains(err.Error(), "bad.json") {
		t.Errorf("beside a bad file: %d personas, %v", len(all), err)
	}
	if name, err := l.Delete(ctx, "NIGHT OWL"); err != nil || name != "Night Owl" {
		t.Error(name, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
}
