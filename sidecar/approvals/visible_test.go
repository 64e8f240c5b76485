package approvals

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"ls -l\npwd":                 "ls -l\npwd",
		"größe 日本 d'été":             "größe 日本 d'été",
		"a\tb\rc\x1b[8m\x00\x7f":     "a⟨U+0009⟩b⟨U+000D⟩c⟨U+001B⟩[8m⟨U+0000⟩⟨U+007F⟩",
		"rm \u202etxt.a\u2066":       "rm ⟨U+202E⟩txt.a⟨U+2066⟩",
		"l\u200bs\ufeff\u00ad":       "l⟨U+200B⟩s⟨U+FEFF⟩⟨U+00AD⟩",
		"a\u00a0b\u3000c\u2028":      "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩",
		"\u3164\u115f\u2800\ufe0f":   "⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩⟨U+FE0F⟩",
		"\U000e0041\U000e0100\u034f": "⟨U+E0041⟩⟨U+E0100⟩⟨U+034F⟩",
		"a\xffb\ufffd":               "a⟨0xFF⟩b\ufffd",
		`\u202e ⟨U+202E⟩`:            `\u202e ⟨U+27E8⟩U+202E⟨U+27E9⟩`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is shown has only characters with ink, and tells everything.
func FuzzVisible(f *testing.F) {
	f.Add("git push\u202e -f\x00⟨U+0041⟩\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if !utf8.ValidString(got) ||
			strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Fatalf("%q: %q", text, got)
		}
		if strings.ContainsFunc(text,
			func(r rune) bool {
				return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs) && r != ' ' && r != '\n'
			}) && got == text {
			t.Fatalf("%q is shown as it is", text)
		}
	})
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"cat x": "", "c\u0430t \u0430\u200b": "\u0430 U+0430",
		"é ex\u200b\u0430mple": "\u0430 U+0430, é U+00E9", "é\t\u0430 à": "é U+00E9, \u0430 U+0430, à U+00E0",
		"größe": "ö U+00F6, ß U+00DF", "\u202e\n": "",
	} {
		if got := strings.Join(Foreign(text), ", "); got != strings.ReplaceAll(want, "ÿ", "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	many := ""
	for r := '\u0430'; r < 'я'; r++ {
		many += string(r)
	}
	if got := Foreign(many); len(got) != maxForeign+1 || got[maxForeign] != "…" {
		t.Errorf("%q", got)
	}
	if got := Foreign("echo " + strings.Repeat("é à ", 3) +
		"áâãäåæçèéêëìíîïðñ ex\u0430mple"); got[0] != "\u0430 U+0430" || got[maxForeign] != "…" {
		t.Errorf("others stand before the one in a word of Latin: %q", got)
	}
}

// The parts of a text are all of it.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ls": "ls", "é": "|é", "c\u0430t \u202e größe日本\xff": "c|\u0430|t \u202e gr|öß|e|日本|\xff",
	} {
		if got := strings.Join(Parts(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
