package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

var world = World{Programs: testkit.ShippedPrograms(), Guard: paths.Guard{Roots: paths.Roots{
	Cwd: "/proj/app", Home: "/home/dev", Write: []string{"/proj/app", "/tmp"}, Read: []string{"/usr", "/bin",
		"/sbin", "/lib"},
}}}

// commands is a short form of all that runs: the words of each command in one string.
func commands(s *Script) (out []string) {
	for _, c := range s.Commands {
		if c.Binary != "" {
			out = append(out, strings.Join(append([]string{c.Binary}, c.Argv[1:]...), " "))
		}
	}
	return out
}

// Every row says which commands run, among others; one that starts with ! must not.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		// words
		{`r''m -rf "/"`, []string{"rm -rf /"}},
		{`\r\m -rf /`, []string{"rm -rf /"}},
		{`$'\x72m' $'\57'`, []string{"rm /"}},
		{`{rm,-rf,/}`, []string{"rm -rf /"}},
		{`echo {a..c}`, []string{"echo a b c"}},
		{`echo ~/x ~root/y`, []string{"echo /home/dev/x /root/y"}},
		{`/bin/../bin/rm x`, []string{"rm x"}},
		{`echo 'rm x'; # rm y`, []string{"echo rm x", "!rm x", "!rm y"}},
		// variables
		{`a=r b=m; $a$b -rf /`, []string{"rm -rf /"}},
		{`x="rm -rf /"; $x`, []string{"rm -rf /"}},
		{`a=(rm -rf /); "${a[@]}"`, []string{"rm -rf /"}},
		{`x=\r\m; $x y`, []string{"rm y"}},
		{`x='eval '\''rm y'\'''; eval "$x"`, []string{"rm y"}},
		{`sh <<< rm\ y`, []string{"rm y"}},
		{`set -- rm /; "$@"`, []string{"rm /"}},
		{`set -- a rm /; shift; "$1" "$2"`, []string{"rm /"}},
		{`printf -v x '%s%s' r m; $x y`, []string{"rm y"}},
		{`read c <<< rm; $c y`, []string{"rm y"}},
		{`read a b <<< "rm /x"; $a $b`, []string{"rm /x"}},
		{`x=ls; unset x; $x rm y`, []string{"rm y", "!ls"}},
		{`: ${x:=rm}; $x y`, []string{"rm y"}},
		{`x=ls; (x=rm); $x y`, []string{"ls y", "!rm y"}},
		{`x=rm env y; $x z`, []string{"env y", "!rm z"}},
		{`x=ls; x=rm & $x y`, []string{"ls y"}},
		// substitutions
		{`echo $(rm x)`, []string{"rm x"}},
		{"echo `rm x`", []string{"rm x"}},
		{`$(echo rm) x`, []string{"rm x"}},
		{`$(echo cm0= | base64 -d) x`, []string{"rm x"}},
		{`diff <(rm x) <(ls)`, []string{"rm x", "ls"}},
		{`ls >(rm x)`, []string{"rm x"}},
		{`echo "${x:-$(rm x)}"`, []string{"rm x"}},
		{`echo $((1 + $(rm x)))`, []string{"rm x"}},
		{"cat <<E\n$(rm x)\nE", []string{"rm x"}},
		{"cat <<'E'\n$(rm x)\nE", []string{"!rm x"}},
		{`x=$(rm x)`, []string{"rm x"}},
		{`local x=$(rm x)`, []string{"rm x"}},
		{`declare =$(rm x)`, []string{"rm x"}},
		{`[[ $(rm x) ]]`, []string{"rm x"}},
		{`case $(rm x) in $(rm y)) rm z;; esac`, []string{"rm x", "rm y", "rm z"}},
		{`printf 'true\nrm x' | xargs -d '\n' -n1 sh -c`, []string{"rm x"}},
		{`echo a b | xargs -I{} rm {}`, []string{"rm a b"}},
		// shells
		{`sh -c 'rm x'`, []string{"rm x"}},
		{`bash -euxc 'rm "$1"' name y`, []string{"rm y"}},
		{`bash -c '$0 "$@"' rm x`, []string{"rm x"}},
		{`bash -c "bash -c 'rm x'"`, []string{"rm x"}},
		{`echo rm x | sh`, []string{"rm x"}},
		{`sh <<< "rm x"`, []string{"rm x"}},
		{"sh <<E\nrm x\nE", []string{"rm x"}},
		{`bash <(echo rm x)`, []string{"rm x"}},
		{`source /dev/stdin <<< 'rm x'`, []string{"rm x"}},
		{`. <(echo rm x)`, []string{"rm x"}},
		{`eval rm x`, []string{"rm x"}},
		{`eval 'eval "rm x"'`, []string{"rm x"}},
		{`echo 'rm x' | tee f | sh`, []string{"rm x"}},
		{`echo 'rm x' > f; sh f`, []string{"rm x"}},
		{`echo 'rm x' > f; echo 'rm y' >> f; . ./f`, []string{"rm x", "rm y"}},
		{`echo 'rm x' > f; chmod +x f; ./f`, []string{"rm x"}},
		{`echo 'rm x' > f; sh < f`, []string{"rm x"}},
		{`cp /bin/rm f; ./f x`, []string{"f x"}},
		{`exec rm x`, []string{"rm x"}},
		{`command rm x`, []string{"rm x"}},
		{`builtin eval 'rm x'`, []string{"rm x"}},
		{`exec -a ls rm x`, []string{"rm x"}},
		// flow
		{`if true; then rm x; elif rm y; then :; else rm z; fi`, []string{"rm x", "rm y", "rm z"}},
		{`for i in a b; do rm $i; done`, []string{"rm a", "rm b"}},
		{`while rm x; do rm y; done`, []string{"rm x", "rm y"}},
		{`until rm x; do :; done`, []string{"rm x"}},
		{`for ((i=0;i<3;i++)); do rm x; done`, []string{"rm x"}},
		{`x=ls; while :; do $x y; x=rm; done`, []string{"ls y", "rm y"}},
		{`true && rm x || rm y; ! rm z`, []string{"rm x", "rm y", "rm z"}},
		{`{ rm x; }; (rm y)`, []string{"rm x", "rm y"}},
		{`time rm x`, []string{"rm x"}},
		{`coproc rm x`, []string{"rm x"}},
		{`coproc x { rm y; } | cat`, []string{"rm y", "!x", "cat"}},
		{`rm x &`, []string{"rm x"}},
		// functions, traps, aliases, hash
		{`f() { rm "$1"; }; f x`, []string{"rm x"}},
		{`f() { rm x; }`, []string{"rm x"}},
		{`f() { c=rm; }; f; $c x`, []string{"rm x"}},
		{`ls() { rm x; }; ls`, []string{"rm x"}},
		{`function /bin/ls { rm x; }; /bin/ls`, []string{"rm x"}},
		{`if a; then f() { rm x; }; else f() { rm y; }; fi; f`, []string{"rm x", "rm y"}},
		{`trap 'rm x' EXIT`, []string{"rm x"}},
		{`x=ls; trap '$x y' EXIT; x=rm`, []string{"rm y"}},
	} {
		got := commands(Analyze(c.text, world))
		for _, want := range c.want {
			if not, is := strings.CutPrefix(want, "!"); is == slices.Contains(got,
				strings.TrimPrefix(want, "!")) {
				t.Errorf("%s\n\tgot  %q\n\twant %q (not: %v)", c.text, got, want, not)
			}
		}
	}
}

