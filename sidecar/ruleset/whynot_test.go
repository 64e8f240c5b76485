package ruleset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// The places are those of the file, whatever the style of the scalar.
func TestWhyNotPlaces(t *testing.T) {
	set := loaded(t)
	term, ok := set.WhyNot("fuzzy", parse.Env{Text: "a ``` b"})
	if !ok || term.Op != "and" || len(term.Of) != 2 {
		t.Fatalf("%+v, %v", term, ok)
	}
	lines := strings.Split(shipped(t)[strategiesFile], "\n")
	for i, want := range []string{"len(text) < 4000", "not (text contains \"```\")"} {
		of := term.Of[i]
		var line, col int
		if _, err := fmt.Sscanf(of.Place, strategiesFile+":%d:%d", &line, &col); err != nil {
			t.Fatal(of.Place, err)
		}
		if of.Source != want || !strings.HasPrefix(lines[line-1][col-1:], want) {
			t.Errorf("%+v stands at %q", of, lines[line-1])
		}
	}
	if term.Of[0].Value != "true" || term.Of[1].Value != "false" || term.Value != "false" {
		t.Errorf("%+v", term)
	}
	if _, ok := set.WhyNot("native", parse.Env{}); ok {
		t.Error("native has a condition")
	}
}
