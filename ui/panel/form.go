package panel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/infer/grammar"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/untrusted"
)

// maxForm limits a file with a schema or a grammar, in bytes.
const maxForm = 1 << 20

// ReadForm reads what is written behind /form, with the file that it names.
func ReadForm(ctx context.Context, text string) (grammar.Spec, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	spec := grammar.Spec{Kind: grammar.Kind(kind), Text: rest}
	switch {
	case kind == "off" || kind == "none":
		return grammar.Spec{}, nil
	case kind == "schema":
		spec.Kind = grammar.KindSchema
	case kind != string(grammar.KindJSON) && kind != string(grammar.KindRegex) && kind != string(grammar.KindGBNF):
		return spec, fmt.Errorf("%q is no form: write off, json, schema, regex or grammar", kit.OneLine(kind))
	}
	switch {
	case spec.Kind == grammar.KindJSON:
		spec.Text = ""
	case rest == "":
		return spec, errors.New("write the schema, the expression or the file behind /form " + kind)
	case spec.Kind == grammar.KindRegex || strings.HasPrefix(rest, "{"):
	default:
		data, err := untrusted.Read(ctx, kit.ExpandHome(rest), maxForm)
		if err != nil {
			return spec, err
		}
		spec.Text = string(data)
	}
	return spec, nil
}

// FormNote says what the answers of a conversation are held to.
func FormNote(spec grammar.Spec) string {
	switch spec.Kind {
	case grammar.KindNone:
		return "answers are free"
	case grammar.KindJSON:
		return "answers are JSON objects"
	case grammar.KindSchema:
		return "answers are JSON of the schema"
	case grammar.KindRegex:
		return "answers match " + kit.OneLine(spec.Text)
	}
	return "answers keep to the grammar"
}

// useForm lists the forms, or uses the one that was written.
func useForm(h kit.Host, text string) tea.Cmd {
	if text == "" {
		return pickForm(h)
	}
	ctx, d := h.Context(), h.Tab().Dialogue()
	if d == nil {
		return h.Fail(errOpening)
	}
	return kit.Await(func() (grammar.Spec, error) {
		spec, err := ReadForm(ctx, text)
		if err == nil {
			err = d.SetForm(spec)
		}
		return spec, err
	}, func(h kit.Host, spec grammar.Spec, err error) tea.Cmd {
		if err != nil {
			if kit.Refuse(h, err) {
				return nil
			}
			return h.Fail(err)
		}
		for len(h.Dialogs()) > 0 {
			h.CloseDialog()
		}
		return tea.Batch(kit.Report(h, FormNote(spec)+", from the next one on", nil), h.Refresh())
	})
}

// pickForm lists the forms.
func pickForm(h kit.Host) tea.Cmd {
	inUse := h.Tab().View().Conversation.Form.Kind
	entry := func(kind grammar.Kind, title, about string, choose kit.Action) kit.Entry {
		return kit.Entry{Title: title, Detail: about, Choose: choose, Current: kind == inUse}
	}
	use := func(h kit.Host, text string) tea.Cmd { return h.Run(keys.Form, text) }
	askFile := func(kind, title, about string) kit.Action {
		return func(h kit.Host) tea.Cmd {
			return kit.AskPath(h, title, about, "use", "", func(h kit.Host, path string) tea.Cmd { return use(h, kind+" "+path) })
		}
	}
	askText := func(h kit.Host) tea.Cmd {
		about := "The whole answer matches it, as in [1-6] (cats|dogs)."
		h.OpenDialog(kit.NewQuestion(h.Theme(), "A regular expression", about, "use", "", false, func(h kit.Host, text string) tea.Cmd { return use(h, "regex "+text) }))
		return nil
	}
	h.OpenDialog(kit.NewChooser(h.Theme(), "The form of the answers, from the next one on", "choose", "", []kit.Entry{
		entry(grammar.KindNone, "free", "any text", kit.Run(keys.Form, "off")),
		entry(grammar.KindJSON, "JSON", "any JSON object", kit.Run(keys.Form, "json")),
		entry(grammar.KindSchema, "JSON schema…", "JSON that a schema describes, from a file", askFile("schema", "A JSON schema", "Answers are JSON that it describes.")),
		entry(grammar.KindRegex, "regular expression…", "a text that an expression matches", askText),
		entry(grammar.KindGBNF, "grammar…", "a text of a GBNF grammar, from a file", askFile("grammar", "A GBNF grammar", "Answers are texts of it.")),
	}))
	return nil
}
