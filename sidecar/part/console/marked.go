package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

const (
	maxMarked = 256 << 10 // bytes of a text that is split into pieces
	maxShown  = 64 << 10  // bytes of a text that a page shows
)

// piece is a part of a shown text with its meaning.
type piece struct {
	As    replay.As
	Text  string
	Title string
}

// markedText is a masked field of a reply, in pieces.
type markedText struct {
	Field  string
	Pieces []piece
	Bytes  int
	More   int  // bytes that are not shown
	Plain  bool // its pieces are unknown
}

// markedOf masks a marked text, whose pieces keep their meaning.
func markedOf(m replay.Marked) markedText {
	out := markedText{Field: string(m.Field), Bytes: len(m.Text)}
	masks, ok := masksOf(m.Text)
	if !ok {
		return plainText(string(m.Field), m.Text)
	}
	remaining := maxShown
	for _, s := range m.Spans {
		if remaining <= 0 {
			break
		}
		text := maskPiece(m.Text, s.From, s.To, masks)
		if text == "" {
			continue // inside a secret that began earlier
		}
		if len(text) > remaining {
			text = strings.ToValidUTF8(text[:remaining], "")
		}
		remaining -= len(text)
		title := string(s.As)
		if s.Says != "" {
			title += ": " + shown(s.Says)
		}
		if s.Rule != "" {
			title += " (" + s.Rule + ")"
		}
		out.Pieces = append(out.Pieces, piece{s.As, approvals.Visible(text), title})
	}
	out.More = max(0, len(m.Text)-maxShown)
	return out
}

// kindsOf returns the meanings of all pieces, without duplicates, in the order of the legend.
func kindsOf(texts []markedText) (out []replay.As) {
	for _, as := range []replay.As{replay.AsThought, replay.AsText, replay.AsHeader, replay.AsCall,
		replay.AsRepaired, replay.AsRefused, replay.AsDropped} {
		if slices.ContainsFunc(texts, func(t markedText) bool {
			return !t.Plain && slices.ContainsFunc(t.Pieces, func(p piece) bool { return p.As == as })
		}) {
			out = append(out, as)
		}
	}
	return out
}

// plainText is a text without known pieces.
func plainText(field, text string) markedText {
	all := len(text)
	masked, _ := secrets.Mask(text[:min(all, 2*maxShown)])
	masked = strings.ToValidUTF8(masked[:min(len(masked), maxShown)], "")
	return markedText{Field: field, Pieces: []piece{{replay.AsText, approvals.Visible(masked), ""}},
		Bytes: all, More: max(0, all-maxShown), Plain: true}
}

// mask is a secret in a text and its replacement.
type mask struct {
	from, to int
	put      string
}

var masked = regexp.MustCompile(`«masked:[a-z-]+:(\d{1,9})»`)

// masksOf finds the secrets of a text. ok is false if they overlap, since their places are then unclear.
func masksOf(text string) (out []mask, ok bool) {
	after, n := secrets.Mask(text)
	if n == 0 {
		return nil, true
	}
	at, done := 0, 0 // in text and after
	for _, m := range masked.FindAllStringSubmatchIndex(after, -1) {
		plain, put := after[done:m[0]], after[m[0]:m[1]]
		if !strings.HasPrefix(text[at:], plain) {
			return nil, false
		}
		at, done = at+len(plain), m[1]
		if strings.HasPrefix(text[at:], put) { // it stood there
			at += len(put)
			continue
		}
		long := 0
		for _, digit := range after[m[2]:m[3]] {
			long = 10*long + int(digit-'0')
		}
		if at+long > len(text) {
			return nil, false
		}
		out = append(out, mask{at, at + long, put})
		at += long
	}
	return out, text[at:] == after[done:]
}

// maskPiece returns a piece with its secrets masked. A secret across pieces is shown in the first.
func maskPiece(text string, from, to int, masks []mask) string {
	var b strings.Builder
	for _, m := range masks {
		if m.to <= from || m.from >= to {
			continue
		}
		if m.from >= from {
			b.WriteString(text[from:m.from])
			b.WriteString(m.put)
		}
		from = min(m.to, to)
	}
	b.WriteString(text[from:to])
	return b.String()
}
