package program

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// place is a row of the table, with the words that lead to it: git, stash, drop.
type place struct {
	words []string
	*program
}

func (p place) String() string { return strings.Join(p.words, " ") }

// of is the effect of the row with more arguments.
func (p place) of(args ...string) Effect {
	return effects(p.words[0], slices.Concat(p.words[1:], args)...)
}

// places are all rows, each by one of its names.
func places() (out []place) {
	var add func(words []string, p *program)
	add = func(words []string, p *program) {
		out = append(out, place{words, p})
		rows := map[*program]bool{}
		for _, name := range slices.Sorted(maps.Keys(p.subs)) {
			if sub := p.subs[name].ready(); !rows[sub] {
				rows[sub] = true
				add(append(slices.Clone(words), name), sub)
			}
		}
		for _, s := range p.stars {
			if name := s.name + "zz"; p.sub(name).ready() == s.ready() {
				add(append(slices.Clone(words), name), s.ready())
			}
		}
	}
	rows := map[*program]bool{}
	for _, name := range Names() {
		if p := table.row(name); !rows[p] {
			rows[p] = true
			add([]string{name}, p)
		}
	}
	return out
}

// spelt is an option with a value as it can be written in any row.
func spelt(o *option, value string) []string {
	switch {
	case o.value == 0:
		return []string{o.name}
	case o.name == "+":
		return []string{"+" + value}
	case o.value == '+':
		return []string{o.name, "name", value}
	case o.value == '?' && len(o.name) == 2:
		return []string{o.name + value}
	case o.value == '?':
		return []string{o.name + "=" + value}
	}
	return []string{o.name, value}
}

// first tells whether an option is the one that its name stands for.
func (p place) first(o *option) bool {
	if len(o.name) == 2 && p.style != words {
		return &p.options[p.short[o.name[1]]-1] == o
	}
	return p.exact(strings.TrimPrefix(o.name, map[bool]string{true: "-"}[p.style == words && strings.HasPrefix(o.name, "--")])) == o
}

// meaning tells whether an effect says what a kind says of a value, by kind.
var meaning = map[kind]func(e Effect, value string) bool{
	read: touches("read"), write: touches("write"), remove: touches("delete"), target: touches("write"), dir: touches("read"), out: touches("write"),
	from: touches("read"), to: touches("write"), args: touches("read"), move: both(touches("read"), touches("delete")), change: both(touches("read"), touches("write")),
	list: both(touches("read"), touches("read", "")), conf: touches("read"), load: both(touches("read"), func(e Effect, _ string) bool { return len(e.ExecFlags) > 0 }),
	data: touches("read"), form: touches("read"), header: touches("read"),
	url: func(e Effect, v string) bool {
		return slices.ContainsFunc(e.Fetches, func(f Fetch) bool { return f.Word.Text == v })
	},
	sh: func(e Effect, v string) bool {
		return len(e.ExecFlags) > 0 && slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Code.Text == v })
	},
	exec: func(e Effect, v string) bool {
		return len(e.ExecFlags) > 0 && slices.ContainsFunc(e.Runs, func(r Run) bool { return len(r.Argv) > 0 && r.Argv[0].Text == v })
	},
	inline: func(e Effect, _ string) bool { return e.Inline },
	script: func(e Effect, v string) bool { return strings.HasSuffix(e.CodeFile.Text, v) },
	main: func(e Effect, v string) bool {
		return strings.HasSuffix(e.CodeFile.Text, v) && slices.Contains(e.Tags, "workspace-code")
	},
}

func touches(op string, name ...string) func(Effect, string) bool {
	return func(e Effect, v string) bool {
		for _, n := range name {
			v = n
		}
		return slices.ContainsFunc(e.Touches, func(t Touch) bool { return t.Op == op && strings.HasSuffix(t.Word.Text, v) })
	}
}

func both(a, b func(Effect, string) bool) func(Effect, string) bool {
	return func(e Effect, v string) bool { return a(e, v) && b(e, v) }
}

// onlyWith are options whose tag is taken back where another option or operand is missing.
var onlyWith = map[string]bool{"bsdtar -P": true, "npm create -g": true, "npm create --location": true}

