package ruleset

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// marker is the program that the texts try to run.
const marker = "zz"

// textMaker makes up shell texts that run one harmless program in roundabout ways: quoted,
// folded, nested in shells and substitutions, hidden where parsers and shells are known to
// differ. It never runs anything, and is not safe for concurrent use.
type textMaker struct {
	rng *rand.Rand
}

// newTexts gives a maker whose texts depend on the seed alone.
func newTexts(seed uint64) *textMaker { return &textMaker{rand.New(rand.NewPCG(seed, 7))} }

// Text is one text. Most run the marker in bash, some do not parse, some run nothing.
func (m *textMaker) Text() string {
	text := m.nest(1 + m.rng.IntN(4))
	switch m.rng.IntN(6) {
	case 0:
		text = m.continued(text)
	case 1:
		for range 1 + m.rng.IntN(3) {
			text = m.mutated(text)
		}
	case 2:
		text = one(m, around)(m, text)
	case 3:
		text = m.soup() + text
	}
	return text
}

// nest wraps the marker in constructs, depth of them inside each other.
func (m *textMaker) nest(depth int) string {
	text := m.call()
	for range depth {
		switch m.rng.IntN(8) {
		case 0:
			text = one(m, around)(m, text)
		case 1, 2:
			text = one(m, evaluated)(m, text)
		case 3, 4:
			text = one(m, substituted)(m, text)
		default:
			text = one(m, wrapped)(m, text)
		}
	}
	return text
}

// call is the marker as a command, its name written in one of many ways.
func (m *textMaker) call() string {
	name := one(m, names)(m)
	if m.rng.IntN(3) == 0 {
		name += " " + m.pick("a", "-x", "'q'", `"$HOME"`, "*", "2>&1", ">/dev/null", "</dev/null", "$(true)",
			"&", ";")
	}
	return name
}

func (m *textMaker) pick(words ...string) string { return words[m.rng.IntN(len(words))] }

// one picks a construct.
func one[T any](m *textMaker, all []T) T { return all[m.rng.IntN(len(all))] }

// quoted is a text as one word.
func (m *textMaker) quoted(text string) string {
	switch m.rng.IntN(5) {
	case 0:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
	case 1:
		return "$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(text) + "'"
	case 2: // every byte by its number
		var b strings.Builder
		for i := range len(text) {
			fmt.Fprintf(&b, m.pick(`\x%02x`, `\%03o`), text[i])
		}
		return "$'" + b.String() + "'"
	case 3: // what stands in double quotes is expanded
		return `"` + strings.NewReplacer(`"`, `\"`).Replace(text) + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
