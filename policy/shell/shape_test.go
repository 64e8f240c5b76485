package shell

import "testing"

// TestShapes: of what is not known, what does the path guard see?
func TestShapes(t *testing.T) {
	for _, tt := range []struct{ text, op, path, class string }{
		{`find . -name '*.ts' | while read -r f; do cat "$f"; done`, "read", listedName, "workspace"},
		{`for f in $(git ls-files); do head -1 "$f"; done`, "read", listedName, "workspace"},
		{`cat $(ls -t *.log | head -1)`, "read", listedName, "workspace"},
		{`git ls-files | xargs cat`, "read", listedName, "workspace"},
		{`ls -l | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`find . -printf '/etc/shadow\n' | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`find /etc | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`git ls-files | grep -o '/.*' | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`git ls-files | tail -c 12 | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`git ls-files | sed s,.,/, | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`git diff --no-index --name-only / . | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`sort list.txt | while read f; do cat "$f"; done`, "read", "", "dynamic"},
		{`sort list.txt | xargs cat`, "read", "", "dynamic"},
		{`x=$(ls; echo "$y"); cat "$x"`, "read", "", "dynamic"},
		{`for f in $(ls); do cat "$f/$X"; done`, "read", "/", "root"},
		{`for f in $(ls); do cat "$f" "$X"; done`, "read", "", "dynamic"},
		{`for f in $(ls); do cd /etc; cat "$f"; done`, "read", listedName, "outside"},
		{`for f in $(ls); do rm "$f"; done`, "delete", "", "dynamic"},
		{`for f in $(ls); do echo > "$f"; done`, "write", "", "dynamic"},
		{`ls > "out-$(date +%F).txt"`, "write", "out-*.txt", "workspace"},
		{`ls > "/tmp/log.$$"`, "write", "/tmp/log.*", "workspace"},
		{`ls > "/etc/x$RANDOM"`, "write", "/etc/x*", "system"},
		{`ls > "../$RANDOM"`, "write", "../*", "protected"},
		{`ls > "out-$(date +%D)"`, "write", "out-", "dynamic"},
		{`ls > "out-$(date "+$X")"`, "write", "out-", "dynamic"},
		{`read RANDOM < x; ls > "/tmp/$RANDOM"`, "write", "/tmp/", "dynamic"},
		{`rm -rf "/tmp/x$RANDOM"`, "delete", "/tmp/x", "dynamic"},
		{`ls > "build$#"; cat "$@"`, "write", "build0", "workspace"},
		{`ls > "${TMPDIR:-/tmp}/x"`, "write", "/tmp/x", "workspace"},
		{`TMPDIR=$X; ls > "${TMPDIR:-/tmp}/x"`, "write", "/tmp/x", "dynamic"},
	} {
		found := ""
		for _, c := range Analyze(tt.text, world).Commands {
			for _, u := range append(append(c.Reads, c.Writes...), c.Deletes...) {
				if u.Op != tt.op {
					continue
				}
				if u.Path == tt.path && u.Class == tt.class {
					found = "yes"
				} else if found == "" {
					found = u.Path + ":" + u.Class
				}
			}
		}
		if found != "yes" {
			t.Errorf("%s: %s of %s, want %s:%s", tt.text, tt.op, found, tt.path, tt.class)
		}
	}
}

// TestListedCode: a name that was listed is no name of code that may run.
func TestListedCode(t *testing.T) {
	for _, text := range []string{
		`for f in $(ls); do source "$f"; done`,
		`for f in $(ls); do python3 "$f"; done`,
		`ls | while read f; do $f; done`,
		`ls | while read f; do sh -c "$f"; done`,
		`git ls-files | xargs -I{} sh -c '{}'`,
	} {
		if s := Analyze(text, world); len(s.Dynamic) == 0 {
			t.Errorf("%s: nothing is dynamic", text)
		}
	}
}
