package ruleset

import (
	"slices"
	"strings"
	"testing"
)

func TestFolders(t *testing.T) {
	for _, row := range []struct{ sentence, behind, want string }{
		{"in {workspace} and <{folder}>", "/w and </f>", "/w /f"},
		{"in {workspace} and <{folder}>", "/w and </f", ""},
		{"dir: {workspace}", "/home/sam/code\r\nmore", "/home/sam/code"},
		{"dir: {workspace}", "  \nmore", ""},
		{"at {folder};{workspace}!", "/f;/w!", "/w /f"},
		{"at {folder};{workspace}!", "/f\n;/w!", ""},
	} {
		s, err := ParseSentence(row.sentence)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := s.Folders(row.behind)
		if !slices.Equal(got, strings.Fields(row.want)) || ok != (row.want != "") {
			t.Errorf("%q, %q: %v %v", row.sentence, row.behind, got, ok)
		}
	}
}

func TestNoSentence(t *testing.T) {
	for _, text := range []string{"", "in /w", "in {workspace} {workspace}", "in {workspace} {x}",
		"{workspace} is it", "\nin {workspace}", "in {folder}{workspace}",
		strings.Repeat("x", 1025) + "{workspace}"} {
		if s, err := ParseSentence(text); err == nil {
			t.Errorf("%.40q: %+v", text, s)
		}
	}
}

// What was read stands in the text, and nothing in it is a line of its own.
func FuzzFolders(f *testing.F) {
	f.Add("in {workspace} and <{folder}>", "/w and </f>")
	f.Add("dir: {workspace}", "/w\n")
	f.Fuzz(func(t *testing.T, sentence, behind string) {
		s, err := ParseSentence(sentence)
		if err != nil {
			return
		}
		got, ok := s.Folders(behind)
		if ok && len(got) != len(s.stops) {
			t.Errorf("%d folders of %d", len(got), len(s.stops))
		}
		for _, folder := range got {
			if folder == "" || strings.Contains(folder, "\n") || !strings.Contains(behind, folder) {
				t.Errorf("%q of %q", folder, behind)
			}
		}
	})
}
