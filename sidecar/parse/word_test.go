package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestHas(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "as JSON.": true, "用JSON回答": true, "json": true, "(json)": true,
		"package.json": false, "jsonl": false, "a_json": false, "package.json, as json": true,
		"Ein Objekt, bitte": true,
	} {
		if parse.HasWord(text, []string{"json", "objekt"}) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
	if parse.HasWord("json", nil) {
		t.Error("no words")
	}
}
