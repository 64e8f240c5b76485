package program

import (
	"slices"
	"strings"
)

// Of says what a program does with its arguments. Name is its name without a folder.
// For a program that is not in the table, Known is false, and only Flags and Operands
// are filled in.
func Of(name string, args []Word) Effect {
	p := lookup(table, name)
	c := call{name: name, args: args, program: p, table: table}
	if p == nil {
		c.program = &stranger
		c.parse()
		c.Unsure = nil
		return c.Effect
	}
	c.Known = true
	c.parse()
	c.apply()
	for _, then := range c.program.thens {
		then(&c)
	}
	c.run(c.name, c.tail, c.name)
	if c.program.shell && !c.looks && c.CodeFile == (Word{}) && !slices.ContainsFunc(c.Runs, func(r Run) bool { return r.Wrapper != "" || r.Argv == nil }) {
		c.startShell()
	}
	c.applyValues()
	c.Tags, c.Unsure = unique(c.Tags), unique(c.Unsure)
	return c.Effect
}

// Names are all names in the table, sorted. Programs with a version in their name, such
// as python3.11, stand there without it.
func Names() []string {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var table = compile(files, texts, viewers, archives, networks, vcs, packages, languages, builds, systems, wrappers, containers, clouds, builtins)

// stranger is the row for programs that are not in the table.
var stranger = program{row: row{open: true}}

func lookup(table programs, name string) *program {
	if p := table.row(name); p != nil {
		return p
	}
	if bare := strings.TrimRight(name, "0123456789."); bare != name {
		if p := table.row(strings.TrimSuffix(bare, "-")); p != nil && p.versioned {
			return p
		}
	}
	switch {
	case strings.HasPrefix(name, "mkfs."), strings.HasPrefix(name, "fsck."):
		return table.row("mkfs")
	case strings.HasPrefix(name, "ld-linux"), strings.HasPrefix(name, "ld-musl"):
		return table.row("ld.so")
	}
	return nil
}

// unique drops what stands in a short list twice.
func unique(list []string) []string {
	kept := list[:0]
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
