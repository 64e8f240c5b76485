package program

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

var families = []family{files, texts, viewers, archives, networks, vcs, packages, languages, builds, systems, wrappers, containers, clouds, builtins}

// TestRows looks for slips in the table: two rows for a name, unknown kinds, an option
// listed twice in a row, tags without a sentence.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range families {
		for names, r := range f {
			for _, name := range strings.Fields(names) {
				if seen[name] {
					t.Errorf("%s has two rows", name)
				}
				seen[name] = true
			}
			checkRow(t, names, r)
		}
	}
}

func checkRow(t *testing.T, at string, r row) {
	t.Helper()
	checkTags(t, at, append(strings.Fields(r.tags), strings.Fields(r.bare)...))
	repeated := 0
	for _, field := range strings.Fields(r.operands) {
		field, star := strings.CutSuffix(field, "*")
		name, tags, _ := strings.Cut(field, ":")
		if _, ok := kinds[name]; !ok {
			t.Errorf("%s: operands: no kind %q", at, name)
		}
		checkTags(t, at+": operands", marks(tags))
		if star {
			repeated++
		}
	}
	if repeated > 1 {
		t.Errorf("%s: operands repeat twice", at)
	}
	spelled := map[string]bool{}
	for _, field := range strings.Fields(r.opts) {
		for _, name := range checkOption(t, at, field) {
			if spelled[name] {
				t.Errorf("%s: option %s is listed twice", at, name)
			}
			spelled[name] = true
		}
	}
	names := map[string]bool{}
	for _, s := range r.subs {
		for _, name := range strings.FieldsFunc(s.names, func(c rune) bool { return c == ' ' || c == '|' }) {
			if names[name] {
				t.Errorf("%s: subcommand %s is listed twice", at, name)
			}
			names[name] = true
		}
		checkRow(t, at+" "+s.names, s.row)
	}
}

// checkOption looks at one field, and gives its spellings.
func checkOption(t *testing.T, at, field string) []string {
	t.Helper()
	if letters, ok := strings.CutPrefix(field, "-["); ok {
		letters, tags, ended := strings.Cut(letters, "]")
		if !ended || tags != "" && tags[0] != ':' {
			t.Errorf("%s: %s has no end", at, field)
		}
		checkTags(t, at+": "+field, marks(strings.TrimPrefix(tags, ":")))
		var names []string
		for _, c := range letters {
			names = append(names, "-"+string(c))
		}
		return names
	}
	head, tags, _ := strings.Cut(field, ":")
	checkTags(t, at+": "+field, marks(tags))
	head = strings.TrimSuffix(head, "!")
	names := head
	if i := 1 + strings.IndexAny(head[1:], "=?+"); i > 0 {
		if _, ok := kinds[head[i+1:]]; !ok {
			t.Errorf("%s: %s: no kind %q", at, field, head[i+1:])
		}
		names = head[:i]
	}
	for _, name := range strings.Split(names, "|") {
		if !strings.HasPrefix(name, "-") && name != "+" {
			t.Errorf("%s: %s is no option", at, name)
		}
	}
	return strings.Split(names, "|")
}

func checkTags(t *testing.T, at string, list []string) {
	t.Helper()
	for _, tag := range list {
		if name := strings.TrimPrefix(tag, "!"); tagDocs[name] == "" && isTag(tag) {
			t.Errorf("%s: tag %s is not documented", at, name)
		}
	}
}

func TestNamesAndTags(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(names) < 200 {
		t.Errorf("%d names", len(names))
	}
	for _, name := range names {
		if !Of(name, nil).Known {
			t.Errorf("%s is not known", name)
		}
	}
	if !maps.Equal(Tags(), tagDocs) {
		t.Error("tags differ")
	}
}