// TestOptionsDoWhatTheySay tries every option of every row: its value is used as its kind
// says, and its tags are those of the effect.
func TestOptionsDoWhatTheySay(t *testing.T) {
	n := 0
	for _, p := range places() {
		for i := range p.options {
			o := &p.options[i]
			if !p.first(o) || o.kind == tail {
				continue
			}
			value := "./value"
			if o.kind == data || o.kind == form || o.kind == header {
				value = "@./value"
			}
			e := p.of(spelt(o, value)...)
			if says := meaning[o.kind]; says != nil {
				if n++; !says(e, "./value") {
					t.Errorf("%s %q: %s", p, spelt(o, value), describe(e))
				}
			}
			for _, tag := range o.tags {
				if n++; isTag(tag) && !slices.Contains(e.Tags, tag) && !onlyWith[p.String()+" "+o.name] {
					t.Errorf("%s %s: no tag %s in %s", p, o.name, tag, describe(e))
				}
			}
		}
	}
	if n < 2000 {
		t.Errorf("only %d options were tried", n)
	}
}

// TestOperandsDoWhatTheySay does the same with operands, where no handler has a say.
func TestOperandsDoWhatTheySay(t *testing.T) {
	n := 0
	for _, p := range places() {
		if len(p.thens) > 0 || p.subs != nil || p.style == bundle {
			continue
		}
		all := slices.Concat(p.before, p.after)
		if p.repeats {
			all = slices.Concat(p.before, []operand{p.each, p.each}, p.after)
		}
		var args []string
		for i := range all {
			args = append(args, fmt.Sprintf("./o%d", i))
		}
		e := p.of(args...)
		for i, o := range all {
			switch {
			case o.kind == run:
				if n++; !slices.ContainsFunc(e.Runs, func(r Run) bool { return len(r.Argv) > 0 && r.Argv[0].Text == args[i] }) {
					t.Errorf("%s %q: %s", p, args, describe(e))
				}
			case o.kind == line:
				if n++; !slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Code.Text == strings.Join(args[i:], " ") }) {
					t.Errorf("%s %q: %s", p, args, describe(e))
				}
			case o.kind == script || o.kind == main: // of several the last one is told
				if n++; e.CodeFile.Text == "" || !touches("read")(e, args[i]) {
					t.Errorf("%s %q: %s", p, args, describe(e))
				}
			case meaning[o.kind] != nil:
				if n++; !meaning[o.kind](e, args[i]) && o.kind != sh {
					t.Errorf("%s %q: operand %d: %s", p, args, i, describe(e))
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d operands were tried", n)
	}
}

// TestNothingIsForgotten: where options do harm, one that nobody knows is asked about,
// and so is one that is only known at run time.
func TestNothingIsForgotten(t *testing.T) {
	for _, p := range places() {
		if !p.risky {
			continue
		}
		if e := p.of("--unheard-of"); !p.open && p.subs == nil && len(e.Unsure) == 0 && !slices.Contains(e.Tags, "unlisted-sub") {
			t.Errorf("%s --unheard-of: %s", p, describe(e))
		}
		for _, begins := range []string{"-", "--"} {
			args := slices.Concat(p.words[1:], []string{begins})
			list := make([]Word, len(args))
			for i, a := range args {
				list[i].Text = a
			}
			list[len(list)-1].Dynamic = true
			if e := Of(p.words[0], list); len(e.Unsure) == 0 {
				t.Errorf("%s %s<?>: %s", p, begins, describe(e))
			}
		}
	}
}

// TestWrappersPassOn: whatever stands before it, a program that is run keeps its words and
// its standard input, and what is given is not changed.
func TestWrappersPassOn(t *testing.T) {
	argv := []string{"rm", "-rf", "--", "/"}
	for _, p := range places() {
		before := slices.IndexFunc(p.before, func(o operand) bool { return o.kind == run })
		if before < 0 {
			continue
		}
		args := slices.Concat(p.words[1:], slices.Repeat([]string{"x"}, before), argv)
		list := make([]Word, len(args))
		for i, a := range args {
			list[i].Text = a
		}
		given := slices.Clone(list)
		e := Of(p.words[0], list)
		passed := func(r Run) bool {
			return r.Wrapper == p.words[0] && r.KeepStdin && slices.EqualFunc(r.Argv, argv, func(w Word, s string) bool { return w.Text == s })
		}
		if !slices.ContainsFunc(e.Runs, passed) {
			t.Errorf("%s: %s", p, describe(e))
		}
		if !slices.Equal(list, given) {
			t.Errorf("%s: the arguments have changed", p)
		}
	}
}
