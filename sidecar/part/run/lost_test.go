package run

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// No patch takes away what it does not name, or one change of another.
func TestPatchLosesNothing(t *testing.T) {
	r := lay(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "bin": "a\x00b",
		"sub/c.txt": "three\n"})
	patch := func(body string) m { return m{"input": "*** Begin Patch\n" + body + "*** End Patch\n"} }
	for _, c := range []struct{ want, body string }{
		{"is there already", "*** Add File: bin\n+text\n"},
		{"is there already", "*** Update File: a.txt\n*** Move to: b.txt\n-one\n+1\n"},
		{"no such file", "*** Update File: a.txt\n-one\n+1\n*** Delete File: none.txt\n"},
		{"is a folder", "*** Update File: a.txt\n-one\n+1\n*** Delete File: sub\n"},
		{"twice", "*** Update File: a.txt\n-one\n+1\n*** Update File: ./a.txt\n one\n+2\n"},
		{"twice", "*** Update File: a.txt\n-one\n+1\n*** Update File: " + r.dir + "/a.txt\n one\n+2\n"},
		{"twice", "*** Update File: a.txt\n*** Move to: c.txt\n-one\n+1\n*** Add File: c.txt\n+2\n"},
	} {
		r.fails(c.want, "apply_patch", patch(c.body))
		r.holds("a.txt", "one\n")
		r.holds("b.txt", "two\n")
		r.holds("bin", "a\x00b")
	}
	r.gives("changed a.txt", "apply_patch", patch("*** Update File: a.txt\n*** Move to: ./a.txt\n-one\n+1\n"))
	r.holds("a.txt", "1\n")
	r.gives("added empty.py", "apply_patch", patch("*** Add File: empty.py\n"))
	r.holds("empty.py", "")
}

// A patch leaves every line that it does not name as it was, and fits wherever the lines are the same to a
// reader.
func TestPatchKeepsLines(t *testing.T) {
	const python = "class A:\n    def g(self):\n        return 1\n\nclass B:\n    def g(self):\n        return 1\n"
	for _, c := range []struct{ name, text, body, want string }{
		{"other ends of lines", "a\r\nb\r\nc\r\nd\r\n", " a\n-b\n+B\n+2\n c\n", "a\r\nB\r\n2\r\nc\r\nd\r\n"},
		{"white space at ends", "keep  \nb\nkeep\t\n", " keep\n-b\n+B\n keep\n", "keep  \nB\nkeep\t\n"},
		{"the last line has no end", "a\r\nb", " a\n-b\n+B\n", "a\r\nB"},
		{"one more behind it", "a\nb", " b\n+c\n", "a\nb\nc"},
		{"it goes", "a\nb", "-b\n", "a\n"},
		{"nothing is left", "a\n", "-a\n", ""},
		{"an empty file", "", "+a\n", "a\n"},
		{"no place: at the end", "a\nb\n", "+c\n", "a\nb\nc\n"},
		{"below a line", "a\nb\n", "@@ a\n+c\n", "a\nc\nb\n"},
		{"below a line, at the end", "a\nb\n", "@@ a\n+c\n*** End of File\n", "a\nb\nc\n"},
		{"below a line that is indented", python, "@@     def g(self):\n-        return 1\n+        return 2\n", strings.Replace(python, "1", "2", 1)},
		{"below two lines", python, "@@ class B:\n@@     def g(self):\n-        return 1\n+        return 2\n", python[:len(python)-2] + "2\n"},
	} {
		r := lay(t, map[string]string{"a.txt": c.text})
		r.gives("changed a.txt", "apply_patch",
			m{"input": "*** Begin Patch\n*** Update File: a.txt\n" + c.body + "*** End Patch\n"})
		if r.holds("a.txt", c.want); t.Failed() {
			t.Fatal(c.name)
		}
	}
}

// A patch of many hunks takes linear time, and one that looks for long ends with its call.
func TestPatchOfMuch(t *testing.T) {
	const n = 20_000
	many := change{path: "a", hunks: slices.Repeat([]hunk{{lines: []string{"-a", "+b"}}}, n)}
	var out string
	var err error
	took := testkit.ProcessorTime(func() { out, err = many.apply(t.Context(), strings.Repeat("a\n", 5*n)) })
	if err != nil || out != strings.Repeat("b\n", n)+strings.Repeat("a\n", 4*n) ||
		took > 5*time.Second {
		t.Errorf("%d hunks took %v: %v", n, took, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := many.apply(over, "a\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on when its call is over: %v", err)
	}
}

// Of a file that is too long for one answer all lines can be read, and what cannot is said.
func TestReadOfMuch(t *testing.T) {
	long := strings.Repeat("é", maxShown/2) + "END"
	r := lay(t, map[string]string{"a.txt": "one\ntwo\n", "line.json": long,
		"lines.txt": "one\n" + long + "\nthree\n"})
	r.gives("two\n", "read", m{"path": "a.txt", "offset": 2, "limit": math.MaxInt64})
	r.gives("é\n[line 1 is cut at 65536 of 65539 bytes; sed -n 1p and tail -c +65537 give the rest]", "read",
		m{"path": "line.json"})
	r.gives("one\n\n[lines 1 to 1 of 3; go on with offset 2]", "read", m{"path": "lines.txt"})
	r.gives("é\n[line 2 is cut at 65536 of 65540 bytes; sed -n 2p and tail -c +65537 give the rest]\n[lines 2 to 2 of 3; go on with offset 3]", "read", m{"path": "lines.txt", "offset": 2})
}
