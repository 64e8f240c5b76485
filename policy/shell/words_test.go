package shell

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"mvdan.cc/sh/v3/syntax"
)

// TestWordsAreAsInBash makes up assignments and words, and lets bash show the words. Each is
// known as bash makes it, or it is called unknown. WORDS_SEED and WORDS_COUNT choose which
// words, and how many.
func TestWordsAreAsInBash(t *testing.T) {
	box := testkit.NewBash(t, "zmark")
	seed := numberFrom("WORDS_SEED", 1)
	t.Logf("WORDS_SEED=%d", seed)
	m := wordMaker{generator{rand.New(rand.NewSource(seed))}}
	var told tally
	for i, shown := range box.Shown(t, pastTexts) {
		told.compare(t, pastTexts[i], false, shown)
	}
	for count := int(numberFrom("WORDS_COUNT", 20_000)); told.words < count; {
		texts := make([]string, 200)
		for i := range texts {
			texts[i] = m.text(i%2 == 0)
		}
		for i, shown := range box.Shown(t, texts) {
			told.compare(t, texts[i], i%2 == 0, shown)
		}
		if told.wrong > 20 {
			t.Fatal("and so on")
		}
	}
	t.Logf("%d words, %d known; of %d ordinary ones %d", told.words, told.known, told.ordinary,
		told.ordinaryKnown)
	if told.ordinaryKnown*100 < told.ordinary*95 {
		t.Error("too many ordinary words are called unknown")
	}
}

// pastTexts are texts of which a word was once read wrongly.
var pastTexts = []string{
	"show 0 {a..Z} {$,}x {x,~} ~{,}", "u=; show 0 \"${1:+x}\" \"$*$@\" \"${b:+$@}\"",
	"unset u; show 0 \"${u=~}\" $u", "show 0 $(printf '%s ?' a b)$.", "show 0 ~:/x",
	"l=({a,b} x); show 0 \"${l[1]:-\"{a,b}$@\"}\"",
	"k=(x y); c=a; show 0 ${c#${k[x]=z}} \"${k[@]}\"", "b=x; export a=$b{x,y}; show 0 $a",
	"l=('' x); : ${l:=y}; show 0 \"${l[@]}\"", "show 0 ${#=x} \"${#-y}\"",
	"unset a; [[ -n $a ]] && b=x; show 0 ${b=%.*}",
	"a=b; set -- x/#a/b; show 0 ${a/#b/c} ${a/%b/c} \"${@}suffix\" \"x$@\" ${a@Q} \"${a:+'q'}\" ${a/b/&&}",
}

// tally counts what was compared.
type tally struct{ words, known, wrong, ordinary, ordinaryKnown int }

// compare compares the calls of show that bash has made with those that the facts name.
func (c *tally) compare(t *testing.T, text string, ordinary bool, shown [][]string) {
	t.Helper()
	s := Analyze(text, world)
	asks := !s.Parsed || s.OverBudget || len(s.Dynamic) > 0 ||
		slices.ContainsFunc(s.Commands, func(c Command) bool {
			return slices.Contains(c.Tags, "shell-state") || slices.Contains(c.Tags, "code-variable")
		})
	for _, words := range shown {
		c.words++
		unknown, right := asks, false
		for _, cmd := range s.Commands {
			if cmd.Binary != "show" || len(cmd.Argv) < 2 || len(words) == 0 || cmd.Argv[1] != words[0] {
				continue
			}
			unknown = unknown || cmd.DynamicArgs
			right = right || slices.Equal(cmd.Argv[1:], words)
		}
		switch {
		case !unknown && !right:
			c.wrong++
			t.Errorf("%s\n\tbash: %q\n\thave: %q", text, words, commands(s))
		case !unknown:
			c.known++
		}
		if ordinary {
			c.ordinary++
			if !unknown {
				c.ordinaryKnown++
			}
		}
	}
}

// wordMaker makes up words. They can run nothing but builtins that print.
type wordMaker struct{ generator }

// text is a list of assignments, and calls of show with a word each.
func (m wordMaker) text(ordinary bool) string {
	text := "unset u\na=" + m.value() + " b=" + m.value() + "\nc=" + m.value() + "\nl=(" + m.value() +
		" " + m.value() + ")\nset -- " + m.value() + "\nn=5\n"
	calls := 10
	if !ordinary {
		text, calls = m.pick("", text, text, text), 3
	}
	for range 1 + m.Intn(4) {
		text += m.parsing(func() string { return m.assignment(ordinary) })
	}
	for i := range calls {
		text += m.parsing(func() string {
			if ordinary {
				return "show " + strconv.Itoa(i) + " " + m.ordinary()
			}
			return "show " + strconv.Itoa(i) + " " + m.wild(m.Intn(3))
		})
	}
	return text
}

