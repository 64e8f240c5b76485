package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// maxPlaces bounds how many folders a shell may be in after cds that nothing checks.
const maxPlaces = 8

// use classifies a path that a command uses, for each folder that it may be in.
func (sh *shell) use(op paths.Op, w word, via string) []paths.Use {
	out := []paths.Use{sh.useFrom(op, w, sh.cwd(), via)}
	if !strings.HasPrefix(w.Text, "/") {
		for _, other := range sh.dir.or {
			if u := sh.useFrom(op, w, other, via); u.Class != out[0].Class {
				out = append(out, u)
			}
		}
	}
	return out
}

func (sh *shell) useFrom(op paths.Op, w word, cwd, via string) paths.Use {
	asked := paths.Word{Text: w.Text, Dynamic: w.Dynamic, Glob: w.Glob, Prefix: w.start}
	if w.Dynamic && w.Fits != "" && (op == paths.Read || op == paths.Write && w.Fits != listed) {
		asked = paths.Word{Text: w.Fits, Glob: w.Fits != listed}
		w.Text = w.Fits
	}
	if p := w.Text; len(sh.a.links) > 0 && (cwd != "" || strings.HasPrefix(p, "/")) {
		if to := sh.followed(absolute(p, cwd)); to != absolute(p, cwd) {
			if strings.HasSuffix(p, "/") {
				to += "/"
			}
			asked.Text, asked.Prefix = to, 0
		}
	}
	u := sh.a.guard.Word(op, asked, cwd, via)
	u.Path = w.Text
	return u
}

// write classifies a path that a command writes, and keeps what it writes there.
func (sh *shell) write(w word, via string, content *sink) []paths.Use {
	if abs := sh.absolute(w); abs != "" && abs != "/dev/null" {
		sh.a.files[abs] = content
	}
	return sh.use(paths.Write, w, via)
}

// absolute is where a word points; empty where that is not known.
func (sh *shell) absolute(w word) string {
	if w.Dynamic || w.Text == "" || !strings.HasPrefix(w.Text, "/") && !sh.dir.known {
		return ""
	}
	return sh.followed(absolute(w.Text, sh.dir.path))
}

func absolute(p, cwd string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(cwd, p)
}

// maxLinks bounds how many links of the script are followed for one path.
const maxLinks = 8

// followed is a path without the links that the script itself has made.
func (sh *shell) followed(p string) string {
	for n := 0; n < maxLinks && len(sh.a.links) > 0; n++ {
		before := p
		for at := p; at != "/" && at != "."; at = path.Dir(at) {
			if to, ok := sh.a.links[at]; ok {
				p = path.Join(to, p[len(at):])
				break
			}
		}
		if p == before {
			return p
		}
	}
	return p
}

// made is what the script itself wrote to a file; nil: it did not.
func (sh *shell) made(w word) *sink {
	if abs := sh.absolute(w); abs != "" {
		return sh.a.files[abs]
	}
	return nil
}

// chdir goes to a folder. Where nothing checks whether that worked, the shell may as
// well still be where it was.
func (sh *shell) chdir(w word) {
	d := &sh.dir
	target, old := "", known(d.path)
	old.Dynamic = !d.known || len(d.or) > 0
	if strings.HasPrefix(w.Text, "/") || d.known {
		target = sh.followed(absolute(w.Text, d.path))
	}
	if sure := !w.vague() && target != "" && (sh.errexit && sh.tested == 0 || sh.stands(target)); d.known && d.path != "" && !sure {
		if d.or = join(d.or, []string{d.path}); len(d.or) > maxPlaces {
			d.known = false
		}
	}
	like := sh.folderLike(w)
	d.like = ""
	if w.vague() || w.Text == "" {
		d.known, d.like = false, like
		return
	}
	if !strings.HasPrefix(w.Text, "/") && !d.known {
		return
	}
	d.path, d.known = target, true
	sh.set("OLDPWD", old)
}

// keep notes the files that a program makes, with what is known of them.
func (sh *shell) keep(name string, e program.Effect, writes []word) {
	switch name {
	case "chmod", "chown", "chgrp", "touch", "chattr", "setfacl":
		return // the text stays as it is
	case "ln":
		sh.link(e.Operands)
		return
	case "cp", "mv", "install", "rsync":
		if sh.moved(e.Operands) {
			return
		}
	}
	for _, w := range writes {
		if abs := sh.absolute(w); abs != "" && abs != "/dev/null" {
			s := &sink{from: join([]string{name}, sh.in.From)}
			if name == "tee" && !sh.uncertain && !slices.Contains(e.Flags, "-a") {
				s.known = true
				s.write(sh.in.Text, sh.in.Known)
			}
			sh.a.files[abs] = s
		}
	}
}

// link notes ln: all that goes through the new name goes to the old one.
func (sh *shell) link(operands []program.Word) {
	if len(operands) == 0 {
		return
	}
	last := operands[len(operands)-1]
	for i, target := range operands {
		if i > 0 && i == len(operands)-1 {
			break
		}
		at := sh.absolute(word{Word: last})
		if len(operands) != 2 {
			at = path.Join(at, path.Base(target.Text))
		}
		if len(operands) == 1 {
			at = sh.absolute(literal(path.Base(target.Text)))
		}
		if at == "" || target.Dynamic {
			sh.a.unsure("a link of which an end is only known at run time")
			continue
		}
		to := absolute(target.Text, path.Dir(at))
		sh.setLink(at, to)
		sh.setLink(path.Join(at, path.Base(target.Text)), to) // where the new name is a folder
		sh.a.files[at] = &sink{from: []string{"ln"}}
	}
}

func (sh *shell) setLink(at, to string) {
	if at != to {
		sh.a.links[at] = to
	}
}

// moved notes cp and mv: the new file has the old one's text, and a link stays one.
func (sh *shell) moved(operands []program.Word) bool {
	if len(operands) != 2 {
		return false
	}
	from, to := operands[0], operands[1]
	if from.Dynamic || to.Dynamic || !sh.dir.known {
		return false
	}
	a, b := absolute(from.Text, sh.dir.path), absolute(to.Text, sh.dir.path)
	content := &sink{from: []string{"cp"}}
	if old := sh.a.files[a]; old != nil {
		content = old.copy()
	}
	for _, at := range []string{b, path.Join(b, path.Base(a))} {
		sh.a.files[at] = content
		if target, ok := sh.a.links[a]; ok {
			sh.setLink(at, target)
		}
	}
	return true
}
