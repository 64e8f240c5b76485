package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever watches the log finds every event in the table of docs/metrics.md.
func TestEventsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/metrics.md")
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
			t.Errorf("the log of docs/metrics.md does not have %s", name)
		}
	}
}

// What a page says is somewhere else stands there: each link of one page to a heading of another, or its own.
func TestAnchorsAreThere(t *testing.T) {
	heading, link := regexp.MustCompile(`(?m)^#+ (.+)$`),
		regexp.MustCompile(`\]\(([\w./-]*\.md)?#([^)\s]+)\)`)
	anchors, links := map[string]bool{}, 0
	for name, text := range pages(t) {
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			anchors[name+"#"+anchor(m[1])] = true
		}
	}
	for name, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := name
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(name), m[1])
			}
			if links++; !anchors[to+"#"+m[2]] {
				t.Errorf("%s: there is no %s#%s", name, to, m[2])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found: are they written another way now?", links)
	}
}

// README can be read in five minutes, and what it leads to is there.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > 1000 {
		t.Errorf("README has %d words, and may have 1000", n)
	}
	links := regexp.MustCompile(`\]\(([\w./-]+)[#)]`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 20 {
		t.Errorf("only %d links were found: are they written another way now?", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(link[1]); err != nil {
			t.Error(err)
		}
	}
}

// What a page lists can be taken in item by item; what needs more words is a table, or has a heading.
func TestItemsOfListsAreShort(t *testing.T) {
	begin, items := regexp.MustCompile(`^ *([-*]|\d+\.) `), 0
	for name, text := range pages(t) {
		words, fenced := 0, false
		for i, line := range append(strings.Split(text, "\n"), "end") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			isItem := begin.MatchString(line)
			if isItem || line != "" && !strings.HasPrefix(line, " ") { // the item before has ended
				if words > 120 {
					t.Errorf("%s:%d: an item with %d words ends here", name, i, words)
				}
				words = 0
			}
			switch {
			case fenced:
			case isItem:
				items++
				words = len(strings.Fields(line))
			case words > 0:
				words += len(strings.Fields(line))
			}
		}
	}
	if items < 200 {
		t.Errorf("only %d items were found: are they written another way now?", items)
	}
}

// pages are the texts of all pages, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			pages[name] = string(text)
		}
	}
	return pages
}

// anchor is how GitHub names a heading.
func anchor(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	heading = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}
