package sentence_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
)

func TestEnds(t *testing.T) {
	for text, want := range map[string]sentence.Ending{
		"": sentence.Ended, "So.": sentence.Ended, "So. ": sentence.Ended, "好。": sentence.Ended, "So:\n": sentence.Ended, "<b>So</b> ": sentence.Ended, "so +#+#+#+#": sentence.Ended,
		"so ": sentence.InSentence, "So: ": sentence.InSentence, "é": sentence.InSentence,
		"so,\n": sentence.LineOpen, "so\n\n": sentence.PartOpen,
		"- ": sentence.InItem, "1. ": sentence.InItem, "So:\n\n    ": sentence.InItem, "> ": sentence.InItem,
	} {
		var f sentence.Front
		f.Add(text)
		if got := f.Ends(); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestGoesOn(t *testing.T) {
	for text, want := range map[string]sentence.Sequel{
		"\n\nAnd": sentence.NewPart, "\n\nand": sentence.NextPart, "\nSo": sentence.NextLine, " So": sentence.SameLine, "So": sentence.SameLine,
		" so": sentence.SameSentence, ".": sentence.SameSentence, "\n.": sentence.SameSentence, "}} so": sentence.SameSentence, "</s> So": sentence.SameLine, "+#+#+# So": sentence.SameLine,
	} {
		line, j, is := sentence.Behind(text, 0, true)
		if is != scan.No {
			t.Errorf("%q: nothing follows", text)
			continue
		}
		if got, _ := sentence.Goes(text, line, j, true); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", " \n", "}]", "</tool_call>\n", "+#+#+#+#"} {
		if _, _, is := sentence.Behind(text, 0, true); is != scan.Yes {
			t.Errorf("%q: something follows", text)
		}
		if _, _, is := sentence.Behind(text, 0, false); is != scan.Wait {
			t.Errorf("%q: does not wait", text)
		}
	}
}

func TestAnnounces(t *testing.T) {
	for text, want := range map[string]bool{"So:": true, "So：\n\n": true, "So.": false, "": false} {
		var f sentence.Front
		f.Add(text)
		if f.Announces() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
