package chat

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"rookery/chat/compare"
	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/infer"
)

// A VariantAnswer is what a variant says to a Question.
type VariantAnswer struct {
	Variant Variant
	Text    string
	Tokens  []int32 // without the stop
	Drawn   []infer.Token
	Reason  infer.Reason
	Usage   infer.Usage // what was read for several is counted for each

	model  *infer.Model
	header string
}

// FirstDifference is where an answer begins to differ from another one to the
// same question.
func (a *VariantAnswer) FirstDifference(other VariantAnswer) compare.Difference {
	var g compare.Agreement
	return g.FirstDifference(a.compared(), other.compared())
}

// compared is what is compared of the answer.
func (a *VariantAnswer) compared() compare.Answer {
	return compare.Answer{Text: a.Text, Drawn: a.Drawn, Complete: a.Reason == infer.ReasonStop, Model: a.model, Header: a.header}
}

// Answers answers a question in the way of each variant, without a
// conversation: all are rows of the same steps, and variants that read the
// same share what they read. Seeds are the variants'. It blocks, and is safe
// for concurrent use: questions that are asked together run together.
func (k *Workspace) Answers(ctx context.Context, q prompt.Question, variants []Variant) ([]VariantAnswer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	groups := map[string][]int{}
	var order []string
	for i := range variants {
		w := variants[i].settings()
		if err := variants[i].Check(k.hostOf(w.second).engine.Model()); err != nil {
			return nil, err
		}
		key := w.stateKey()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	answers := make([]VariantAnswer, len(variants))
	group, ctx := errgroup.WithContext(ctx)
	for _, key := range order {
		group.Go(func() error { return k.answerAlike(ctx, q, variants, groups[key], answers) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return answers, nil
}

// answerAlike answers in the way of some variants, by their places, that read
// the same.
func (k *Workspace) answerAlike(ctx context.Context, q prompt.Question, variants []Variant, places []int, answers []VariantAnswer) error {
	h := k.hostOf(variants[places[0]].Model)
	r, header, err := k.asking(ctx, q, variants[places[0]])
	if err != nil {
		return err
	}
	var shared infer.Usage
	if len(places) > 1 {
		if r, shared, err = h.read(ctx, r); err != nil {
			return err
		}
	}
	settings, m := k.settings(), h.engine.Model()
	t := prompt.TemplateOf(m)
	streams := make([]*infer.Stream, 0, len(places))
	for _, i := range places {
		own := answer{settings: variants[i].settings()}
		row := r
		row.From = own.fits(r.From) // of a mix: its own weights
		row.MaxTokens, row.Stops, row.Sampling = settings.MaxTokens, k.stops(t), variants[i].Sampling
		row.Sampling.Ban = slices.Concat(row.Sampling.Ban, t.BannedTokens())
		var s *infer.Stream
		if s, err = h.engine.Submit(row); err != nil {
			break
		}
		streams = append(streams, s)
	}
	for n, s := range streams {
		if err != nil {
			s.Cancel()
		}
		end, failed := s.Wait(ctx)
		if err == nil {
			err = failed
		}
		end.Usage.Read += shared.Read
		end.Usage.ReadTime += shared.ReadTime
		end.Usage.FirstToken += shared.ReadTime
		i := places[n]
		answers[i] = VariantAnswer{
			Variant: variants[i], Tokens: end.Tokens, Reason: end.Reason, Usage: end.Usage, header: header,
			Text: header + end.Text, model: m,
		}
		if header == "" {
			answers[i].Text = strings.TrimPrefix(end.Text, " ") // the one after "Assistant:"
		}
		_, answers[i].Drawn = s.Read()
	}
	return err
}

// asking is a request that reads a question in the way of a variant.
func (k *Workspace) asking(ctx context.Context, q prompt.Question, v Variant) (r infer.Request, header string, err error) {
	a := &answer{d: &Dialogue{workspace: k}, settings: v.settings()}
	if err := a.host().adapters.Need(ctx, a.settings.adapter); err != nil {
		return r, "", err
	}
	from, text, err := a.loadBeginning(ctx, a.settings.base)
	if err != nil {
		return r, "", err
	}
	settings, begins := k.settings(), library.BaseOf(&v.Base).Beginning()
	read := prompt.Rendering{System: settings.System, Begins: begins, BlankLines: settings.KeepBlankLines}
	if q.System != nil {
		read.System = *q.System
	}
	if begins == prompt.AfterText {
		read.System = "" // as for conversations that begin from it, see setBase
	}
	tokens, header := prompt.TemplateOf(a.model()).EncodeQuestion(q, read, settings.Think)
	return infer.Request{From: from, Tokens: slices.Concat(text, tokens), Adapter: a.settings.adapter, AnyAdapter: true, Label: "compare"}, strings.TrimLeft(header, " "), nil
}

// read reads what a request says, and makes it one that goes on from there.
func (h host) read(ctx context.Context, r infer.Request) (infer.Request, infer.Usage, error) {
	reading := r
	reading.Logits = true
	s, err := h.engine.Submit(reading)
	if err != nil {
		return r, infer.Usage{}, err
	}
	end, err := s.Wait(ctx)
	r.From, r.Tokens = end.Snapshot, nil
	return r, end.Usage, err
}

// ScoreAnswers says how likely a reference finds answers to a question, as
// Dialogue.Judge does. Answers of models with another tokenizer are spelt anew.
func (k *Workspace) ScoreAnswers(ctx context.Context, q prompt.Question, reference Variant, answers []VariantAnswer) ([]compare.Score, error) {
	h := k.hostOf(reference.Model)
	r, _, err := k.asking(ctx, q, reference)
	if err != nil {
		return nil, err
	}
	if r, _, err = h.read(ctx, r); err != nil {
		return nil, err
	}
	t := prompt.TemplateOf(h.engine.Model())
	texts := make([][]int32, len(answers))
	for i, a := range answers {
		if texts[i] = a.Tokens; !compare.SameTokenizer(a.model, h.engine.Model()) {
			texts[i] = t.EncodeAnswer(a.Text)
		}
	}
	return compare.ScoreTexts(ctx, h.engine, r, texts)
}
