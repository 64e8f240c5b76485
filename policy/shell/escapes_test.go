package shell

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What bash reads as a number in a way of its own is not said to be known.
func TestNumbersOfPrintf(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // empty: not known
	}{
		{[]string{"%d", "12"}, "12"}, {[]string{"%d", "-3"}, "-3"}, {[]string{"%s%d", "a", "1"}, "a1"}, {[]string{"%d%%"}, "0%"},
		{[]string{"%d", " 1"}, ""}, {[]string{"%d", "0x1"}, ""}, {[]string{"%o", "010"}, ""}, {[]string{"%d", "'a"}, ""}, {[]string{"%s%x", "1", "a"}, ""},
	} {
		if got, ok := outputText("printf", c.args, &stream{}); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q: %q %v, want %q", c.args, got, ok, c.want)
		}
	}
}

// Escapes are taken out as bash does it. Where the fold says that it knows the output,
// bash prints the same.
func TestFoldPrintsAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash to compare with")
	}
	part := rapid.SampledFrom([]string{`\`, `\\`, `\n`, `\x41`, `\x4`, `\xg`, `\101`, `\0101`, `\08`, `\1`,
		`\'`, `\"`, `\?`, `\c`, `\e`, `\u41`, `\U0001f600`, `\q`, "%s", "%b", "%%", "%d", "a", "1", " ", "'",
		`"`, "%5s"})
	rapid.Check(t, func(t *rapid.T) {
		args := []string{rapid.SampledFrom([]string{"echo", "printf"}).Draw(t, "name")}
		if args[0] == "echo" {
			args = append(args, rapid.SampledFrom([]string{"-e", "-n", "-ne", "-E", "x"}).Draw(t, "option"))
		}
		for range rapid.IntRange(1, 3).Draw(t, "words") {
			args = append(args, strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "word"), ""))
		}
		text, ok := outputText(args[0], args[1:], &stream{})
		if !ok {
			return
		}
		out, err := exec.Command(bash, append([]string{"-c", `"$@"`, "bash"}, args...)...).Output()
		if err != nil {
			t.Skip("bash complains")
		}
		if string(out) != text {
			t.Fatalf("%q prints %q, and not %q", args, out, text)
		}
	})
}
