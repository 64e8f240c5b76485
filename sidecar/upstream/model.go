package upstream

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Model gives m with the name that it has at the upstream: its own, or that of the listed
// model which the asked id means. Where the upstream lists nothing, that is the id itself.
// The error is an *openai.Error with what is listed.
func (c *Client) Model(ctx context.Context, set *ruleset.Set, m ruleset.Model,
	asked string) (ruleset.Model, error) {
	if m.Name != "" {
		return m, nil
	}
	m.Name = asked
	listed := c.Models(ctx, set)
	if len(listed) == 0 || slices.Contains(listed, asked) {
		return m, nil
	}
	name, ok := meant(asked, listed)
	if !ok {
		return m, openai.ModelNotServed(asked, listed)
	}
	m.Name = name
	if old, told := c.chosen.Swap(asked, name); !told || old != name {
		c.log.InfoContext(ctx, "model chosen", "event", "model_chosen", "asked", asked, "model", name,
			"listed", strings.Join(listed, " "))
	}
	return m, nil
}

// meant is the listed model that an asked id means; ok is false where none fits. An id with
// a size means that size only.
func meant(asked string, listed []string) (id string, ok bool) {
	a, names := partsOf(asked), make([]name, len(listed))
	for i, id := range listed {
		names[i] = partsOf(id)
	}
	for _, fits := range []func(name) bool{
		func(l name) bool { return slices.Equal(l.parts, a.parts) },
		func(l name) bool { return l.plain && a.plain && a.size != "" && l.size == a.size },
		func(l name) bool { return a.size == "" && l.plain },
		func(l name) bool {
			return len(l.parts) > len(a.parts) && slices.Equal(l.parts[:len(a.parts)], a.parts)
		},
		func(l name) bool { return a.size == "" && len(names) == 1 && !noChat.MatchString(l.id) },
	} {
		if i := slices.IndexFunc(names, fits); i >= 0 {
			return listed[i], true
		}
	}
	return "", false
}

// name is a model id in parts: hf.co/unsloth/gpt-oss-20b-GGUF:Q4_K_M is gpt oss 20b gguf q4 k m.
type name struct {
	id    string
	parts []string
	size  string // 20b
	plain bool   // it is gpt-oss itself, in any quantisation, and no relative
}

var (
	sizePart = regexp.MustCompile(`^\d+(\.\d+)?[bm]$`)
	noChat   = regexp.MustCompile(`(?i)embed|rerank`)
)

func partsOf(id string) name {
	n := name{id: id}
	last := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	last = strings.ReplaceAll(last, "gptoss", "gpt-oss")
	n.parts = strings.FieldsFunc(last,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if i := slices.IndexFunc(n.parts, sizePart.MatchString); i >= 0 {
		n.size = n.parts[i]
	}
	if i := slices.Index(n.parts, "oss"); i > 0 && n.parts[i-1] == "gpt" {
		n.parts = n.parts[i-1:] // a vendor may stand before it
		n.plain = len(n.parts) == 2 || sizePart.MatchString(n.parts[2])
	}
	return n
}