// What is not followed is over budget, so that it is asked about whatever else holds; what stands beside it is found.
func TestUnfollowed(t *testing.T) {
	for _, text := range []string{
		`a+=(rm x); "${a[@]}"`, `a[1]=rm; ${a[1]} x`, `a=(ls); a=rm; "${a[@]}" x`, `a=([1]=rm); ${a[1]} x`,
		`declare -A a; ${a[x]} y`, `declare -i x='a[$(rm x)]'`, `declare -n r=c; r=rm`, `typeset -a "b=([$(rm x)]=1)"`,
		`declare "$(cat f)"`, `test -v 'a[$(rm x)]'`, `unset 'a[$(rm x)]'`, `read 'a[$(rm x)]' <<< x`,
		`printf -v 'a[$(rm x)]' y`, `wait -p 'a[$(rm x)]'`, `jobs -x rm x`, `x='a[$(rm y)]'; echo $((x))`,
		`((a[$(rm x)]++))`, `ls >&"\$(rm x)"`, `mapfile -C 'rm x' -c 1 a`, `mapfile -t a <<< rm; ${a[0]} x`,
		`read -ra a <<< 'rm x'; "${a[@]}"`, `: ${a[0]:=rm}; ${a[0]} x`, `y='a[$(rm x)]'; echo ${!y}`,
		`echo "${x:-'$(rm x)'}"`, "(( '$(rm x)' ))", "echo ${a:'$(rm x)'}",
		"echo hi #\\\nrm x", "ls \\\r\nrm x", "ls && \\\r\nrm x\r\n", "r\\\nm x", "echo \"$\\\n(rm x)\"",
	} {
		s := Analyze(text+"\nrm -rf /", world)
		if !s.OverBudget || len(s.Dynamic) == 0 || !slices.Contains(commands(s), "rm -rf /") {
			t.Errorf("%q: over budget %v, dynamic %q, runs %q", text, s.OverBudget, s.Dynamic, commands(s))
		}
	}
}
