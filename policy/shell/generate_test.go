package shell

import (
	"math/rand"
	"slices"
	"strings"
)

// generator makes texts in which the program zmark is hidden, or not.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.Intn(len(list))] }

// text is a command, sometimes with a character changed.
func (g generator) text() string {
	b := []byte(g.command(1 + g.Intn(3)))
	if g.Intn(3) > 0 {
		return string(b)
	}
	for range 1 + g.Intn(2) {
		i := g.Intn(len(b))
		other := "'\"\\$`()\n ;|<>#{}[]=!~-*&"[g.Intn(24)]
		switch g.Intn(3) {
		case 0:
			b[i] = other
		case 1:
			b = slices.Insert(b, i, other)
		default:
			if len(b) > 1 {
				b = slices.Delete(b, i, i+1)
			}
		}
	}
	return string(b)
}

// name is one way to write zmark.
func (g generator) name() string {
	return g.pick("zmark", "z''mark", `z"m"ark`, `\z\mark`, `$'\x7amark'`, "$(echo zmark)", "`echo zmark`",
		`$(printf '\172mark')`, "$(echo kramz | rev)",
		"$(echo em1hcms= | base64 -d)", "${n:-zmark}", "$(echo ZMARK | tr A-Z a-z)", "{zmark,a}",
		"$(cat <<< zmark)", `"$(echo zmark)"`)
}

// word is an argument.
func (g generator) word(depth int) string {
	inner := func() string { return g.command(depth - 1) }
	switch g.Intn(12) {
	case 0:
		return `"$(` + inner() + `)"`
	case 1:
		return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(g.command(0)) + "`"
	case 2:
		return `"${x:-$(` + inner() + `)}"`
	case 3:
		return "$((1+$(" + inner() + ")))"
	case 4:
		return "<(" + inner() + ")"
	case 5, 6:
		return g.pick("'$(zmark)'", `"${x:-'$(zmark)'}"`, `"\$(zmark)"`, "\"$\\\n(zmark)\"", "${y[$(zmark)]}",
			"${x/$(zmark)/a}", "$[ $(zmark) ]", "${x:$(zmark)}", "'a[$(zmark)]'", `"${@:-$(zmark)}"`)
	}
	return g.pick("a", "b", "1", "-n", "--", "x=1", "/", "-", "''", "$x", "{a,b}", `"a b"`)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// command is a statement that holds others, down to a depth.
func (g generator) command(depth int) string {
	if depth <= 0 {
		return g.name() + g.pick("", " a", " b c")
	}
	inner := func() string { return g.command(depth - 1) }
	switch g.Intn(16) {
	case 0:
		return g.pick("(", "{ ", "! ", "time ", "true && ", "if ") + inner() + g.pick("; }", ")", "",
			"; then :; fi")
	case 1:
		return inner() + g.pick(" | ", " && ", " || ", "; ", " |& ", " & ") + inner()
	case 2:
		return g.pick("if "+inner()+"; then "+inner()+"; else "+inner()+"; fi",
			"for i in "+g.word(depth)+" "+g.name()+"; do $i; done", "while "+inner()+"; do "+inner()+
				"; break; done",
			"case "+g.word(depth)+" in a) "+inner()+";; *) "+inner()+";; esac",
			"select q in "+g.word(depth)+"; do "+inner()+"; break; done <<< 1",
			"for ((i=0;i<1;i++)); do "+inner()+"; done")
	case 3:
		return g.pick("eval ", "sh -c ", "bash -c ", "sh <<< ", "trap ",
			". /dev/stdin <<< ") + quote(inner()) + g.pick("", " EXIT", " a b")
	case 4:
		return g.pick("\ncat <<E", "\ncat <<'E'") + g.pick("", " | sh") + "\n" + inner() + "\nE\n"
	case 5:
		return "echo " + quote(inner()) + " > t; " + g.pick("sh t", ". ./t", "sh < t", "cat t | sh",
			"x=$(<t); eval \"$x\"", "exec < t; read a; $a", "bash -c \"$(cat t)\"")
	case 6, 7:
		return "x=" + quote(inner()) + "; " + g.pick("$x", "eval $x", `sh -c "$x"`, "y=$x; $y", "y=x; ${!y}",
			"echo $x | sh", `printf -v q %s "$x"; $q`, `read -r q <<< "$x"; $q`, "declare -n q=x; $q",
			"export x; sh -c '$x'",
			`f() { $1; }; f "$x"`, `set -- $x; "$@"`, `a=($x); "${a[@]}"`, `mapfile -t q <<< "$x"; ${q[0]}`,
			"echo ${x@P}", `echo "$x" | while read -r l; do $l; done`, `echo "$x" | xargs env`, "exec $x",
			"$x &", `coproc $x`)
	case 8:
		return g.pick("command ", "env ", "env A=1 ", "time ", "exec ", "exec -a q ", "nice ", "timeout 1 ",
			"xargs ", "coproc ", "builtin command ", "command -p ") + g.command(0)
	case 9:
		return g.pick("read a <<< ", "test -n ", "[ -z ", "printf %s ", "let ", "unset ", "printf -v ",
			"test -v ", "export ", "set -- ", "declare -i q=", "local q=",
			"[[ a -eq ") + g.word(depth) + g.pick("", " ]", " ]]")
	case 10:
		return "echo a " + g.pick(">", ">>", "<", ">&", "2>", "&>", "<>", "<&", ">|", "#\\\n") + g.pick(" f",
			g.word(depth), "$(zmark)", `"\$(zmark)"`, "-zmark")
	case 11:
		return "x=true; " + g.pick("(x=zmark)", "x=zmark &", "x=zmark true", "false || x=zmark",
			"if true; then x=zmark; fi", "g() { x=zmark; }; g", "g() { local x=zmark; }; g",
			"for x in zmark; do :; done", "echo zmark | read x",
			"eval x=zmark", "sh -c 'x=zmark'", "case a in a) x=zmark; esac", "x[0]=zmark",
			"typeset -n y=x; y=zmark", "set -- zmark; x=$1", "trap 'x=zmark' DEBUG",
			"while :; do x=zmark; break; done", "mapfile -t x <<< zmark") + "; $x"
	case 12:
		return "f() { " + inner() + "; }; " + g.pick("f", "f | cat", "$(f)", "g() { f; }; g", "trap f EXIT",
			"export -f f; bash -c f", "x=f; $x", "unset f; f", "command f", "ls() { f; }; ls",
			"f < /dev/null", "f() { :; }; f")
	case 13:
		return "echo " + quote(g.command(0)) + " | " + g.pick("cat", "tac", "rev | rev", "tr a a", "head -1",
			"base64 | base64 -d", "sort", "tee t2", "cut -b1-") + " | " +
			g.pick("sh", "bash -s", "sh -", ". /dev/stdin", "xargs -I{} sh -c '{}'",
				"while read -r a b; do $a; done", "{ read l; eval \"$l\"; }", "eval \"$(cat)\"", "sh <(cat)",
				"xargs env", "cat > t3; sh t3")
	case 14:
		return "exec 3<<< " + quote(g.command(0)) + "; " + g.pick("sh <&3", "read -u 3 a; $a", "cat <&3 | sh",
			". /dev/fd/3", "mapfile -u 3 -t a; $a")
	}
	return g.name() + " " + g.word(depth)
}
