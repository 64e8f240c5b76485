package shell

import (
	"encoding/base64"
	"strings"
	"testing"
)

// However a command is wrapped, what it deletes stays in the facts.
func TestWrapped(t *testing.T) {
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	wrappings := map[string]func(string) string{
		"sh -c":         func(s string) string { return "sh -c " + q(s) },
		"bash -lc":      func(s string) string { return "bash -lc " + q(s) },
		"eval":          func(s string) string { return "eval " + q(s) },
		"( )":           func(s string) string { return "( " + s + " )" },
		"{ }":           func(s string) string { return "{ " + s + "\n}" },
		"$( )":          func(s string) string { return "echo $( " + s + " )" },
		"<( )":          func(s string) string { return "cat <(" + s + ")" },
		"true &&":       func(s string) string { return "true && " + s },
		"false ||":      func(s string) string { return "false || { " + s + "\n}" },
		"&":             func(s string) string { return "{ " + s + "\n} & wait" },
		"if":            func(s string) string { return "if true; then " + s + "\nfi" },
		"while":         func(s string) string { return "while true; do " + s + "\ndone" },
		"for":           func(s string) string { return "for i in a b; do " + s + "\ndone" },
		"case":          func(s string) string { return "case x in *) " + s + "\nesac" },
		"function":      func(s string) string { return "f() { " + s + "\n}; f" },
		"trap":          func(s string) string { return "trap " + q(s) + " EXIT" },
		"pipe to sh":    func(s string) string { return "echo " + q(s) + " | sh" },
		"here-string":   func(s string) string { return "bash <<< " + q(s) },
		"here-document": func(s string) string { return "bash <<'END'\n" + s + "\nEND" },
		"source":        func(s string) string { return ". /dev/stdin <<< " + q(s) },
		"variable":      func(s string) string { return "x=" + q(s) + `; eval "$x"` },
		"file":          func(s string) string { return "echo " + q(s) + " > f; sh f" },
		"base64": func(s string) string {
			return "echo " + base64.StdEncoding.EncodeToString([]byte(s)) + " | base64 -d | sh"
		},
		"xargs sh":   func(s string) string { return "echo | xargs -I{} sh -c " + q(s) },
		"env":        func(s string) string { return "env A=1 sh -c " + q(s) },
		"timeout":    func(s string) string { return "timeout 5 sh -c " + q(s) },
		"sudo":       func(s string) string { return "sudo -u root bash -c " + q(s) },
		"nohup":      func(s string) string { return "nohup sh -c " + q(s) },
		"find -exec": func(s string) string { return "find . -exec sh -c " + q(s) + ` \;` },
		"exec":       func(s string) string { return "exec sh -c " + q(s) },
		"command":    func(s string) string { return "command eval " + q(s) },
		"pipeline":   func(s string) string { return "ls | { " + s + "\n}" },
		"time":       func(s string) string { return "time " + s },
		"not":        func(s string) string { return "! " + s },
		"coproc":     func(s string) string { return "coproc { " + s + "\n}" },
	}
	for _, text := range []string{
		"rm -rf /", `r''m -fr "/"`, "a=rm; $a -rf /", "cd / && rm -rf .", "find / -delete", "rm -rf //",
		"rm -rf /proj/..", "echo / | xargs rm -rf", `rm -rf "$X/"`, "rm --recursive --force -- /",
		"/bin/rm -rf /",
	} {
		if !deletesRoot(Analyze(text, world)) {
			t.Errorf("%s: no delete of /", text)
			continue
		}
		for one, wrap := range wrappings {
			if !deletesRoot(Analyze(wrap(text), world)) {
				t.Errorf("%s: %q: no delete of /", one, wrap(text))
			}
			for two, again := range wrappings {
				if s := Analyze(again(wrap(text)), world); !deletesRoot(s) && s.Parsed {
					t.Errorf("%s in %s: %q: no delete of /", one, two, again(wrap(text)))
				}
			}
		}
	}
}
