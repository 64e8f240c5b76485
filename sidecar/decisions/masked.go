package decisions

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// How much of a call is kept, in bytes. A record stays far below maxLine, even if every byte is
// escaped.
const (
	maxArguments = 64 << 10
	maxText      = 4 << 10
	maxFindings  = 20
)

// masked returns the decision as it is written.
func (d Decision) masked() *Decision {
	if len(d.Arguments) > 0 {
		d.Bytes, d.Masked = 0, 0
		d.Arguments = d.maskArguments(d.Arguments)
	}
	maskTexts(&d.Tool, &d.Why, &d.Instead, &d.Call, &d.Request, &d.Session, &d.Agent, &d.Channel, &d.Model)
	d.Findings = maskedFindings(d.Findings)
	return &d
}

// masked returns the answer as it is written.
func (a Answer) masked() *Answer {
	maskTexts(&a.ID, &a.State, &a.By, &a.Note)
	a.Covers = slices.Clone(a.Covers)
	for i := range a.Covers {
		maskTexts(&a.Covers[i].Why, &a.Covers[i].Covers)
	}
	return &a
}

// masked returns the connection as it is written.
func (c Connection) masked() *Connection {
	maskTexts(&c.Ticket, &c.Session, &c.Agent, &c.Tool, &c.Server, &c.Method, &c.Why)
	c.Findings = maskedFindings(c.Findings)
	return &c
}

func maskTexts(texts ...*string) {
	for _, text := range texts {
		*text, _ = secrets.Mask(truncate(*text, maxText))
	}
}

func maskedFindings(list []policy.Finding) []policy.Finding {
	list = slices.Clone(list[:min(len(list), maxFindings)])
	for i := range list {
		maskTexts(&list[i].Why)
	}
	return list
}

// maskArguments keeps a JSON object as such, and anything else as a string.
func (d *Decision) maskArguments(args []byte) json.RawMessage {
	if len(args) <= maxArguments && utf8.Valid(args) && json.Valid(args) {
		if out, n, err := secrets.MaskJSON(args); err == nil && out[0] == '{' {
			d.Masked = n
			return out
		}
	}
	if len(args) > maxArguments {
		d.Bytes = len(args)
	}
	text, n := secrets.Mask(truncate(string(args), maxArguments))
	d.Masked = n
	out, err := json.Marshal(text)
	if err != nil {
		return nil // no text has one
	}
	return out
}

// truncate returns the beginning of a text, cut between characters.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(scan.Head(s, most), "\uFFFD") + "…"
}
