package chat

import (
	"rookery/infer/grammar"
)

// SetForm holds the next answers to a grammar; the zero Spec leaves them free. It
// returns the grammar's error and changes nothing if it cannot be used. Compiling
// takes milliseconds, of a large schema more.
func (d *Dialogue) SetForm(spec grammar.Spec) error {
	g, err := compileForm(spec)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	d.conv.Form, d.form = spec, compiledForm{spec: spec, grammar: g}
	d.saveHead()
	d.publish()
	return nil
}

// compileForm compiles a form. Between a role's name and the answer is a space.
func compileForm(spec grammar.Spec) (*grammar.Grammar, error) { return spec.Compile(" ") }

// A compiledForm is the form that answers were held to last, so that what its
// grammar has learnt of the vocabulary is kept from answer to answer.
type compiledForm struct {
	spec    grammar.Spec
	grammar *grammar.Grammar
	err     error
}

// grammar is that of the conversation's form; nil without one. The caller holds mu.
func (d *Dialogue) grammar() (*grammar.Grammar, error) {
	if d.form.spec != d.conv.Form {
		g, err := compileForm(d.conv.Form)
		d.form = compiledForm{d.conv.Form, g, err}
	}
	return d.form.grammar, d.form.err
}
