package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestEnds(t *testing.T) {
	for text, want := range map[string]parse.Ending{
		"": parse.Ended, "So.": parse.Ended, "So. ": parse.Ended, "好。": parse.Ended, "So:\n": parse.Ended,
		"<b>So</b> ": parse.Ended, "so +#+#+#+#": parse.Ended,
		"so ": parse.InSentence, "So: ": parse.InSentence, "é": parse.InSentence,
		"so,\n": parse.LineOpen, "so\n\n": parse.ParagraphOpen,
		"- ": parse.InItem, "1. ": parse.InItem, "So:\n\n    ": parse.InItem, "> ": parse.InItem,
	} {
		var f parse.Front
		f.Add(text)
		if got := f.Ends(); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestGoesOn(t *testing.T) {
	for text, want := range map[string]parse.Sequel{
		"\n\nAnd": parse.NewParagraph, "\n\nand": parse.OpenParagraph, "\nSo": parse.NextLine, " So": parse.SameLine,
		"So":  parse.SameLine,
		" so": parse.SameSentence, ".": parse.SameSentence, "\n.": parse.SameSentence,
		"}} so": parse.SameSentence, "</s> So": parse.SameLine, "+#+#+# So": parse.SameLine,
	} {
		line, j, is := parse.TextBehind(text, 0, true)
		if is != scan.No {
			t.Errorf("%q: nothing follows", text)
			continue
		}
		if got, _ := parse.SequelAt(text, line, j, true); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", " \n", "}]", "</tool_call>\n", "+#+#+#+#"} {
		if _, _, is := parse.TextBehind(text, 0, true); is != scan.Yes {
			t.Errorf("%q: something follows", text)
		}
		if _, _, is := parse.TextBehind(text, 0, false); is != scan.Wait {
			t.Errorf("%q: does not wait", text)
		}
	}
}

func TestLeads(t *testing.T) {
	for text, want := range map[string]bool{"So:": true, "So：\n\n": true, "So? ": true, "So.": false,
		"": false} {
		var f parse.Front
		f.Add(text)
		if f.EndsInLead() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
