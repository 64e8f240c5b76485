package ruleset

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// names are ways to write the name of the marker.
var names = []func(*textMaker) string{
	func(*textMaker) string { return marker },
	func(*textMaker) string { return marker },
	func(m *textMaker) string {
		return m.pick(`z\z`, `\zz`, `z"z"`, `'z'z`, `z''z`, `"zz"`, `$'zz'`, `$'\x7az'`, `$'z\172'`, `$"zz"`,
			`z$@z`, `z${x}z`, `z$()z`, "z``z", `z"$@"z`, `z$'\u7a'`)
	},
	func(m *textMaker) string {
		return m.pick("x=zz; $x", "x=z; $x$x", "x=z; ${x}z", "x=azz; ${x#a}", "x=zzb; ${x%b}", "x=ZZ; ${x,,}",
			"x=yy; ${x//y/z}", "x=abzzc; ${x:2:2}", "x=(a zz); ${x[1]}", "declare x=zz; $x",
			"x=zz y=x; ${!y}", "printf -v x zz; $x", "read x <<< zz; $x", "read x <<E\nzz\nE\n$x",
			"set -- zz; $1", "set zz; $@", "${x:-zz}", "${x:=zz}", "${1-zz}", "for x in zz; do $x; done",
			"x=z; x+=z; $x", "export x=zz; $x", "local x; x=zz; $x", "unset x; ${x-zz}", "x=zz; \"$x\"",
			"declare -n r=x; x=zz; $r", "mapfile -t x <<< zz; $x", "IFS=,; x=zz,a; $x", "x=zz; ${x@Q}",
			"x=zz; ${x@L}")
	},
	func(m *textMaker) string {
		return m.pick("{zz,a}", "{zz,}", "z{z,}", "$(echo zz)", "`echo zz`", "$(printf z%s z)",
			"$(printf '\\172z')", "$(echo enoN | tr enoN zz)", "$(rev <<< zz)", "$(echo yy | tr y z)",
			"$(base64 -d <<< eno=)", "$(cat <<< zz)", "$(<name)", "$(head -1 name)", "$(sed s/y/z/g <<< yy)",
			"$(xxd -r -p <<< 7a7a)", "$(echo -e '\\x7a\\x7a')", "$(type -P zz)", "$(command -v zz)",
			"$(which zz)", "$(echo ${x:-zz})")
	},
	func(m *textMaker) string {
		return m.pick("command zz", "builtin command zz", "exec zz", "env zz", "env -i PATH=$PATH zz",
			"env x=1 zz", "env -S 'zz a'", "env -S'zz'", "nice zz", "nice -n 5 zz", "timeout 5 zz",
			"timeout -k 1 5 zz", "nohup zz", "stdbuf -o0 zz", "setsid zz", "xargs zz </dev/null",
			"echo a | xargs zz", "echo zz | xargs env", "echo zz | xargs -I{} {}",
			"echo zz | xargs -n1 -- env", "find . -maxdepth 0 -exec zz ';'",
			`find . -maxdepth 0 -exec zz {} \;`, "find . -maxdepth 0 -exec zz {} +",
			"find name -execdir zz \\;", "time zz", "time -p zz", "! zz", "coproc zz", "coproc N { zz; }",
			"exec -a n zz", "x=1 zz", "x=1 y=2 zz", ">o zz", "<name zz", "2>&1 zz", "zz<name", "zz>o",
			"{v}>o zz", "./zz", "../bin/zz", "~/zz", "${PWD}/zz", "sort --compress-program=zz -S1b name",
			"tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=zz name", "awk 'BEGIN{system(\"zz\")}'",
			"awk 'BEGIN{\"zz\"|getline}'", "awk 'BEGIN{print|\"zz\"}'", "sed '1e zz' name",
			"sed 's/.*/zz/e' name", "git -c alias.a='!zz' a", "git -c core.pager=zz --paginate help",
			"python3 -c 'import os;os.system(\"zz\")'", "perl -e 'system zz'", "flock name zz", "flock name -c zz", "split --filter=zz name")
	},
}

