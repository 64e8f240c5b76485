package toolbox

import (
	"math"
	"strings"
	"testing"
)

// No patch takes away what it does not name, or one change of another.
func TestPatchLosesNothing(t *testing.T) {
	r := lay(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "bin": "a\x00b"})
	patch := func(body string) m { return m{"input": "*** Begin Patch\n" + body + "*** End Patch\n"} }
	for _, c := range []struct{ want, body string }{
		{"is there already", "*** Add File: bin\n+text\n"},
		{"is there already", "*** Update File: a.txt\n*** Move to: b.txt\n-one\n+1\n"},
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
}

// Of a file that is too long for one answer all lines can be read, and what cannot is said.
func TestReadOfMuch(t *testing.T) {
	long := strings.Repeat("é", maxShown/2) + "END"
	r := lay(t, map[string]string{"a.txt": "one\ntwo\n", "line.json": long, "lines.txt": "one\n" + long + "\nthree\n"})
	r.gives("two\n", "read", m{"path": "a.txt", "offset": 2, "limit": math.MaxInt64})
	r.gives("é\n[line 1 is cut at 65536 of 65539 bytes; sed -n 1p and tail -c +65537 give the rest]", "read", m{"path": "line.json"})
	r.gives("one\n\n[lines 1 to 1 of 3; go on with offset 2]", "read", m{"path": "lines.txt"})
	r.gives("é\n[line 2 is cut at 65536 of 65540 bytes; sed -n 2p and tail -c +65537 give the rest]\n[lines 2 to 2 of 3; go on with offset 3]", "read", m{"path": "lines.txt", "offset": 2})
}
