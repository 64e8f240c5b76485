package program

import "strings"

// Spellings returns all ways to write an option of a program or of one of its subcommands; nil if the option
// is unknown.
func (t *Table) Spellings(name, sub, option string) (out []string) {
	p := t.lookup(name)
	if p == nil {
		return nil
	}
	for _, word := range strings.Fields(sub) {
		if s := p.sub(word); s.ready != nil {
			p = s.ready()
		}
	}
	index, listed := p.indexOf(option)
	if !listed {
		return nil
	}
	for letter, i := range p.short {
		if i == index+1 {
			out = append(out, "-"+string(rune(letter)))
		}
	}
	for _, s := range p.long {
		if s.option == index {
			out = append(out, s.text)
		}
	}
	return out
}

// indexOf returns the index of an option by a spelling.
func (p *program) indexOf(spelling string) (uint16, bool) {
	if len(spelling) == 2 && spelling[1] < 128 && p.short[spelling[1]] > 0 {
		return p.short[spelling[1]] - 1, true
	}
	if i, ok := p.find(spelling); ok {
		return p.long[i].option, true
	}
	return 0, false
}
