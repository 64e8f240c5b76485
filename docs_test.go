package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever watches the log finds every event in the table of docs/operating.md.
func TestEventsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Log\n")
	table, _, _ = strings.Cut(table, "\n## ")
	event := regexp.MustCompile(`"event", "([a-z_]+)"`)
	found := map[string]bool{}
	for _, r := range list(t) {
		for _, name := range r.GoFiles {
			text, err := os.ReadFile(filepath.Join(r.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range event.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
		}
	}
	if len(found) < 50 {
		t.Errorf("only %d events were found: are they written another way now?", len(found))
	}
	for name := range found {
		want := "`" + name + "`"
		if strings.HasSuffix(name, "_") { // the rest is put together
			want = "`" + name
		}
		if !strings.Contains(table, want) {
			t.Errorf("the log of docs/operating.md does not have %s", name)
		}
	}
}