// parsing is a line that is complete, so that what follows it is read, too.
func (m wordMaker) parsing(make func() string) string {
	for {
		line := make() + "\n"
		background := func(s *syntax.Stmt) bool { return s.Background }
		if f, err := syntax.NewParser().Parse(strings.NewReader(line), ""); err == nil &&
			!slices.ContainsFunc(f.Stmts, background) {
			return line
		}
	}
}

func (m wordMaker) value() string {
	return quote(m.pick("x", "x.y.z", "dir/sub/file.tar.gz", "a b", " a  b ", "", "10", "7", "*", "a*b",
		"[ab]", "x/", "-n", "x=1", "~", "~/a", "a:b", "{a,b}", "X", "xx", "a", "b", "l", "?", "x y z", "\ta"))
}

func (m wordMaker) assignment(ordinary bool) string {
	name := m.pick("a", "b", "c")
	switch n := m.Intn(12); {
	case n < 5:
		return name + "=" + m.value()
	case n < 7:
		return m.pick("l", "k") + "=(" + m.value() + " " + m.pick("", m.value()) + " " + m.value() + ")"
	case n < 9:
		return "set -- " + m.pick("", m.value(), m.value()+" "+m.value())
	case ordinary:
		return "n=" + strconv.Itoa(m.Intn(30))
	}
	return m.pick(name+"="+m.wild(1), name+"+="+m.value(), "unset "+name, "l+=("+m.value()+")",
		"l[1]="+m.value(), "l=()", "declare "+name+"="+m.value(), "declare -u "+name+"; "+name+"="+m.value(),
		"readonly "+name+"="+m.value()+"; "+name+"="+m.value(), "f() { local "+name+"="+m.value()+"; }; f",
		"f() { "+name+"="+m.value()+"; }; f", "f() { set -- "+m.value()+"; "+name+"=$1; }; f "+m.value(),
		"("+name+"="+m.value()+")",
		"if true; then "+name+"="+m.value()+"; fi", "for "+name+" in "+m.wild(1)+"; do :; done",
		"read -r a b <<< "+m.value(), "read c <<< "+m.value(), "printf -v "+name+" '%s-%s' "+m.value()+" x",
		"((n++))", "n=$((n+1))", "eval "+name+"="+m.value(),
		"IFS="+m.pick(":", "''", "x"), "shift", "export "+name+"="+m.wild(1), "local "+name+"=x",
		"declare -i "+name+"="+strconv.Itoa(m.Intn(9)), "mapfile -t l <<< "+m.value(), "k=(\"${l[@]}\" x)",
		"set -- \"$@\" "+m.value(), name+"=$"+m.pick("a", "b", "*", "@", "1"),
		"case "+m.wild(1)+" in x) "+name+"=x;; esac", "[[ -n $a ]] && "+name+"="+m.value(),
		"while ((n<3)); do n=$((n+1)); a+=x; done", "l=("+m.wild(1)+")", name+"=(x y)", "declare -a "+name,
		"while read -r "+name+"; do :; done <<< "+m.value(), "declare -A k; k[x]=y; k[y]=z", "set -f",
		"shopt -s nullglob", "a=1 b=2 c=3", "b=$a c=$b", "a=x show 99 $a", "set -u")
}

// ordinary is a word as people write it.
func (m wordMaker) ordinary() (word string) {
	for range 1 + m.Intn(3) {
		word += m.pick("x", "a/b.c", "'q r'", `"q r"`, `$'a\tb\x41'`, `"$a"`, "$b", "${c}", `"${l[@]}"`,
			"${a:-d}", `"${u:-d}"`, "{x,y}", "{1..3}", "-x", "=", `"$1"`, `"$@"`, "$n", `"${a}b"`, `\ `, "''",
			"${#a}", "$#")
	}
	return m.pick("", "", "~/") + word
}

