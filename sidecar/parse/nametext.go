package parse

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Clue is the name of an offered tool with arguments behind it, in markup that no strategy
// knows, or that lost its signs:
//
//	functions.read commentary json {"path":"a"}
//	⟦call⟧ read ⟦args⟧ {"path":"a"}
//	read(path="a")
//
// Evidence says whether it is a call.
type Clue struct {
	Start    int  // where it begins: at the start of its line, if nothing but debris is in front
	From, To int  // the name
	Words    int  // strange words between its parts
	Signs    int  // strange signs there
	Lost     bool // there is no name: only what a header left, as in commentary json{"path":"a"}
}

// Text is a text that may hold clues.
type NameText struct {
	Names   *Names
	Grammar *harmony.Grammar
	V       string
	Last    rune // what stands in front of V
	Floor   int  // no clue reaches back over this offset in V
}

const (
	maxName  = 64 // bytes of a name that text is held back for
	maxLead  = 24 // bytes of debris in front of a name
	maxWord  = 12 // bytes of a strange word
	maxSigns = 4  // strange signs in debris
)

// Before looks for a clue that ends at V[j:], where its arguments begin. With open the
// word that ends there may still go on.
func (t *NameText) Before(j int, open bool) (c Clue, ok bool) {
	if c, ok = t.named(j, open); ok {
		return c, true
	}
	from := t.left(j, open)
	return Clue{Start: from, From: from, To: from, Lost: true}, from < j
}

// left is where a line begins in which nothing stands in front of V[j:] but what a header left that lost the
// name; or j.
func (t *NameText) left(j int, open bool) int {
	least := max(0, j-maxLead-maxWord)
	from := least + strings.LastIndexByte(t.V[least:j], '\n') + 1
	if from == j || from < t.Floor || t.before(from) != '\n' {
		return j
	}
	channels := false
	for i := from; i < j; {
		word, _, _ := strings.Cut(t.V[i:j], " ")
		channel, is := t.Grammar.Words.Leftover(word)
		channels = channels || channel
		if is == scan.No || is == scan.Wait && !(open && i+len(word) == j) {
			return j
		}
		i = scan.SkipBytes(t.V[:j], i+len(word), " ")
	}
	if !channels && t.V[j-1] == ' ' { // a type alone is glued to what follows
		return j
	}
	return from
}

// named looks for a clue with a name in it.
func (t *NameText) named(j int, open bool) (c Clue, ok bool) { return t.namedBefore(j, j, open) }

// namedBefore looks for a name that ends at V[:i], or in front of words and signs there.
func (t *NameText) namedBefore(i, j int, open bool) (c Clue, ok bool) {
	c.Start = j
	floor := t.Floor
	for j-i <= harmony.MaxGlue {
		end := i
		for end > floor && (t.V[end-1] == ' ' || t.V[end-1] == '\t') {
			end--
		}
		if end > floor && t.V[end-1] == '\n' && !strings.Contains(t.V[end:j], "\n") {
			i = end - 1
			continue
		}
		from := t.wordStart(end)
		from += strings.LastIndex(t.V[from:end], "."+harmony.Namespace) + 1
		word := t.V[from:end]
		glued := t.before(from) == '.' && strings.HasPrefix(word, harmony.Namespace)
		switch {
		case end <= floor, end-from > maxName:
			return c, false
		case word == "":
			n, fine := Debris(t.V[:end])
			if c.Signs++; !fine || c.Signs > maxSigns {
				return c, false
			}
			i = end - n
			continue
		case t.Names.Named(word) && (glued || !t.nameGoesOn(from)):
			if open && end == j { // it may go on as another word
				if front, is := t.namedBefore(from, j, open); is {
					return front, true
				}
			}
			if c.From, c.To = from, end; glued {
				c.Signs++
			}
			c.Start = t.leadOf(from, 0, &c)
			return c, true
		case t.Grammar.Knows(word), open && end == j && len(word) <= maxWord:
		default:
			if c.Words++; c.Words > 1 || len(word) > maxWord {
				return c, false
			}
		}
		i = from
	}
	return c, false
}

// wordStart is where the word that ends at V[:end] begins.
func (t *NameText) wordStart(end int) int {
	from, floor := end, t.Floor
	for from > floor && end-from <= maxName {
		n := 1
		if b := t.V[from-1]; b >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeLastRuneInString(t.V[floor:from]); !unicode.IsLetter(r) {
				break
			}
		} else if !scan.IsName(b) {
			break
		}
		from -= n
	}
	return from
}

// nameGoesOn says that in front of V[from:] stands what belongs to the same word.
func (t *NameText) nameGoesOn(from int) bool {
	if b := t.before(from); b < utf8.RuneSelf {
		return scan.IsName(b)
	}
	if from == 0 {
		return unicode.IsLetter(t.Last)
	}
	r, _ := utf8.DecodeLastRuneInString(t.V[:from])
	return unicode.IsLetter(r)
}

// itemSigns begin an item of a list, a quotation, a heading or a row of a table.
const itemSigns = "-*+>|•–#0123456789"

// leadOf is where the debris in front of the name at V[from:] begins, if nothing else stands
// in its line. So many signs of it were seen before.
func (t *NameText) leadOf(from, signs int, c *Clue) int {
	words, floor := 0, t.Floor
	for i := from; from-i <= maxLead; {
		switch {
		case t.before(i) == '\n':
			if signs+words == 0 || i < from && t.V[i] == ' ' {
				return from
			}
			c.Signs += signs
			return i
		case i <= floor:
			return from
		case t.V[i-1] == ' ':
			i--
		case scan.IsWord(t.V[i-1]) && t.V[i-1] < utf8.RuneSelf:
			end := i
			i = t.wordStart(end)
			if words++; words > 1 || !t.leadWord(t.V[i:end], end == from) {
				return from
			}
		default:
			n, ok := Debris(t.V[:i])
			if signs++; !ok || signs > maxSigns || strings.Contains(itemSigns, t.V[i-n:i]) {
				return from
			}
			i -= n
		}
	}
	return from
}

// leadWord says that w is a word in front of a call, or with open the beginning of one.
func (t *NameText) leadWord(w string, open bool) bool {
	words := &t.Grammar.Words
	if scan.AmongFold(w, words.Call, words.Channels) {
		return true
	}
	return open && slices.ContainsFunc(words.Call,
		func(word string) bool { return scan.StartsFold(word, w, true) == scan.Yes })
}