// wrapped are constructs that stand around a command.
var wrapped = []func(m *textMaker, text string) string{
	func(m *textMaker, t string) string {
		return m.pick("( "+t+" )", "("+t+")", "{ "+t+"; }", "{ "+t+"\n}", "if true; then "+t+"; fi",
			"if "+t+"; then :; fi", "while "+t+"; do break; done", "until "+t+"; do break; done",
			"for i in 1; do "+t+"; done", "for ((i=0;i<1;i++)); do "+t+"; done", "case a in a) "+t+";; esac",
			"case a in (b) ;; *) "+t+" ;; esac", "select x in a; do "+t+"; break; done <<< 1",
			"while :; do "+t+"; break; done", "if false; then :; else "+t+"; fi",
			"if false; then :; elif "+t+"; then :; fi", "[[ a ]] && "+t, "((1)) && "+t, "(( "+t+" ))",
			"(("+t+"))", "!("+t+")", "function f { "+t+"; }; f", "if ("+t+") then :; fi", "! { "+t+"; }",
			"case zz in zz) "+t+" ;& *) ;; esac")
	},
	func(m *textMaker, t string) string {
		return m.pick("true && ", "false || ", "true; ", "true | ", "true & ", "true\n", "! ", "cd . && ",
			"echo a # b\n", ":;", "ls|", "true |& ", "true && \\\n", "x=1; ", "set -e; ",
			"cd /; cd - >/dev/null; ", "# a \\\n", "time ", "true ; ; ", "[ a ] && ",
			"echo \"a\" 'b' && ") + t
	},
	func(m *textMaker, t string) string {
		return t + m.pick("; true", " && true", " || true", " | cat", " & wait", " 2>&1", " >/dev/null",
			" <<< a", "\ntrue", " # c", ";", " &", " |& cat", " <<E\nb\nE\n", " || :", "\n\n", " ; exit")
	},
	func(m *textMaker, t string) string {
		return m.pick("f() { "+t+"; }; f", "function f { "+t+"; }; f", "f() ( "+t+" ); f",
			"f() { "+t+"\n}\nf a", "f() { g; }; g() { "+t+"; }; f", "f() if true; then "+t+"; fi; f",
			"f() { $1; }; f zz", "f() { \"$@\"; }; f zz a", "echo() { "+t+"; }; echo",
			"cd() { "+t+"; }; cd .", "ls() { "+t+"; }; export -f ls; bash -c ls",
			"unset -f f; f() { "+t+"; }; true && f")
	},
}

