package rulefile

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

var locateFor = flag.Duration("locatefor", 0, "how long TestLocateStyles goes on")

// located counts what was looked for, and what was not found.
type located struct{ documents, scalars, runes, lost int }

// look finds every rune of a document, if it is one.
func (c *located) look(t *testing.T, doc string) {
	var root yaml.Node
	src := newSource("", doc)
	if _, text := src.checkText(doc); !text || yaml.Unmarshal([]byte(doc), &root) != nil {
		return
	}
	c.documents++
	scalars(&root, func(n *yaml.Node) {
		c.scalars++
		runes := []rune(n.Value)
		spots := locate(src.lines, n.Line, n.Column, n.Value)
		if spots == nil {
			c.lost++
			t.Errorf("%q is not followed in\n%s", n.Value, doc)
			return
		}
		c.runes += len(runes)
		if i := wrongSpot(src.lines, runes, spots); i >= 0 {
			t.Fatalf("rune %d of %q is not at %v of\n%s", i, n.Value, spots[i], doc)
		}
	})
}

// TestLocateStyles writes random texts in every style, and things around them that
// move them: tags, comments, indents, other keys, CRLF, wide characters. No rune is
// found in a wrong place, and no scalar is not followed.
func TestLocateStyles(t *testing.T) {
	bits := []string{"a", "b ", " ", "  ", "\n", "\n\n", "\t", "é", "日本", "👍🏽", "e\u0301", "#", " # ", ": ",
		"- ", "'", "''", "\"", "\\", "\\n", "|", ">", "[", "]", "{", ",", "!", "&", "*", "%", "@", "`",
		"word", " == ", "\u00a0", "\u200b", "?"}
	rng := rand.New(rand.NewPCG(13, 14))
	var c located
	began := time.Now()
	documents := 20_000
	if testing.Short() {
		documents = 3_000
	}
	for i := 0; i < documents || time.Since(began) < *locateFor; i++ {
		var value strings.Builder
		for range rng.IntN(30) {
			value.WriteString(bits[rng.IntN(len(bits))])
		}
		doc, _ := dress(value.String(), uint8(rng.Uint32()), uint16(rng.Uint32()))
		c.look(t, doc)
	}
	t.Logf("%d documents, %d scalars, %d runes in their places; %d scalars not followed", c.documents,
		c.scalars, c.runes, c.lost)
}

// FuzzLocateStyles does the same with texts that a fuzzer thinks of.
func FuzzLocateStyles(f *testing.F) {
	for i, s := range []string{"a == \"x\"", "é 日 # b", "a\nb\n\n c\n", "'it''s'", " x", "x ", "\ta",
		"- a: b", "\\n\\", "\n\na\n", "a \n b\t\n", "👍🏽 é́"} {
		f.Add(s, uint8(i), uint16(i*37))
	}
	f.Fuzz(func(t *testing.T, value string, style uint8, around uint16) {
		if doc, ok := dress(value, style, around); ok {
			new(located).look(t, doc)
		}
	})
}

// dress writes a value as the bits of around say. Styles of the encoder come first,
// then those that it never writes.
func dress(value string, style uint8, around uint16) (string, bool) {
	if len(value) > 500 || !utf8.ValidString(value) {
		return "", false
	}
	has := func(bit int) bool { return around>>bit&1 == 1 }
	indent := strings.Repeat(" ", 2+int(around>>12))
	tag := []string{"", "!!str ", "&x ", "&x !!str "}[around&3]
	body := strings.ReplaceAll(value, "\n", "\n"+indent)
	var scalar string
	switch style % 8 {
	case 0:
		scalar = body
	case 1:
		scalar = "'" + strings.ReplaceAll(body, "'", "''") + "'"
	case 2:
		scalar = strconv.Quote(value)
	case 3:
		scalar = strconv.QuoteToASCII(value)
	case 4: // broken between words, with escaped breaks
		scalar = strings.ReplaceAll(strings.ReplaceAll(strconv.Quote(value), " ", " \\\n"+indent), "b",
			"b\n"+indent)
	case 5:
		scalar = "|" + []string{"", "-", "+"}[int(style/8)%3] + "\n" + indent + body
	case 6:
		scalar = ">" + []string{"", "-", "+"}[int(style/8)%3] + " # head\n" + indent + body
	case 7:
		scalar = "|" + strconv.Itoa(len(indent)-1) + []string{"", "-", "+"}[int(style/8)%3] +
			"\n" + indent + body
	}
	doc := "日本: &a é\nk: " + tag + scalar
	if has(2) {
		doc += " # behind"
	}
	doc += "\n"
	if has(3) {
		doc += "\n\n"
	}
	doc += "'it''s': \"\\x41\\u00e9\"\n"
	if has(4) {
		doc = "- " + strings.ReplaceAll(doc, "\n", "\n  ")
	}
	if has(5) {
		doc = strings.ReplaceAll(doc, "\n", "\r\n")
	}
	if has(6) {
		doc = "# é first\n\n" + doc
	}
	if has(7) && style%8 < 4 {
		doc = "[x, {a: 日, k: " + tag + scalar + "}, 'y']"
	}
	return doc, true
}
