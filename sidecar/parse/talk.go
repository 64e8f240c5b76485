package parse

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Words are words by which a sentence beside a call speaks about it, and does not make it. They
// stand as they are found in a text of which Plain has made words. * stands for any part of one
// word, ^ for the beginning of a part between commas, and $ for its end.
type Words struct {
	Shown    []string // it is shown, or the user is asked, whatever else the sentence says
	Denied   []string // it is not made, unless the sentence goes on to say that it is
	Reported []string // something is shown, if a colon ends the line; or maybe, if nothing does
	Intended []string // it is made
	Openers  []string // may stand in front of those of them that begin a part
	Wrappers []string // names of tags that wrap calls: they say nothing
}

// Talk reads sentences with such words.
type Talk struct {
	shown, denied, reported, intended phrases
	openers, wrappers                 []string
}

// New reads with words.
func NewSurroundings(w Words) *Talk {
	return &Talk{
		shown: phrasesOf(w.Shown), denied: phrasesOf(w.Denied), reported: phrasesOf(w.Reported),
		intended: phrasesOf(w.Intended),
		openers:  w.Openers, wrappers: w.Wrappers,
	}
}

// Lead is what a text in front of a call does.
type Lead uint8

// The leads.
const (
	Apart  Lead = iota // it says that a call is made; or there is none, or one that is no text for a user
	Silent             // it says neither
	// it speaks about the call: its last sentence does, or asks whether to make it, or the last line that
	// ends with a colon does
	Speaks
)

// Lead says what a text in front of a call does.
func (k *Talk) Lead(p *Front) Lead {
	all := k.words(p.String())
	text := strings.TrimRightFunc(strings.TrimRightFunc(all, isGap), isCloser)
	if text == "" {
		return Apart
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(all)
	glued := isLetter(last) || ends(last) // a thought that lost its header
	line := ""
	for one := range strings.Lines(text) {
		if one = strings.TrimRightFunc(one, isGap); strings.HasSuffix(one, ":") ||
			strings.HasSuffix(one, "：") {
			line = one
		}
		// the model makes up a turn
		if who, _, _ := strings.Cut(strings.ToLower(one), ":"); who == "user" || who == "human" {
			return Speaks
		}
	}
	switch said := k.judge(lastSentence(text)); {
	case said == speaks, said == denies && !isLetter(end): // half a sentence may go on otherwise
		return Speaks
	case strings.ContainsRune("?？؟", end):
		return Speaks
	case (said == makes || said == agrees) && (glued || !isLetter(end) ||
		strings.Contains(all[len(text):], "\n")): // and the sentence does not go on into the call
		return Apart
	case k.judge(lastSentence(line)) >= reports:
		return Speaks
	case glued && last != '\n', p.IsWord():
		return Apart
	}
	return Silent
}

// Makes says that a text in front of a call says that it is made, in more than a word that agrees.
func (k *Talk) Makes(p *Front) bool {
	text := strings.TrimRightFunc(k.words(p.String()), isGap)
	return k.Lead(p) == Apart && k.judge(lastSentence(text)) == makes
}

// words is a text without the tags of wrappers, in square or angle brackets, whole or begun, and
// the code block at its end: they are no words of a sentence.
func (k *Talk) words(text string) string {
	for {
		text = strings.TrimRight(text, "</")
		rest := strings.TrimRightFunc(text, isGap)
		if len(rest)-len(strings.TrimRight(rest, senseless)) >= fewSenseless {
			text = strings.TrimRight(rest, senseless)
			continue
		}
		open := strings.LastIndexAny(rest, "[<")
		switch {
		case strings.HasSuffix(rest, "```"):
			rest = strings.TrimRight(rest, "`")
			open = strings.LastIndex(rest, "```")
		case !strings.HasSuffix(rest, "]") && !strings.HasSuffix(rest, ">") || open >= 0 &&
			!k.wraps(rest[open:]):
			return text
		}
		if open < 0 {
			return text
		}
		text = strings.TrimRight(rest[:open], "`")
	}
}

// wraps says that a tag wraps calls.
func (k *Talk) wraps(tag string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(tag, "</[|]>")), " ")
	return slices.Contains(k.wrappers, name)
}

// lastSentence is what stands behind the last sign that ends a sentence. A full stop ends one
// only in front of a gap: names of files hold some.
func lastSentence(text string) string {
	from := 0
	inner := strings.TrimRightFunc(text, isEnd)
	for i, r := range inner {
		if !ends(r) {
			continue
		}
		behind := i + utf8.RuneLen(r)
		if next, _ := utf8.DecodeRuneInString(inner[behind:]); r == '\n' || r >= utf8.RuneSelf ||
			!isLetter(next) {
			from = behind
		}
	}
	return text[from:]
}

// Behind says what a text behind a call does, of which this is the first sentence: it may make
// the next one.
func (k *Talk) Behind(sentence string) Lead {
	switch said := k.judge(sentence); {
	case said >= reports:
		return Speaks
	case said >= agrees:
		return Apart
	}
	return Silent
}

// Stops says that a text shows a call, or says that none is made.
func (k *Talk) Stops(text string) bool { return k.judge(text) >= denies }

// What a sentence says of a call.
type said uint8

const (
	nothing said = iota
	agrees       // a word such as "sure": it is made, if there is one
	makes        // it is made
	reports      // something is shown
	denies       // it is not made
	speaks       // it is shown
)

// nearby is how many bytes part a word that denies from the verb behind it, where verbs stand last.
const nearby = 12

func (k *Talk) judge(sentence string) said {
	text := PlainSentence(sentence)
	if _, to := k.shown.last(text); to >= 0 {
		return speaks
	}
	parts := strings.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(",;，、；،–—", r) })
	for _, part := range slices.Backward(parts) {
		part = "^" + PlainSentence(part) + "$"
		opened := k.opened(part)
		from, to := k.intended.last(opened)
		if to < 0 {
			opened = part
			from, to = k.intended.last(opened)
		}
		_, denied := k.denied.last(part)
		denied -= len(part) - len(opened)
		switch {
		case denied >= 0 && denied >= from-nearby: // in it, behind it or right in front
			return denies
		case from == 0 && to == len(opened):
			return agrees
		case to >= 0:
			return makes
		}
	}
	if _, to := k.reported.last(text); to >= 0 {
		return reports
	}
	return nothing
}

func isGap(r rune) bool    { return unicode.IsSpace(r) || strings.ContainsRune(scan.Invisible, r) }
func isCloser(r rune) bool { return strings.ContainsRune(afterEnd, r) }
func ends(r rune) bool     { return r == '\n' || strings.ContainsRune(".!?。！？؟", r) }
func isEnd(r rune) bool    { return ends(r) || isGap(r) || strings.ContainsRune(":：", r) }

// opened is a part without the words that may stand in front.
func (k *Talk) opened(part string) string {
	for again := true; again; {
		again = false
		for _, w := range k.openers {
			if rest, ok := strings.CutPrefix(part, "^ "+w+" "); ok && rest != "$" {
				part, again = "^ "+rest, true
			}
		}
	}
	return part
}
