package paths

import "io/fs"

// Inside is what stands in a folder that an agent may change, and is not for whatever runs there.
type Inside struct {
	Secrets []string // files, and folders with all below; links are followed
	Stores  []string // folders that have a .git
}

// Inside looks through a folder of the agent by the names in it. What it does not know as a
// secret by its name, and what lies deeper than the first few thousand names, it does not find.
func (g Guard) Inside(folder string) (in Inside) {
	if g.Links == nil {
		return in
	}
	left := maxBelow
	for folders := []string{folder}; len(folders) > 0; folders = folders[1:] {
		entries, _ := g.list(folders[0], &left) // what cannot be listed cannot be read either
		for _, e := range entries {
			p := join(folders[0], e.Name())
			if e.Name() == ".git" {
				in.Stores = append(in.Stores, folders[0])
			}
			switch {
			case g.secret(p, e):
				if file := g.behind(p, e); file != "" {
					in.Secrets = append(in.Secrets, file)
				}
			case e.IsDir() && !fetched()[e.Name()]:
				folders = append(folders, p)
			}
		}
	}
	return in
}

// secret says whether the name of an entry is that of a secret.
func (g Guard) secret(p string, e fs.DirEntry) bool {
	at := place{path: p, op: Read, Entry: Entry{Mode: e.Type(), Names: 1}}
	root, write := g.root(p)
	class, _ := g.special(&at, root, write)
	return class == Secret || class == WorkspaceSecret || class == Control
}

// behind is where a secret lies. A link to a folder is none: it could name all that there is.
func (g Guard) behind(p string, e fs.DirEntry) string {
	if e.Type()&fs.ModeSymlink == 0 {
		return p
	}
	if at := g.place(Read, p, false); at.Mode.IsRegular() && at.there() {
		return at.path
	}
	return ""
}
