package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"rookery/infer/grammar"
	"rookery/untrusted"
)

// maxGrammarFile limits a file with a grammar, in bytes.
const maxGrammarFile = 1 << 20

// A grammarFlag is what the answer must look like.
type grammarFlag struct{ schema, regex, gbnf string }

func (f *grammarFlag) addTo(fs *pflag.FlagSet) {
	fs.StringVar(&f.schema, "json-schema", "", "answer with JSON of this schema: a file, or the schema itself")
	fs.StringVar(&f.regex, "regex", "", "answer with a text that this expression matches as a whole")
	fs.StringVar(&f.gbnf, "grammar", "", "answer with a text of this GBNF grammar: a file")
}

// compile reads the grammar. Without a flag it returns nil. Lead may stand before
// the text.
func (f *grammarFlag) compile(ctx context.Context, lead string) (*grammar.Grammar, error) {
	var given []grammar.Spec
	if f.schema != "" {
		spec := grammar.Spec{Kind: grammar.KindSchema, Text: f.schema}
		if !strings.HasPrefix(strings.TrimSpace(f.schema), "{") {
			text, err := untrusted.Read(ctx, f.schema, maxGrammarFile)
			if err != nil {
				return nil, exitWith(exitUsage, fmt.Errorf("--json-schema: %w", err))
			}
			spec.Text = string(text)
		}
		given = append(given, spec)
	}
	if f.regex != "" {
		given = append(given, grammar.Spec{Kind: grammar.KindRegex, Text: f.regex})
	}
	if f.gbnf != "" {
		text, err := untrusted.Read(ctx, f.gbnf, maxGrammarFile)
		if err != nil {
			return nil, exitWith(exitUsage, fmt.Errorf("--grammar: %w", err))
		}
		given = append(given, grammar.Spec{Kind: grammar.KindGBNF, Text: string(text)})
	}
	switch len(given) {
	case 0:
		return nil, nil
	case 1:
		g, err := given[0].Compile(lead)
		return g, exitWith(exitUsage, err)
	}
	return nil, exitWith(exitUsage, errors.New("give one of --json-schema, --regex and --grammar"))
}
