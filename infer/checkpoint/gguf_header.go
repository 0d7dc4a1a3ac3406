package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// describe makes the header: metadata, then names and places of the tensors.
func (g *ggufWriter) describe() error {
	emb, okEmb := g.file.byName["emb.weight"]
	key, okKey := g.file.byName["blocks.0.ffn.key.weight"]
	heads, okHeads := g.file.byName[map[string]string{"rwkv7": "blocks.0.att.r_k", "rwkv6": "blocks.0.att.time_faaaa"}[g.version]]
	if !okEmb || !okKey || !okHeads || len(emb.Shape) != 2 || len(heads.Shape) == 0 {
		return errors.New("the model has no embedding, no heads or no FFN")
	}
	layers := 0
	for g.file.byName["blocks."+strconv.Itoa(layers)+".ln1.weight"] != nil {
		layers++
	}
	v := g.version
	g.text("general.architecture", v)
	g.text("general.name", g.convert.Name)
	g.number("general.alignment", defaultAlign)
	g.number(v+".context_length", 1048576)
	g.number(v+".embedding_length", emb.Shape[1])
	g.number(v+".block_count", layers)
	g.number(v+".feed_forward_length", key.Shape[0])
	g.number(v+".attention.head_count", 0)
	g.entry(v+".attention.layer_norm_epsilon", ggufFloat32)
	g.header = binary.LittleEndian.AppendUint32(g.header, math.Float32bits(1e-5))
	g.number(v+".wkv.head_size", heads.Shape[len(heads.Shape)-1])
	g.number(v+".vocab_size", emb.Shape[0])
	g.number(v+".token_shift_count", 2)
	for _, r := range map[string][][2]string{
		"rwkv7": {
			{"attention.decay_lora_rank", "0.att.w1"},
			{"attention.iclr_lora_rank", "0.att.a1"},
			{"attention.value_residual_mix_lora_rank", "1.att.v1"},
			{"attention.gate_lora_rank", "0.att.g1"},
		},
		"rwkv6": {{"time_mix_extra_dim", "0.att.time_maa_w1"}, {"time_decay_extra_dim", "0.att.time_decay_w1"}},
	}[v] {
		n := 0
		if t, ok := g.file.byName["blocks."+r[1]]; ok && len(t.Shape) == 2 {
			n = t.Shape[1]
		}
		if r[0] == "time_mix_extra_dim" {
			n /= 5
		}
		g.number(v+"."+r[0], n)
	}
	if v == "rwkv6" {
		g.number(v+".rescale_every_n_layers", 0)
	}
	g.tokenizer(emb.Shape[0])
	g.places()
	return nil
}

// tokenizer writes the tokens as llama.cpp wants them.
func (g *ggufWriter) tokenizer(rows int) {
	if g.convert.Tokens == nil {
		g.text("tokenizer.ggml.model", "no_vocab")
		return
	}
	g.text("tokenizer.ggml.model", "rwkv")
	g.entry("tokenizer.ggml.tokens", ggufArrayKind)
	g.header = binary.LittleEndian.AppendUint32(g.header, ggufString)
	g.header = binary.LittleEndian.AppendUint64(g.header, uint64(rows))
	for id := range rows {
		switch {
		case id == 0:
			g.string("<s>")
		case id < len(g.convert.Tokens) && len(g.convert.Tokens[id]) > 0:
			g.string(escapeToken(g.convert.Tokens[id]))
		default:
			g.string("[PAD" + strconv.Itoa(id) + "]")
		}
	}
	g.entry("tokenizer.ggml.token_type", ggufArrayKind)
	g.header = binary.LittleEndian.AppendUint32(g.header, ggufInt32)
	g.header = binary.LittleEndian.AppendUint64(g.header, uint64(rows))
	for id := range rows {
		kind := uint32(1)
		if id == 0 {
			kind = tokenControl
		} else if id >= len(g.convert.Tokens) || len(g.convert.Tokens[id]) == 0 {
			kind = 5 // unused
		}
		g.header = binary.LittleEndian.AppendUint32(g.header, kind)
	}
	g.number("tokenizer.ggml.bos_token_id", 0)
	g.number("tokenizer.ggml.eos_token_id", 0)
	g.text("tokenizer.chat_template", "rwkv-world")
}

// escapeToken is Python's repr of bytes, without its quotes.
func escapeToken(token []byte) string {
	var out []byte
	for _, b := range token {
		switch {
		case b == '\n':
			out = append(out, `\n`...)
		case b == '\r':
			out = append(out, `\r`...)
		case b == '\t':
			out = append(out, `\t`...)
		case b == '\\' || b == '\'':
			out = append(out, '\\', b)
		case b < ' ' || b > '~':
			out = fmt.Appendf(out, `\x%02x`, b)
		default:
			out = append(out, b)
		}
	}
	return string(out)
}

func (g *ggufWriter) string(s string) {
	g.header = binary.LittleEndian.AppendUint64(g.header, uint64(len(s)))
	g.header = append(g.header, s...)
}

func (g *ggufWriter) entry(key string, kind uint32) {
	g.entries++
	g.string(key)
	g.header = binary.LittleEndian.AppendUint32(g.header, kind)
}

func (g *ggufWriter) text(key, value string) {
	g.entry(key, ggufString)
	g.string(value)
}

func (g *ggufWriter) number(key string, value int) {
	g.entry(key, ggufUint32)
	g.header = binary.LittleEndian.AppendUint32(g.header, uint32(value))
}

// places ends the header: what the file has, and where it lies.
func (g *ggufWriter) places() {
	head := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(g.tensors)))
	g.header = append(binary.LittleEndian.AppendUint64(head, g.entries), g.header...)
	offset := int64(0)
	for i := range g.tensors {
		t := &g.tensors[i]
		g.string(t.name)
		g.header = binary.LittleEndian.AppendUint32(g.header, uint32(len(t.dims)))
		for d := len(t.dims) - 1; d >= 0; d-- {
			g.header = binary.LittleEndian.AppendUint64(g.header, uint64(t.dims[d]))
		}
		g.header = binary.LittleEndian.AppendUint32(g.header, ggufNumber(t.dtype))
		g.header = binary.LittleEndian.AppendUint64(g.header, uint64(offset))
		offset = (offset + t.bytes() + defaultAlign - 1) / defaultAlign * defaultAlign
	}
	g.header = append(g.header, make([]byte, (defaultAlign-len(g.header)%defaultAlign)%defaultAlign)...)
}

func ggufNumber(d DType) uint32 {
	for number, dtype := range ggufTypes {
		if dtype == d {
			return number
		}
	}
	return 0
}
