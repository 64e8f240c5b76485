package provider

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// made matches a placeholder for n bytes of a kind of text.
var made = regexp.MustCompile(`@(TEXT|NUMBERS|COMMENTS|ADDED) (\d+)@`)

// expand replaces the placeholders in all texts of a document.
func expand(doc any, home, workspace string) any {
	switch v := doc.(type) {
	case string:
		v = strings.NewReplacer("@HOME@", home, "@WS@", workspace).Replace(v)
		return made.ReplaceAllStringFunc(v, func(m string) string {
			parts := made.FindStringSubmatch(m)
			n, err := strconv.Atoi(parts[2])
			if err != nil {
				return m // a number that is too large stays as it is
			}
			return lines(parts[1], n)
		})
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = expand(v[i], home, workspace)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = expand(v[k], home, workspace)
		}
		return out
	}
	return doc
}

// lines returns whole lines of a kind, of n bytes or a little more.
func lines(kind string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		switch kind {
		case "NUMBERS":
			fmt.Fprintf(&b, "%d,\n", i*7919%10007)
		case "COMMENTS":
			fmt.Fprintf(&b, "# %d: the loader keeps what it has read.\n", i)
		case "ADDED":
			fmt.Fprintf(&b, "+%d, one of the words that were sold on this day\n", i)
		default:
			fmt.Fprintf(&b, "%d,the quick brown fox \"Ada\" has read page %d; 3 < 4 & it's true.\n", i, i%97)
		}
	}
	return b.String()
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"},
		args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v %s", strings.Join(args, " "), err, out)
	}
}