// evaluated are ways to hand a text to something that runs it.
var evaluated = []func(m *textMaker, text string) string{
	func(m *textMaker, t string) string {
		return m.pick("bash -c ", "sh -c ", "eval ", "bash -ec ", "env bash -c ", "/bin/bash -c ",
			"bash --norc -c ", "bash +x -c ", "bash -o errexit -c ", "command eval ", "builtin eval ",
			"eval -- ", "timeout 5 sh -c ", "exec bash -c ", "nice bash -c ", "dash -c ", "busybox sh -c ",
			"xargs -0 bash -c <<< ", "find . -maxdepth 0 -exec sh -c ", "trap -- ") + m.quoted(t) + m.pick("",
			" a b", " ';'", " EXIT", "")
	},
	func(m *textMaker, t string) string {
		return "trap " + m.quoted(t) + m.pick(" EXIT", " 0", " DEBUG; true", " ERR; false",
			" RETURN; . /dev/null")
	},
	func(m *textMaker, t string) string {
		return m.pick("bash", "sh", "bash -s", "bash /dev/stdin", ". /dev/stdin", "source /dev/stdin",
			"bash -", "xargs -I{} sh -c {}", "cat | sh", "tee o | bash",
			"while read -r l; do eval \"$l\"; done", "{ bash; }", "(sh)", "env bash", "xargs sh -c") +
			" <<< " + m.quoted(t)
	},
	func(m *textMaker, t string) string {
		return m.pick("bash", "sh", ". /dev/stdin", "cat | bash", "{ sh; }") + " " + m.pick("<<E\n",
			"<<'E'\n", "<<-E\n\t", "<<\\E\n", "<<\"E\"\n") + t + "\nE\n"
	},
	func(m *textMaker, t string) string {
		return m.pick("echo ", "printf %s ", "printf '%b' ", "echo -e ", "cat <<< ", "echo -n ",
			"dash -c 'echo \"$1\"' x ", "sh -c 'printf %b \"$1\"' x ", "sh -c 'echo \"$0\"' ") + m.quoted(t) +
			" | " + m.pick("sh", "bash", "xargs -0 sh -c", "cat | sh", "tee o | sh", "bash -s",
			"bash /dev/fd/0", "(cat; echo) | sh", "sed '' | sh", "head -9 | sh", "env sh",
			"{ read -r x; eval \"$x\"; }", "while read -r x; do $x; done", "xargs -I% sh -c %",
			"xargs -d '\\n' -n1 sh -c")
	},
	func(m *textMaker, t string) string {
		return m.pick("bash <(echo ", ". <(echo ", "source <(printf %s ", "bash < <(echo ",
			"sh <(cat <<< ") + m.quoted(t) + ")"
	},
	func(m *textMaker, t string) string {
		b := base64.StdEncoding.EncodeToString([]byte(t))
		return m.pick("echo "+b+" | base64 -d | sh", "eval \"$(base64 -d <<< "+b+")\"",
			"bash <(base64 --decode <<< "+b+")", "eval $(echo "+b+" | base64 -d)",
			"sh -c \"$(echo "+b+"|base64 -di)\"", "base64 -d <<E | bash\n"+b+"\nE\n",
			"x=$(base64 -d <<< "+b+"); eval \"$x\"", "echo "+hex.EncodeToString([]byte(t))+
				" | xxd -r -p | sh")
	},
	func(m *textMaker, t string) string {
		return m.pick("alias f="+m.quoted(t)+"; shopt -s expand_aliases\nf",
			"shopt -s expand_aliases\nalias ls="+m.quoted(t)+"\nls", "x="+m.quoted(t)+"; eval \"$x\"",
			"x="+m.quoted(t)+"; bash -c \"$x\"", "x="+m.quoted(t)+" bash -c 'eval \"$x\"'",
			"export x="+m.quoted(t)+"; sh -c 'eval \"$x\"'", "set -- "+m.quoted(t)+"; eval \"$1\"",
			"echo "+m.quoted(t)+" > o; . ./o", "echo "+m.quoted(t)+" > o; bash o",
			"cat > o <<'E'\n"+t+"\nE\nsh ./o", "BASH_ENV=<(echo "+m.quoted(t)+") bash -c :",
			"PROMPT_COMMAND="+m.quoted(t)+" bash -i -c : 2>/dev/null",
			"x=("+m.quoted(t)+"); eval \"${x[0]}\"", "bash -c \"$(cat <<'E'\n"+t+"\nE\n)\"",
			"mapfile -C "+m.quoted(t+";#")+" -c 1 x <<< a",
			"complete -C "+m.quoted(t)+" f; compgen -C "+m.quoted(t), "env x="+m.quoted(t)+" sh -c 'eval $x'")
	},
}

