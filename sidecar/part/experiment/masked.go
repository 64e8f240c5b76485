package experiment

import (
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

const (
	maxName = 256
	maxWhy  = 4 << 10
)

// mask masks secrets, shortens texts, and counts both.
type mask struct {
	on   bool
	most int // bytes of a text
	n    int // secrets that were masked
	cut  map[string]int
}

// text masks and shortens a text. JSON remains JSON.
func (m *mask) text(name, s string) string {
	if len(s) > m.most {
		m.cut[name] = max(len(s), m.cut[name])
	}
	return m.within(s, m.most)
}

// within shortens a text to most bytes. It cuts again after masking, so that the rest of a secret at the
// first cut is removed.
func (m *mask) within(s string, most int) string {
	if len(s) > most+margin {
		s = m.hide(scan.Head(s, most+margin))
		s = scan.Head(s, max(0, len(s)-margin))
	} else {
		s = m.hide(s)
	}
	return scan.Head(s, most)
}

// name shortens a name.
func (m *mask) name(s string) string { return m.within(s, maxName) }

func (m *mask) hide(s string) string {
	if !m.on {
		return s
	}
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return string(m.json(json.RawMessage(s)))
	}
	s, n := secrets.Mask(s)
	m.n += n
	return s
}

// json masks a document, which stays the same byte for byte if it has no secrets.
func (m *mask) json(doc json.RawMessage) json.RawMessage {
	if !m.on || len(doc) == 0 {
		return doc
	}
	out, n, err := secrets.MaskJSON(doc)
	if err != nil { // not JSON, so it is a text
		text, n := secrets.Mask(string(doc))
		m.n += n
		return quoted(text)
	}
	if n == 0 {
		return doc
	}
	m.n += n
	return out
}

// document returns valid JSON for a record, whatever doc is.
func (m *mask) document(doc json.RawMessage) json.RawMessage {
	switch {
	case len(doc) == 0:
		return nil
	case !json.Valid(doc):
		return quoted(m.hide(string(doc)))
	}
	return m.json(doc)
}

func quoted(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // no text has one
	}
	return out
}
