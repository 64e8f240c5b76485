package program

import (
	"strings"
	"testing"
)

// TestSpellings tries every option with a value of every program in all the ways that it
// can be written: glued, after an equals sign, as the next word, abbreviated. The effect
// is the same.
func TestSpellings(t *testing.T) {
	for _, name := range Names() {
		p := table.row(name)
		if p.subs != nil || p.style == words {
			continue
		}
		for _, s := range p.long {
			o := &p.options[s.option]
			if o.value != '=' || o.kind == tail || !strings.HasPrefix(s.text, "--") {
				continue
			}
			want := effects(name, s.text+"=./value")
			same(t, want, name, s.text, "./value")
			for n := 4; n < len(s.text); n++ {
				if found, _, _ := p.option(s.text[:n]); found == o {
					same(t, want, name, s.text[:n]+"=./value")
				}
			}
		}
		for letter := range p.short {
			if p.short[letter] == 0 || p.options[p.short[letter]-1].value != '=' || p.options[p.short[letter]-1].kind == tail || p.mixed {
				continue
			}
			dash := "-" + string(rune(letter))
			same(t, effects(name, dash, "./value"), name, dash+"./value")
		}
	}
}

func effects(name string, args ...string) Effect {
	list := make([]Word, len(args))
	for i, a := range args {
		list[i].Text = a
	}
	return Of(name, list)
}

func same(t *testing.T, want Effect, name string, args ...string) {
	t.Helper()
	if got := effects(name, args...); describe(got) != describe(want) || len(got.Flags) != len(want.Flags) {
		t.Errorf("%s %q\n got %s %q\nwant %s %q", name, args, describe(got), got.Flags, describe(want), want.Flags)
	}
}

// TestRunTimeOptions: a word that may turn out to be an option makes a program unsure
// that has options which do harm, and no other one.
func TestRunTimeOptions(t *testing.T) {
	for command, want := range map[string]bool{
		"sort <?>": true, "sort -- <?>": false, "sort ./<?>": false, "sort -<?>": true, "sort --output=<?>": false, "sort --out<?>": true,
		"tar cf x <?>": true, "git log <?>": true, "curl https://example.com/<?>": false, "sudo <?> rm": true,
		"echo <?>": false, "cat <?>": false, "ls <?>": false, "grep <?> a": false, "rm <?>": false, "timeout 5 rm <?>": false,
	} {
		if got := len(effectOf(command).Unsure) > 0; got != want {
			t.Errorf("%s: unsure %v", command, got)
		}
	}
}
