package ruleset

import "strings"

// wrappedTexts are texts that run what a text runs, in the same folder: whoever denies the
// one must deny the others.
func wrappedTexts(text string) []string {
	q := "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	out := []string{
		"true && " + text, "false || { " + text + "\n}", "true; " + text, "\n" + text + "\n",
		text + " && true", text + " || true", text + "; true", "echo a | { " + text + "\n}",
		"( " + text + "\n)", "{ " + text + "\n}", "if true; then " + text + "\nfi",
		"while true; do " + text + "\nbreak; done", "for i in 1; do " + text + "\ndone",
		"case a in a) " + text + "\n;; esac",
		"f() { " + text + "\n}; f", "echo \"$(" + text + "\n)\"", "x=$(" + text + "\n)",
		"cat <(" + text + "\n)", text + " &",
		"sh -c " + q, "bash -c " + q, "bash -ec " + q, "eval " + q, "env bash -c " + q,
		"timeout 5 sh -c " + q, "nice -n 5 sh -c " + q, "nohup bash -c " + q, "command eval " + q,
		"exec sh -c " + q,
		"bash <<< " + q, "echo " + q + " | sh", "printf %s " + q + " | bash",
		"find . -maxdepth 0 -exec sh -c " + q + " \\;", "trap " + q + " EXIT", "x=" + q + "; eval \"$x\"",
		"sudo sh -c " + q, "xargs -0 sh -c <<< " + q,
		"! " + text, "time " + text,
	}
	if words := strings.Fields(text); plainWords(text) {
		for i, w := range words {
			for _, other := range []string{"'" + w + "'", `"` + w + `"`, w[:1] + "''" + w[1:], `\` + w} {
				out = append(out, strings.Join(words[:i], " ")+" "+other+" "+strings.Join(words[i+1:], " "))
			}
		}
		for _, wrapper := range []string{"env ", "timeout 5 ", "nice ", "nohup ", "command ", "stdbuf -o0 ",
			"setsid ", "sudo ", "env A=1 ", "exec "} {
			out = append(out, wrapper+text)
		}
	}
	return out
}

// plainWords reports whether a text is one program with words that mean themselves.
func plainWords(text string) bool {
	return !strings.ContainsAny(text, "\"'`$\\|&;<>(){}[]*?~#=!\n")
}
