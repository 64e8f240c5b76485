package sentence_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
)

func talk() *sentence.Talk {
	return sentence.New(sentence.Words{
		Shown: []string{"example", "例如"}, Denied: []string{" not ", "n't ", " would "}, Reported: []string{" log "}, Intended: []string{"let me", " i will ", "^ *ing ", " *ing it ", "^ sure $", "^ one moment $"}, Wrappers: []string{"call"},
	})
}

func TestTold(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "I look:\n\n": false, "Let me see: ": false,
		"For EXAMPLE:\n": true, "例如：\n\n": true, "For example, let me see:": true,
		"I did not run it:": true, "I did not run ": false, "I don’t run it:": true, "I will not run it:": true, "It is not there, let me see:": false, "It is not there. Let me see:": false,
		"I am not running it:": true, "It is not there, running it:": false, "No, I did not, running:": false, "I will not, let me see:": false, "I run it, not you:": true,
		"It is not there. The folder:": false, "The log:": true, "The log.": false, "The log: let me see it:": false, "The log:\n\nThought: x\n": true, "A log:\nThat was all. Let me see.": false,
		"Shall I run it?\n\n": true, "Shall I run it?**\n": true, "What is there? Let me see.": false, "knotty:": false,
	} {
		var p sentence.Front
		p.Add(text)
		if got := talk().Lead(&p); (got == sentence.Speaks) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What a text that does not speak about a call says of it.
func TestLead(t *testing.T) {
	for text, want := range map[string]sentence.Lead{
		"": sentence.Apart, "Sure.\n": sentence.Apart, "One moment.\n": sentence.Apart, "So\n": sentence.Silent, "so ": sentence.Apart, "So:\n": sentence.Silent, "Surely.\n": sentence.Silent, "The folder below\n": sentence.Silent,
		"Let me see:\n": sentence.Apart, "Running it now.\n": sentence.Apart, "It is there; checking it:\n": sentence.Apart, "I will open src/a.b.go.\n": sentence.Apart, "Let me see the log\n": sentence.Apart,
		"It has this shape:\n": sentence.Silent, "He replied with\n\n": sentence.Silent, "The folder is empty.\n": sentence.Silent, "Let me see. It is empty.\n": sentence.Silent,
		"We need it": sentence.Apart, "We need it.": sentence.Apart, "DEBUG text=": sentence.Silent, "It says: ": sentence.Silent, "The log: ": sentence.Speaks,
		"I would be running it.\n": sentence.Speaks, "[CALL] ": sentence.Apart, "<call id=\"1\">": sentence.Apart, "[TAG] ": sentence.Silent, "Let me see.\n[CALL] ": sentence.Apart, "The folder is here [CALL] ": sentence.Silent, "Sure.\n```\nx y z\n```\n": sentence.Apart, "Let me see.\n\nUser: do it\n\nRunning it.\n": sentence.Speaks,
	} {
		var p sentence.Front
		p.Add(text)
		if got := talk().Lead(&p); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBehind(t *testing.T) {
	for text, want := range map[string]sentence.Lead{
		"This is an example.": sentence.Speaks, "It was not run.": sentence.Speaks, "From the log file.": sentence.Speaks, "Let me wait.": sentence.Apart, "Done.": sentence.Silent,
	} {
		if got := talk().Behind(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for text, want := range map[string]string{
		"One. Two.": "One.", "One\nTwo": "One", "a.b c <x": "a.b c ", "好。不": "好。", "One": "One", "One {": "One ",
	} {
		if got, is := sentence.First(text, true); got != want || is != scan.Yes {
			t.Errorf("%q: %q, %v", text, got, is)
		}
	}
	if _, is := sentence.First("One", false); is != scan.Wait {
		t.Error("does not wait for the rest of a sentence")
	}
}

// Text that is cut in the middle of a character is text.
func TestLeadOfCutText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom([]byte("a.\n:é好\xff\xe2 <[]>`|")), 0, 12).Draw(t, "text"))
		var p sentence.Front
		p.Add(text)
		if lead := talk().Lead(&p); lead > sentence.Speaks {
			t.Fatalf("%q: %v", text, lead)
		}
	})
}

// Once a first sentence is known, more text does not change it; and it is always known in the end.
func TestFirstStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé。.!? \n<{]{0,200}`).Draw(t, "text")
		whole, is := sentence.First(text, true)
		if is != scan.Yes {
			t.Fatalf("%q is not known at its end", text)
		}
		for i := range text {
			if got, is := sentence.First(text[:i], false); is == scan.Yes && got != whole {
				t.Fatalf("%q after %d bytes, %q in the end", got, i, whole)
			}
		}
	})
}

// Words may stand in front of those that begin a part, and a verb that stands last is denied in
// front of it.
func TestOrderOfWords(t *testing.T) {
	talk := sentence.New(sentence.Words{Denied: []string{" nu voi ", " नहीं ", " not ", "q"}, Intended: []string{"^ voi ", "^ try $", "^ *e ich ", " चला रहा हूँ "}, Openers: []string{"nu", "next", "also", "trước hết"}})
	for text, want := range map[string]sentence.Lead{
		"Nu voi rula:\n": sentence.Speaks, "Voi rula:\n": sentence.Apart, "Next try:\n": sentence.Apart, "Also öffne ich sie:\n": sentence.Apart, "Trước hết nu voi.\n": sentence.Speaks,
		"मैं यह नहीं चला रहा हूँ:\n": sentence.Speaks, "मैं यह चला रहा हूँ:\n": sentence.Apart, "It is not known what this does, I wrote it for चला रहा हूँ:\n": sentence.Apart,
		"Next\n": sentence.Silent, "Voiq.\n": sentence.Speaks,
	} {
		var p sentence.Front
		p.Add(text)
		if got := talk.Lead(&p); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
