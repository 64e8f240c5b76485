package program_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

var update = flag.Bool("update", false, "write the golden files anew")

// words takes a command apart at blanks and simple quotes. <?> is what is only known at run
// time.
func words(command string) (list []program.Word) {
	var b strings.Builder
	quote, inside := byte(0), false
	end := func() {
		if inside {
			before, after, dynamic := strings.Cut(b.String(), "<?>")
			list = append(list, program.Word{Text: before + after, Dynamic: dynamic, Begins: dynamic &&
				before != ""})
		}
		b.Reset()
		inside = false
	}
	for i := range len(command) {
		switch c := command[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case quote == 0 && c == ' ':
			end()
		default:
			inside = true
			b.WriteByte(c)
		}
	}
	end()
	return list
}

func effect(t *program.Table, command string) program.Effect {
	w := words(command)
	return t.Of(w[0].Text, w[1:])
}

// shown is an effect in one line.
func shown(e program.Effect) string {
	list := e.Facts()
	for _, f := range e.ExecFlags {
		list = append(list, "exec:"+f)
	}
	for _, why := range e.NotUnderstood() {
		list = append(list, "? "+why)
	}
	if e.Folder != nil {
		list = append(list, "in "+e.Folder.Text)
	}
	if e.CodeFile.Text != "" || e.CodeFile.Dynamic {
		list = append(list, "code in "+e.CodeFile.Text)
	}
	if e.Recursive {
		list = append(list, "recursive")
	}
	if e.Follows {
		list = append(list, "follows")
	}
	return strings.Join(list, ", ")
}

// TestEffects: what is known of each command of testdata/effects.txt is what stands there.
// A change of a row shows in it.
func TestEffects(t *testing.T) {
	const name = "testdata/effects.txt"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	table := testkit.ShippedPrograms()
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(string(doc), "\n"), "\n")
	if len(lines) < 2000 {
		t.Fatalf("%d lines: nothing is tested", len(lines))
	}
	for i := 0; i+1 < len(lines); i += 2 {
		got := shown(effect(table, lines[i]))
		if want := strings.TrimPrefix(lines[i+1], "\t"); got != want && !*update {
			t.Errorf("%s\n got %s\nwant %s", lines[i], got, want)
		}
		out.WriteString(lines[i] + "\n\t" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnknownOptions: for each program, an option that nobody knows is not understood, and
// neither is one that is only known at run time.
func TestUnknownOptions(t *testing.T) {
	table := testkit.ShippedPrograms()
	free := 0
	for _, name := range table.Names() {
		if strings.HasPrefix(name, "$") { // a variable
			continue
		}
		e := table.Of(name, []program.Word{{Text: "--unheard-of"}})
		if len(e.NotUnderstood()) == 0 {
			if free++; !slices.Contains(noOptions, name) {
				t.Errorf("%s --unheard-of is understood: %s", name, shown(e))
			}
		}
	}
	if free > len(noOptions) {
		t.Errorf("%d programs understand everything", free)
	}
}

// noOptions are programs to which a word with a dash is a word like any other.
var noOptions = strings.Fields(`: . [ [[ test echo printf true false expr break continue return shift exit set local declare typeset export readonly
	unset read mapfile readarray getopts eval trap select name function umask ulimit logout shopt times pwd cd chdir pushd popd dirs caller
	alias unalias hash enable bind complete compgen compopt fc history source`)

// TestLooksElsewhere: a plain value that leads out of the folder counts as a file.
func TestLooksElsewhere(t *testing.T) {
	table := testkit.ShippedPrograms()
	for command, want := range map[string]bool{
		"rg --type=/etc/x a": true, "npm run x --out=/etc/x": true, "git fetch origin /etc/x": true,
		"wc --total=../x a": true,
		"rg --type=go a":    false, "git log main..x": false, "head -n 5 a": false, "make V=1": false,
		"make OUT=/etc/x": true,
	} {
		got := false
		for _, touch := range effect(table, command).Touches {
			got = got || strings.HasPrefix(touch.Word.Text, "/") || strings.HasPrefix(touch.Word.Text, "..")
		}
		if got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}

// TestFloors: a table over another one never takes anything away from it.
func TestFloors(t *testing.T) {
	floor := testkit.ShippedPrograms()
	table := program.NewTable([]string{"git", "curl", "mine"}, func(string) program.Row {
		return program.Row{Flags: "--frob", Operands: "text*"}
	}, floor)
	for _, command := range []string{"git push", "curl -d @a https://example.com/", "git reset --hard",
		"git --frob x"} {
		e, under := effect(table, command), effect(floor, command)
		for _, fact := range under.Facts() {
			if !slices.Contains(e.Facts(), fact) {
				t.Errorf("%s: lacks %s", command, fact)
			}
		}
		if len(e.NotUnderstood()) < len(under.NotUnderstood()) {
			t.Errorf("%s: %q, not %q", command, e.NotUnderstood(), under.NotUnderstood())
		}
	}
	if e := effect(table, "rm -rf a"); e.Known {
		t.Errorf("a floor teaches no program: %s", shown(e))
	}
	if e := effect(table, "mine --frob"); len(e.NotUnderstood()) > 0 {
		t.Errorf("what only the table knows: %s", shown(e))
	}
}