// wild is a word as nobody writes it.
func (m wordMaker) wild(depth int) (word string) {
	for range 1 + m.Intn(1+2*depth) {
		word += m.piece(depth)
	}
	const odd = "${}\"'\\:-=#%*?[]@!^,.~ab1"
	if m.Intn(6) == 0 && len(word) > 0 {
		i := m.Intn(len(word))
		word = word[:i] + string(odd[m.Intn(len(odd))]) + word[i:]
	}
	return word
}

func (m wordMaker) piece(depth int) string {
	name := m.pick("a", "b", "c", "u", "1", "2", "@", "*", "l", "l[@]", "l[*]", "l[0]", "l[1]", "k[@]",
		"k[x]", "n", "#", "a[0]", "l[-1]", "9", "?")
	inner := func() string {
		if depth <= 0 {
			return m.pick("x", "a", "*", "?", "", "x y", "'x y'", `"x y"`, "$b", `"$b"`, `\x`, "[a-x]", "~",
				"&", "x*", ".*", "*/", "{a,b}")
		}
		return m.wild(depth - 1)
	}
	switch m.Intn(14) {
	case 0:
		return m.ordinary()
	case 1:
		return "${" + name + m.pick(":-", "-", ":+", "+", ":=", "=", ":?") + inner() + "}"
	case 2:
		return `"${` + name + m.pick(":-", "-", ":+", "+", ":=", "=") + inner() + `}"`
	case 3:
		return "${" + name + m.pick("#", "##", "%", "%%") + inner() + "}"
	case 4:
		return `"${` + name + m.pick("#", "##", "%", "%%") + inner() + `}"`
	case 5:
		return m.pick("", `"`) + "${" + name + m.pick("/", "//", "/#", "/%") + inner() + "/" + inner() + "}"
	case 6:
		return "${" + name + ":" + m.pick("0", "1", "2", " -1", "(-2)", "n", "0:1", "1:2", "1:-1", ":1", "7",
			"01") + "}"
	case 7:
		return "${" + name + m.pick("^", "^^", ",", ",,", "@Q", "@A", "@U", "@K", "@k", "@L", "@u", "@E",
			"@a") + "}"
	case 8:
		return m.pick("$", `"$`, "x$", `"x$`) + m.pick("a", "@", "*", "1", "{l[@]}", "{l[*]}", "l", "u", "10",
			"{10}", "#", "{#l[@]}", "{#@}", "{!a}", "{!l[@]}", "{#u}", "{l}")
	case 9:
		return `"` + m.pick("x", "", "$a", "$@", "$*") + m.pick("${l[@]}", "$@", "$*", "${l[*]}", "$u",
			"\\$a", "\\x", "'x'", "{a,b}", "~", "*") + m.pick("y", "", "$b", "$@") + `"`
	case 10:
		return m.pick("*", "?x", "[ab]", `"*"`, `\*`, "[", "]", "{a,b}{c,d}", "{,}", "{a", "a}", "{}",
			"{1..$n}", "$a{x,y}", "${a}{x,y}", "{$a,b}", "{3..1}", "{01..3}", "{a..e..2}", "{a,{b,c}}", "{0..2}", "{B..D}", "{x.y,.z}",
			"{a*,?}", "{a..b,c}", "{x,{1..2}}",
			"{a,b", "{a..c", "{c..a}", "{-1..1}", "{a..Z}", "{x,}")
	case 11:
		return m.pick("$((1+2))", "$((n*2))", "$((n-n))", "$[n+1]", "$((1?2:3))", "$((010))", "$((n/2))",
			"$((n%3))", "$((2**3))", "$((1<2))", "$((n++))", "$((10#08))", "$((-n))", "$((0x1f))",
			"$(($n+1))", "$((l))", "$((u))")
	case 12:
		return m.pick("$(echo x)", "$(printf '%s ' a b)", `"$(echo 'a  b')"`, "`echo y`", "$(echo $a)",
			`$(echo "$@")`, "$(printf 'a\\n\\n')", "$(echo \"$b\" x)", "$(:)")
	}
	return m.pick("$'\\n'", "$'a\\'b'", "$'\\101'", "$'\\u41'", "$'\\cx'", "$'\\x'", `$"x"`, "''", `""`, "~",
		"~/", "~root", "a=~", "x:~", "a=~/x:~/y", ":~", "\\~", "~a", "\\\\", "\\$", "\\a", "$", "$.", "\"$\"",
		"%", "#", "!", "@(a|b)", "?(x)", "é", "${#é}", "x\\\ny")
}
