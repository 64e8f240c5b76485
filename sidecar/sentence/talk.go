package sentence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Talk are words by which a sentence beside a call speaks about it, and does not make it. They
// stand as they are found in a text of which Plain has made words.
type Talk struct {
	Shown    []string // it is shown, or the user is asked, whatever else the sentence says
	Denied   []string // it is not made, unless the sentence goes on to say that it is
	Reported []string // something is shown, if a colon ends the line; or maybe, if nothing does
	Intended []string // it is made; ^ is the beginning of a part between commas
}

// Lead is what a text in front of a call does.
type Lead uint8

// The leads.
const (
	Apart     Lead = iota // it says that a call is made, or is at its end
	Announces             // it ends with a colon, or with half a sentence that reports something
	Speaks                // it speaks about the call: its last sentence does, or asks whether to make it, or the last line that ends with a colon does
)

// Lead says what a text in front of a call does.
func (k *Talk) Lead(p *Front) Lead {
	text := strings.TrimRightFunc(strings.TrimRightFunc(p.String(), isGap), isCloser)
	if text == "" {
		return Apart
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	said := k.judge(lastSentence(text))
	switch {
	case said == speaks, said == denies && !isLetter(end): // half a sentence may go on otherwise
		return Speaks
	case said == makes, said == denies:
		return Apart
	case strings.ContainsRune("?？؟", end):
		return Speaks
	}
	line := ""
	for one := range strings.Lines(text) {
		if one = strings.TrimRightFunc(one, isGap); strings.HasSuffix(one, ":") || strings.HasSuffix(one, "：") {
			line = one
		}
	}
	all := p.String()
	last, _ := utf8.DecodeLastRuneInString(all)
	switch {
	case k.judge(lastSentence(line)) >= reports:
		return Speaks
	case isGap(last) && (p.Announces() || said == reports && p.breaksOff()): // glued text is a thought that lost its header
		return Announces
	}
	return Apart
}

func lastSentence(text string) string {
	return text[strings.LastIndexFunc(strings.TrimRightFunc(text, isEnd), ends)+1:]
}

// Tells says that a text behind a call speaks about it: its first sentence does.
func (k *Talk) Tells(text string) bool { return k.judge(text) >= reports }

// What a sentence says of a call.
type said uint8

const (
	nothing said = iota
	makes        // it is made
	reports      // something is shown
	denies       // it is not made
	speaks       // it is shown
)

func (k *Talk) judge(sentence string) said {
	text := Plain(sentence)
	if lastOf(text, k.Shown) >= 0 {
		return speaks
	}
	parts := strings.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(",;，、；،–—", r) })
	for _, part := range slices.Backward(parts) {
		part = "^" + Plain(part)
		switch denied, intended := lastOf(part, k.Denied), lastOf(part, k.Intended); {
		case denied >= 0 && denied >= intended:
			return denies
		case intended >= 0:
			return makes
		}
	}
	if lastOf(text, k.Reported) >= 0 {
		return reports
	}
	return nothing
}

func isGap(r rune) bool    { return unicode.IsSpace(r) || r == '\ufeff' }
func isCloser(r rune) bool { return strings.ContainsRune(afterEnd, r) }
func ends(r rune) bool     { return r == '\n' || strings.ContainsRune(".!?。！？؟", r) }
func isEnd(r rune) bool    { return ends(r) || isGap(r) || strings.ContainsRune(":：", r) }

// lastOf is where the last one of words begins in a text, or -1.
func lastOf(text string, words []string) int {
	last := -1
	for _, w := range words {
		last = max(last, strings.LastIndex(text, w))
	}
	return last
}

// Plain is a text in small letters, where one blank stands for all that is neither letter nor
// digit nor apostrophe; one is at each end, too.
func Plain(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	blank := true
	for _, r := range s {
		switch {
		case r == '’':
			r = '\''
			fallthrough
		case r == '\'', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
			blank = false
		case !blank:
			b.WriteByte(' ')
			blank = true
		}
	}
	if !blank {
		b.WriteByte(' ')
	}
	return b.String()
}
