package sampler

import "math"

// Params are the sampling parameters of one row. The zero Temperature is
// greedy; every other parameter does nothing at zero, but for TopP, which does
// nothing at 1. Fields describes each.
type Params struct {
	Mode        Mode
	Temperature float32
	TopK        int
	TopP        float32
	MinP        float32
	TopA        float32
	Typical     float32
	Presence    float32
	Frequency   float32
	Decay       float32 // of the occurrence counts, per token
	Seed        uint64
	Ban         []int32 // tokens never drawn
	Bias        Biases  // added to logits

	XTC          float32 // the probability of excluding top choices
	XTCThreshold float32 // the probability from which a token is a top choice
	DRY          float32 // what a repetition of DRYLength costs; each token more multiplies it by DRYBase
	DRYBase      float32
	DRYLength    int // of these three zero is a default, see effective
}

// Fields are all sampling parameters, in the order in which people see them.
// Configuration, flags, JSON, slash commands, the sampling panel and the
// descriptions of votes follow from this table.
var Fields = []*Field{
	{
		Name: "temperature", Label: "temperature", Command: "temp",
		Help:  "0 takes the likeliest token after penalties",
		About: "How freely to choose: 0 always takes the likeliest token after penalties, 1 follows the model, more surprises.",
		Most:  maxTemperature, Default: 1, Off: never, Zero: "greedy", Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.05, Coarse: 0.25, Most: 5, Full: 2, Digits: 2},
		at:     func(p *Params) any { return &p.Temperature },
	},
	{
		Name: "top_p", Label: "top_p", Command: "top_p",
		Help:  "keep the likeliest tokens up to this probability",
		About: "Choose only among the likeliest tokens that together have this probability; 1 is all.",
		Most:  1, Default: 1, Off: 1, Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.01, Coarse: 0.1, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.TopP },
	},
	{
		Name: "top_k", Label: "top_k", Command: "top_k",
		Help:  "keep the k likeliest tokens; 0 keeps all",
		About: "Choose only among this many of the likeliest tokens; off (0) is all.",
		Most:  math.Inf(1), Zero: "off", Brief: true, Recipe: true,
		Slider: Slider{Fine: 1, Coarse: 10, Most: 10_000, Full: 200},
		at:     func(p *Params) any { return &p.TopK },
	},
	{
		Name: "min_p", Label: "min_p", Command: "min_p", HostOnly: true,
		Help:  "drop what is below this share of the likeliest",
		About: "Choose only among tokens that have at least this share of the likeliest one's probability; off (0) is all. A GPU leaves the draw to the CPU, which is exact and slower.",
		Most:  1, Zero: "off", Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.01, Coarse: 0.1, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.MinP },
	},
	{
		Name: "top_a", Label: "top_a", Command: "top_a", HostOnly: true,
		Help:  "drop what is far below a sure token",
		About: "Choose only among tokens with at least this times the square of the likeliest one's probability: few where the model is sure, many where it is not; off (0) is all.",
		Most:  1, Zero: "off", Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.01, Coarse: 0.1, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.TopA },
	},
	{
		Name: "typical", Label: "typical", Command: "typical", HostOnly: true,
		Help:  "keep the tokens about as surprising as expected",
		About: "Choose only among the tokens whose surprise is nearest to the expected one, up to this probability together; off (0) is all.",
		Most:  1, Zero: "off", Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.01, Coarse: 0.1, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.Typical },
	},
	{
		Name: "xtc", Label: "xtc", Command: "xtc", HostOnly: true,
		Help:  "how often to exclude the top choices",
		About: "The probability that a draw excludes all tokens above the xtc threshold but the least likely of them: less predictable, still sensible; off (0) is never.",
		Most:  1, Zero: "off", Recipe: true,
		Slider: Slider{Fine: 0.05, Coarse: 0.25, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.XTC },
	},
	{
		Name: "xtc_threshold", Label: "xtc threshold", Command: "xtc_threshold", HostOnly: true,
		Help:  "set from what probability xtc excludes tokens",
		About: "The probability from which a token is a top choice, of which xtc needs two; 0 is 0.1.",
		Most:  1, Zero: "0.10", Recipe: true,
		Idle:   func(p Params) bool { return p.XTC == 0 },
		Slider: Slider{Fine: 0.01, Coarse: 0.1, Most: 1, Full: 1, Digits: 2},
		at:     func(p *Params) any { return &p.XTCThreshold },
	},
	{
		Name: "presence", Label: "presence penalty", Command: "presence", Aliases: []string{"presence_penalty"},
		Help:  "penalise every token that occurred, once",
		About: "What a token loses once it has occurred: more keeps the text moving on.",
		Least: math.Inf(-1), Most: math.Inf(1), Recipe: true,
		Slider: Slider{Fine: 0.05, Coarse: 0.5, Least: -5, Most: 5, Full: 3, Digits: 2},
		at:     func(p *Params) any { return &p.Presence },
	},
	{
		Name: "frequency", Label: "frequency penalty", Command: "frequency", Aliases: []string{"frequency_penalty"},
		Help:  "penalise a token for every time it occurred",
		About: "What a token loses for every time it occurred: more avoids repetition.",
		Least: math.Inf(-1), Most: math.Inf(1), Recipe: true,
		Slider: Slider{Fine: 0.05, Coarse: 0.5, Least: -5, Most: 5, Full: 3, Digits: 2},
		at:     func(p *Params) any { return &p.Frequency },
	},
	{
		Name: "decay", Label: "penalty decay", Command: "decay", Aliases: []string{"penalty_decay"},
		Help:  "set what is left of the counts after each token",
		About: "What is left of the counts of occurrences after each token; 1 never forgets.",
		Most:  1, Default: 0.996, Off: 1, Recipe: true,
		Idle:   func(p Params) bool { return p.Presence == 0 && p.Frequency == 0 },
		Slider: Slider{Fine: 0.001, Coarse: 0.01, Most: 1, Full: 1, Digits: 3},
		at:     func(p *Params) any { return &p.Decay },
	},
	{
		Name: "dry", Label: "dry", Command: "dry", HostOnly: true,
		Help:  "penalise what repeats a sequence of the answer",
		About: "What a token loses that would go on repeating a sequence of this answer, more for a longer one: ends loops and leaves single words alone.",
		Most:  100, Zero: "off", Brief: true, Recipe: true,
		Slider: Slider{Fine: 0.1, Coarse: 0.5, Most: 5, Full: 2, Digits: 1},
		at:     func(p *Params) any { return &p.DRY },
	},
	{
		Name: "dry_base", Label: "dry base", Command: "dry_base", HostOnly: true,
		Help:  "set how fast dry grows with the length",
		About: "What each further token of a repetition multiplies the penalty of dry by; 0 is 1.75.",
		Most:  100, Zero: "1.75", Recipe: true,
		Idle:   func(p Params) bool { return p.DRY == 0 },
		Slider: Slider{Fine: 0.05, Coarse: 0.25, Least: 1, Most: 4, Full: 4, Digits: 2},
		at:     func(p *Params) any { return &p.DRYBase },
	},
	{
		Name: "dry_length", Label: "dry length", Command: "dry_length", HostOnly: true,
		Help:  "set how long a repetition may be unpenalised",
		About: "The length in tokens from which dry counts a repetition; 0 is 2.",
		Most:  maxRecent, Zero: "2", Recipe: true,
		Idle:   func(p Params) bool { return p.DRY == 0 },
		Slider: Slider{Fine: 1, Coarse: 5, Most: 50, Full: 20},
		at:     func(p *Params) any { return &p.DRYLength },
	},
	{
		Name: "seed", Label: "seed", Command: "seed",
		Help:  "choose the random stream of the next answer",
		About: "A fresh one (0) for every answer; any other makes answers repeatable.",
		Most:  math.Inf(1), Zero: "fresh",
		at: func(p *Params) any { return &p.Seed },
	},
	{
		Name: "mode", Label: "sampling mode", Choices: Modes,
		Help:  "choose the definition: rwkv, pip or rapid",
		About: "The order of the steps of a draw.",
		Off:   never, Recipe: true,
		at: func(p *Params) any { return &p.Mode },
	},
	{
		Name: "ban", Label: "banned tokens",
		Help:  "never draw these token ids",
		About: "Tokens that are never chosen, by their ids.",
		Zero:  "none",
		at:    func(p *Params) any { return &p.Ban },
	},
	{
		Name: "logit_bias", Label: "logit bias", HostOnly: true,
		Help:  "add to the logits of these token ids",
		About: "What is added to the logits of tokens, by their ids.",
		Zero:  "none",
		at:    func(p *Params) any { return &p.Bias },
	},
}

// never is the Off of a parameter that cannot be switched off.
var never = math.NaN()
