package modelserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// specialTokens are Harmony's. Each is one token of the tiny model; of all else, each byte is one.
var specialTokens = []string{"<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>",
	"<|start|>", "<|end|>", "<|message|>", "<|call|>", "<|endofprompt|>"}

// endTokens end a reply.
var endTokens = []string{"<|return|>", "<|call|>", "<|endoftext|>"}

// The types of GGUF's values.
const (
	ggufUint32 = 4
	ggufInt32  = 5
	ggufFloat  = 6
	ggufBool   = 7
	ggufString = 8
	ggufArray  = 9
)

// gguf writes a GGUF file: metadata, and tensors of 32 bit floats.
type gguf struct {
	values, tensors []byte
	nValues         uint64
	nTensors        uint64
	data            []byte
}

func (g *gguf) text(to []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(to, uint64(len(s))), s...)
}

// set adds a value, or an array of values.
func (g *gguf) set(key string, value any) {
	g.nValues++
	g.values = g.text(g.values, key)
	kind, encoded := g.encode(value)
	g.values = append(binary.LittleEndian.AppendUint32(g.values, kind), encoded...)
}

func (g *gguf) encode(value any) (kind uint32, encoded []byte) {
	array := func(kind uint32, n int) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, kind), uint64(n))
	}
	switch v := value.(type) {
	case string:
		return ggufString, g.text(nil, v)
	case []string:
		encoded = array(ggufString, len(v))
		for _, s := range v {
			encoded = g.text(encoded, s)
		}
		return ggufArray, encoded
	case []int32:
		encoded, _ = binary.Append(array(ggufInt32, len(v)), binary.LittleEndian, v) // of a fixed size
		return ggufArray, encoded
	}
	kinds := map[string]uint32{"uint32": ggufUint32, "float32": ggufFloat, "bool": ggufBool}
	encoded, err := binary.Append(nil, binary.LittleEndian, value)
	if err != nil {
		panic(err) // the test set a value of another type
	}
	return kinds[fmt.Sprintf("%T", value)], encoded
}

// tensor adds a tensor with equal elements.
func (g *gguf) tensor(name string, fill float32, shape ...uint64) {
	g.nTensors++
	g.tensors = binary.LittleEndian.AppendUint32(g.text(g.tensors, name), uint32(len(shape)))
	n := uint64(1)
	for _, side := range shape {
		n *= side
		g.tensors = binary.LittleEndian.AppendUint64(g.tensors, side)
	}
	const float32s = 0
	g.tensors = binary.LittleEndian.AppendUint32(g.tensors, float32s)
	g.tensors = binary.LittleEndian.AppendUint64(g.tensors, uint64(len(g.data)))
	element, _ := binary.Append(nil, binary.LittleEndian, fill) // of a fixed size
	g.data = append(g.data, bytes.Repeat(element, int(n))...)
	g.data = pad(g.data)
}

// pad fills up to GGUF's alignment.
func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&31)...) }

func (g *gguf) bytes() []byte {
	out := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	out = binary.LittleEndian.AppendUint64(out, g.nTensors)
	out = binary.LittleEndian.AppendUint64(out, g.nValues)
	return append(pad(slices.Concat(out, g.values, g.tensors)), g.data...)
}

// tinyModel returns a gpt-oss of one layer: all its logits are 0. The architecture is gptoss for Ollama,
// and gpt-oss for llama.cpp. The template may be empty.
func tinyModel(architecture, template string) []byte {
	vocabulary, types := byteTokens(), make([]int32, 256)
	for i := range types {
		types[i] = 1 // normal
	}
	special := map[string]uint32{}
	for _, s := range specialTokens {
		special[s] = uint32(len(vocabulary))
		vocabulary, types = append(vocabulary, s), append(types, 3) // control
	}
	var ends []int32
	for _, s := range endTokens {
		ends = append(ends, int32(special[s]))
	}
	const embedding, forward, experts, head = 64, 32, 4, 64
	g := &gguf{}
	g.set("general.architecture", architecture)
	g.set("general.name", "tiny gpt-oss")
	g.set("general.file_type", uint32(0))
	settings := map[string]any{
		"block_count": uint32(1), "context_length": uint32(131072), "embedding_length": uint32(embedding),
		"feed_forward_length": uint32(forward), "expert_feed_forward_length": uint32(forward),
		"expert_count": uint32(experts), "expert_used_count": uint32(1),
		"attention.head_count": uint32(1), "attention.head_count_kv": uint32(1),
		"attention.key_length": uint32(head), "attention.value_length": uint32(head),
		"attention.layer_norm_rms_epsilon": float32(1e-5), "attention.sliding_window": uint32(128),
		"rope.freq_base": float32(150000), "rope.scaling.factor": float32(32), "rope.scaling.type": "yarn",
		"rope.scaling.original_context_length": uint32(4096),
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		g.set(architecture+"."+key, settings[key])
	}
	g.set("tokenizer.ggml.model", "gpt2")
	g.set("tokenizer.ggml.pre", "gpt-4o")
	g.set("tokenizer.ggml.tokens", vocabulary)
	g.set("tokenizer.ggml.token_type", types)
	g.set("tokenizer.ggml.merges", []string{"ÿ ÿ"}) // both servers want one; UTF-8 has no such byte
	g.set("tokenizer.ggml.bos_token_id", special["<|startoftext|>"])
	g.set("tokenizer.ggml.eos_token_id", special["<|return|>"])
	g.set("tokenizer.ggml.padding_token_id", special["<|endoftext|>"])
	g.set("tokenizer.ggml.eos_token_ids", ends)
	g.set("tokenizer.ggml.add_bos_token", false)
	if template != "" {
		g.set("tokenizer.chat_template", template)
	}
	words := uint64(len(vocabulary))
	g.tensor("token_embd.weight", 1, embedding, words)
	g.tensor("output_norm.weight", 1, embedding)
	g.tensor("output.weight", 0, embedding, words)
	const layer = "blk.0."
	g.tensor(layer+"attn_norm.weight", 1, embedding)
	g.tensor(layer+"post_attention_norm.weight", 1, embedding)
	for _, name := range []string{"attn_q", "attn_k", "attn_v"} {
		g.tensor(layer+name+".weight", 0, embedding, head)
		g.tensor(layer+name+".bias", 0, head)
	}
	g.tensor(layer+"attn_output.weight", 0, head, embedding)
	g.tensor(layer+"attn_output.bias", 0, embedding)
	g.tensor(layer+"attn_sinks.weight", 0, 1)
	g.tensor(layer+"ffn_gate_inp.weight", 0, embedding, experts)
	g.tensor(layer+"ffn_gate_inp.bias", 0, experts)
	for _, name := range []string{"ffn_gate_exps", "ffn_up_exps"} {
		g.tensor(layer+name+".weight", 0, embedding, forward, experts)
		g.tensor(layer+name+".bias", 0, forward, experts)
	}
	g.tensor(layer+"ffn_down_exps.weight", 0, forward, embedding, experts)
	g.tensor(layer+"ffn_down_exps.bias", 0, embedding, experts)
	return g.bytes()
}

// byteTokens returns the 256 bytes in the visible letters of GPT-2's vocabulary.
func byteTokens() []string {
	out := make([]string, 256)
	next := rune(256)
	for b := range out {
		letter := rune(b)
		if visible := b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae; !visible {
			letter = next
			next++
		}
		out[b] = string(letter)
	}
	return out
}
