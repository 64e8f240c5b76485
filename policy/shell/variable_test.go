package shell

import (
	"slices"
	"testing"
)

// TestVariables: which variables count as set for what runs.
func TestVariables(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"PAGER=cat git log", nil},
		{"PAGER=$X git log", []string{"PAGER"}},
		{"env PAGER=cat git log", nil},
		{"env PAGER=vi git log", []string{"PAGER"}},
		{"export PYTHONPATH=src; ls", nil},
		{"export PYTHONPATH=/opt/x; ls", []string{"PYTHONPATH"}},
		{"IFS= read -r x", nil},
		{"IFS=, git log", []string{"IFS"}},
		{`export PATH="$PATH:/usr/local/go/bin"`, nil},
		{`PATH=/usr/local/bin:$PATH go test`, nil},
		{`PATH=/tmp:$PATH ls`, []string{"PATH"}},
		{`PATH=$PATH:$X ls`, []string{"PATH"}},
		{`PATH=/usr/bin ls`, []string{"PATH"}},
		{`PATH=${PATH%:*}:/usr/bin ls`, []string{"PATH"}},
		{`PATH=$PATH:/usr/../tmp ls`, []string{"PATH"}},
		{`PATH=$PATH: ls`, []string{"PATH"}},
		{"FOO=1 go test", []string{"FOO"}},
	} {
		var got []string
		for _, c := range Analyze(tt.text, world).Commands {
			got = join(got, c.Env)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}
