package chat_test

import (
	"bytes"
	"maps"
	"regexp"
	"strings"
	"testing"

	"rookery/chat/memstore"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/sessions"
)

// notImported says that a bundle is refused with one line for people, and that
// nothing of it is stored.
func notImported(t *testing.T, name string, data []byte, want string) {
	t.Helper()
	store := memstore.New()
	var p transfer.Import
	err := p.Read(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		_, err = p.Commit(t.Context(), store)
	}
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b\a") {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
	list, err := store.Conversations(t.Context())
	must(t, err)
	states, err := store.States(t.Context())
	must(t, err)
	if len(list)+len(states) != 0 {
		t.Errorf("%s: %d conversations and %d states were written", name, len(list), len(states))
	}
}

func TestHostileBundles(t *testing.T) {
	r := newRoom(t, setup{})
	d := grown(t, r)
	turns := d.View().Turns
	good := unzipped(t, bundled(t, r.store, true, d.ID()))
	tree := "conversations/" + d.ID().String() + ".json"
	state := "states/" + turns[1].ID.String() + ".rksn"
	parent := func(id turn.ID) string { return `"parent":"` + id.String() + `"` }
	cases := []struct {
		name, want string
		sums       bool
		change     func(files map[string]string)
	}{
		{"no manifest", `"rookery.json" is missing`, false, func(f map[string]string) { delete(f, "rookery.json") }},
		{"another zip", `the format is ""`, false, func(f map[string]string) { f["rookery.json"] = "{}" }},
		{"a newer version", "update rookery", false, func(f map[string]string) {
			f["rookery.json"] = strings.Replace(f["rookery.json"], `"version": 1`, `"version": 2`, 1)
		}},
		{"missing tree", "is missing", false, func(f map[string]string) { delete(f, tree) }},
		{"missing state", "is missing", false, func(f map[string]string) { delete(f, state) }},
		{"changed tree", "checksum", false, func(f map[string]string) { f[tree] = strings.Replace(f[tree], "hello", "hullo", 1) }},
		{"more behind the tree", "checksum", false, func(f map[string]string) { f[tree] += " " }},
		{"changed state", "checksum", false, func(f map[string]string) { f[state] = f[state][:40] + "x" + f[state][41:] }},
		{"foreign state", "this is not a snapshot", true, func(f map[string]string) { f[state] = strings.Repeat("x", 100) }},
		{"a path", "its file cannot be", true, func(f map[string]string) {
			f["../../etc/passwd"] = f[tree]
			f["rookery.json"] = strings.Replace(f["rookery.json"], tree, "../../etc/passwd", 1)
		}},
		{"a cycle", "a turn is above itself", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], parent(turns[1].ID), parent(turns[3].ID), 1)
		}},
		{"its own parent", "a turn is above itself", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"id":"`+turns[0].ID.String()+`"`, `"id":"`+turns[0].ID.String()+`",`+parent(turns[0].ID), 1)
		}},
		{"a missing parent", "turn 12345, which is missing", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], parent(turns[0].ID), parent(12345), 1)
		}},
		{"two of one id", "is also that of an earlier one", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"id":"`+turns[3].ID.String()+`"`, `"id":"`+turns[2].ID.String()+`"`, 1)
		}},
		{"an answer to nothing", "an answer to nothing", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"role":"user"`, `"role":"assistant"`, 1)
		}},
		{"no such head", "its head is turn 7", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"head":"`, `"head":"7","was":"`, 1)
		}},
		{"a huge id", "is no id", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"id":"`+turns[3].ID.String()+`"`, `"id":"99999999999999999999"`, 1)
		}},
		{"an id at the end", "too great", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"id":"`+turns[3].ID.String()+`"`, `"id":"9223372036854775807"`, 1)
		}},
		{"a bell in the title", "cannot be shown", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"title":"`, `"title":"\u0007\u001b[2J`, 1)
		}},
		{"a long title", "a name has", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"title":"`, `"title":"`+strings.Repeat("x", 1<<20), 1)
		}},
		{"a negative token", "token below 0", true, func(f map[string]string) {
			f[tree] = strings.Replace(f[tree], `"tokens":[`, `"tokens":[-5,`, 1)
		}},
		{"no turns", "no turns", true, func(f map[string]string) {
			f[tree] = f[tree][:strings.Index(f[tree], `"turns":[`)] + `"turns":[]}`
		}},
		{"many empty turns", "is no id", true, func(f map[string]string) {
			f[tree] = f[tree][:strings.Index(f[tree], `"turns":[`)] + `"turns":[{}` + strings.Repeat(`,{}`, 1<<20) + `]}`
		}},
		{"deep nesting", "exceeded max depth", true, func(f map[string]string) {
			f[tree] = `{"x":` + strings.Repeat("[", 1<<15)
		}},
		{"a zip bomb", "unpacks to", false, func(f map[string]string) { f["rookery.json"] += strings.Repeat(" ", 80<<20) }},
	}
	for _, c := range cases {
		files := maps.Clone(good)
		c.change(files)
		notImported(t, c.name, zipped(t, files, c.sums), c.want)
	}
	var p transfer.Import
	whole := zipped(t, good, false)
	for _, n := range []int{0, 2, 30, len(whole) / 2, len(whole) - 1} {
		if err := p.Read(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(whole))
		}
	}
}

// A plan refuses what the import would refuse.
func TestPlanReadsStates(t *testing.T) {
	r := newRoom(t, setup{})
	d := grown(t, r)
	files := unzipped(t, bundled(t, r.store, true, d.ID()))
	state := "states/" + d.View().Turns[1].ID.String() + ".rksn"
	files[state] = files[state][:40] + "x" + files[state][41:]
	data := zipped(t, files, false)
	var p transfer.Import
	must(t, p.Read(bytes.NewReader(data), int64(len(data))))
	if results, err := p.Plan(t.Context(), memstore.New()); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("the plan is %v, %v", results, err)
	}
}

// Turns without tokens are of no model: their tokens are made when the
// conversation goes on, and nothing is lost until then.
func TestImportWithoutTokens(t *testing.T) {
	r := newRoom(t, setup{})
	d := grown(t, r)
	files := unzipped(t, bundled(t, r.store, false, d.ID()))
	tree := "conversations/" + d.ID().String() + ".json"
	files[tree] = regexp.MustCompile(`"tokens":\[[^]]*\]`).ReplaceAllString(files[tree], `"tokens":[]`)
	dir := t.TempDir()
	store, err := sessions.Open(t.Context(), dir)
	must(t, err)
	r = newRoom(t, setup{store: store})
	a := imported(t, r.store, zipped(t, files, true))[0]
	if bad, err := store.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("the check says %v, %v", bad, err)
	}
	d = r.workspace.Open(a.ID)
	settled(t, d)
	if v := ask(t, d, "again"); v.Err != nil || last(v).Text == "" {
		t.Errorf("there is %q, %v", texts(v), v.Err)
	}
}