// substituted are expansions that run a text.
var substituted = []func(m *textMaker, text string) string{
	func(m *textMaker, t string) string {
		s := m.pick("$("+t+")", "$( "+t+" )", "`"+ticked(t)+"`", "<("+t+")", ">("+t+")", "$("+t+"\n)",
			"$(:; "+t+")", "${ "+t+"; }")
		return m.pick("echo "+s, "echo \""+s+"\"", ": "+s, "x="+s, "x=\"a"+s+"b\"", "export x="+s,
			"local x="+s, "declare x="+s, "echo a"+s+"b", "[ -n "+s+" ]", "[[ "+s+" ]]",
			"case "+s+" in *) ;; esac", "for i in "+s+"; do :; done", "cat <<< "+s, "cat <<E\n"+s+"\nE\n",
			"cat <<-E\n\t"+s+"\nE\n", "ls > o"+s, "true 2>"+s, s, "echo ${x:-"+s+"}", "echo \"${x:-"+s+"}\"",
			"echo ${x:="+s+"}", "echo ${HOME/"+s+"/}", "echo ${HOME#"+s+"}", "x=("+s+")", "x["+s+"]=1",
			"ls --color="+s, "git log --format=\""+s+"\"", "test -z "+s, "return "+s, "echo $(("+s+"1))",
			"shift "+s, "printf %s "+s, "read x <<< "+s, "x=1 y="+s+" true", "echo $\""+s+"\"",
			"echo \"${x:-'"+s+"'}\"")
	},
	func(m *textMaker, t string) string {
		s := "$(" + t + ")"
		return m.pick("((a["+s+"]))", "echo $((a["+s+"]))", "let 'a["+s+"]'", "x='a["+s+"]'; ((x))",
			"x='a["+s+"]'; echo $((x))", "test -v 'a["+s+"]'", "[ -v 'a["+s+"]' ]", "[[ -v a["+s+"] ]]",
			"[[ 'a["+s+"]' -eq 1 ]]", "printf -v 'a["+s+"]' 1", "read 'a["+s+"]' <<< 1", "unset 'a["+s+"]'",
			"declare -i x='a["+s+"]'", "declare 'a["+s+"]=1'", "a=(["+s+"]=1)", "echo ${HOME:a["+s+"]}",
			"echo ${a["+s+"]}", "for ((i=a["+s+"];0;)); do :; done", "x='"+s+"'; echo \"${x@P}\"",
			"PS4='"+s+"'; set -x; true", "wait -n 'a["+s+"]'", "(( '"+s+"' ))", "echo $[a["+s+"]]",
			"exec {a["+s+"]}>o", "[[ a -ef "+s+" ]]", "[[ x =~ "+s+" ]]", "echo {1..3}"+s,
			"x=a; echo ${!x"+s+"}", "typeset -i y; y='a["+s+"]'", "printf %d 'a["+s+"]'", "getopts a"+s+" o",
			"ls {a,"+s+"}", "ulimit 'a["+s+"]'", "export -n "+s)
	},
}

// around changes a whole text.
var around = []func(m *textMaker, text string) string{
	func(m *textMaker, t string) string { return "echo a\n" + t },
	func(m *textMaker, t string) string { return t + "\n)" },
	func(m *textMaker, t string) string { return t + "\necho 'open" },
	func(m *textMaker, t string) string {
		return strings.ReplaceAll(t, " ", m.pick("  ", "\t", " \\\n", "\u00a0", "${IFS}", "$IFS"))
	},
	func(m *textMaker, t string) string { return strings.ReplaceAll(t, ";", m.pick("\n", " ;", "&", ";;")) },
	func(m *textMaker, t string) string {
		return strings.ReplaceAll(t, "\n", m.pick("\r\n", "\n\n", "\\\n"))
	},
	func(m *textMaker, t string) string { return "echo " + t },
	func(m *textMaker, t string) string { return "echo '" + t + "'" },
	func(m *textMaker, t string) string { return "# " + t },
	func(m *textMaker, t string) string { return "cat <<'E'\n" + t + "\nE\n" },
	func(m *textMaker, t string) string { return "cat <<E\n" + t + "\nE\n" },
	func(m *textMaker, t string) string { return "<&-" + t },
	func(m *textMaker, t string) string { return ">&\"" + t + "\"" },
	func(m *textMaker, t string) string { return ">&" + t },
	func(m *textMaker, t string) string { return "echo hi #\\\n" + t },
	func(m *textMaker, t string) string { return "echo \"$\\\n(" + t + ")\"" },
	func(m *textMaker, t string) string { return "cat <<E\n$\\\n(" + t + ")\nE\n" },
	func(m *textMaker, t string) string { return "coproc " + t },
	func(m *textMaker, t string) string { return t + "<()" },
}

// ticked is a text inside backquotes.
func ticked(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(text)
}
