package parse_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func talk() *parse.Talk {
	return parse.NewSurroundings(parse.Words{
		Shown: []string{"example", "例如"}, Denied: []string{" not ", "n't ", " would "},
		Reported: []string{" log "}, Intended: []string{"let me", " i will ", "^ *ing ", " *ing it ",
			"^ sure $", "^ one moment $"}, Wrappers: []string{"call"},
	})
}

func TestTold(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "I look:\n\n": false, "Let me see: ": false,
		"For EXAMPLE:\n": true, "例如：\n\n": true, "For example, let me see:": true,
		"I did not run it:": true, "I did not run ": false, "I don’t run it:": true,
		"I will not run it:": true, "It is not there, let me see:": false,
		"It is not there. Let me see:": false,
		"I am not running it:":         true, "It is not there, running it:": false,
		"No, I did not, running:": false,
		"I will not, let me see:": false, "I run it, not you:": true,
		"It is not there. The folder:": false, "The log:": true, "The log.": false,
		"The log: let me see it:": false, "The log:\n\nThought: x\n": true,
		"A log:\nThat was all. Let me see.": false,
		"Shall I run it?\n\n":               true, "Shall I run it?**\n": true,
		"What is there? Let me see.": false,
		"knotty:":                    false,
	} {
		var p parse.Front
		p.Add(text)
		if got := talk().Lead(&p); (got == parse.Speaks) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What a text that does not speak about a call says of it.
func TestSentenceLead(t *testing.T) {
	for text, want := range map[string]parse.Lead{
		"": parse.Apart, "Sure.\n": parse.Apart, "One moment.\n": parse.Apart, "So\n": parse.Silent,
		"so ": parse.Apart, "So:\n": parse.Silent, "Surely.\n": parse.Silent,
		"The folder below\n": parse.Silent,
		"Let me see:\n":      parse.Apart, "Running it now.\n": parse.Apart,
		"It is there; checking it:\n": parse.Apart, "I will open src/a.b.go.\n": parse.Apart,
		"Let me see the log\n": parse.Apart,
		"It has this shape:\n": parse.Silent, "He replied with\n\n": parse.Silent,
		"The folder is empty.\n": parse.Silent, "Let me see. It is empty.\n": parse.Silent,
		"We need it": parse.Apart, "We need it.": parse.Apart, "DEBUG text=": parse.Silent,
		"It says: ": parse.Silent, "The log: ": parse.Speaks,
		"I would be running it.\n": parse.Speaks, "[CALL] ": parse.Apart, "<call id=\"1\">": parse.Apart,
		"[TAG] ": parse.Silent, "Let me see.\n[CALL] ": parse.Apart,
		"The folder is here [CALL] ": parse.Silent, "Sure.\n```\nx y z\n```\n": parse.Apart,
		"Let me see.\n\nUser: do it\n\nRunning it.\n": parse.Speaks,
	} {
		var p parse.Front
		p.Add(text)
		if got := talk().Lead(&p); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBehind(t *testing.T) {
	for text, want := range map[string]parse.Lead{
		"This is an example.": parse.Speaks, "It was not run.": parse.Speaks,
		"From the log file.": parse.Speaks, "Let me wait.": parse.Apart, "Done.": parse.Silent,
	} {
		if got := talk().Behind(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for text, want := range map[string]string{
		"One. Two.": "One.", "One\nTwo": "One", "a.b c <x": "a.b c ", "好。不": "好。", "One": "One",
		"One {": "One ",
	} {
		if got, is := parse.First(text, true); got != want || is != scan.Yes {
			t.Errorf("%q: %q, %v", text, got, is)
		}
	}
	if _, is := parse.First("One", false); is != scan.Wait {
		t.Error("does not wait for the rest of a sentence")
	}
}

// Text that is cut in the middle of a character is text.
func TestLeadOfCutText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom([]byte("a.\n:é好\xff\xe2 <[]>`|")), 0, 12).Draw(t,
			"text"))
		var p parse.Front
		p.Add(text)
		if lead := talk().Lead(&p); lead > parse.Speaks {
			t.Fatalf("%q: %v", text, lead)
		}
	})
}

// Once a first sentence is known, more text does not change it; and it is always known in the end.
func TestFirstStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé。.!? \n<{]{0,200}`).Draw(t, "text")
		whole, is := parse.First(text, true)
		if is != scan.Yes {
			t.Fatalf("%q is not known at its end", text)
		}
		for i := range text {
			if got, is := parse.First(text[:i], false); is == scan.Yes && got != whole {
				t.Fatalf("%q after %d bytes, %q in the end", got, i, whole)
			}
		}
	})
}

// Words may stand in front of those that begin a part, and a verb that stands last is denied in
// front of it.
func TestOrderOfWords(t *testing.T) {
	talk := parse.NewSurroundings(parse.Words{Denied: []string{" nu voi ", " नहीं ", " not ", "q"},
		Intended: []string{"^ voi ", "^ try $", "^ *e ich ", " चला रहा हूँ "}, Openers: []string{"nu", "next",
			"also", "trước hết"}})
	for text, want := range map[string]parse.Lead{
		"Nu voi rula:\n": parse.Speaks, "Voi rula:\n": parse.Apart, "Next try:\n": parse.Apart,
		"Also öffne ich sie:\n": parse.Apart, "Trước hết nu voi.\n": parse.Speaks,
		"मैं यह नहीं चला रहा हूँ:\n": parse.Speaks, "मैं यह चला रहा हूँ:\n": parse.Apart,
		"It is not known what this does, I wrote it for चला रहा हूँ:\n": parse.Apart,
		"Next\n": parse.Silent, "Voiq.\n": parse.Speaks,
	} {
		var p parse.Front
		p.Add(text)
		if got := talk.Lead(&p); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
