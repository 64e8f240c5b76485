package paths

import "io/fs"

// Inside lists what a folder of the agent holds that is not for the programs that run there.
type Inside struct {
	Secrets []string // files, and folders with everything below; links are followed
	Stores  []string // folders that hold a .git
}

// Inside searches a folder of the agent by names. It misses secrets with other names, and what lies beyond
// the first few thousand names.
func (g Guard) Inside(folder string) (in Inside) {
	if g.Links == nil {
		return in
	}
	remaining := maxBelow
	for folders := []string{folder}; len(folders) > 0; folders = folders[1:] {
		entries, _ := g.list(folders[0], &remaining) // what cannot be listed cannot be read either
		for _, e := range entries {
			p := join(folders[0], e.Name())
			if e.Name() == ".git" {
				in.Stores = append(in.Stores, folders[0])
			}
			switch {
			case g.secret(p, e):
				if file := g.target(p, e); file != "" {
					in.Secrets = append(in.Secrets, file)
				}
			case e.IsDir() && !published()[e.Name()]:
				folders = append(folders, p)
			}
		}
	}
	return in
}

// secret reports whether an entry has the name of a secret.
func (g Guard) secret(p string, e fs.DirEntry) bool {
	class, _ := g.entryClass(p, e)
	return class == Secret || class == WorkspaceSecret || class == Control
}

// target returns where a secret lies; empty for a link to a folder, which could name everything.
func (g Guard) target(p string, e fs.DirEntry) string {
	if e.Type()&fs.ModeSymlink == 0 {
		return p
	}
	if at := g.place(Read, p, false); at.Mode.IsRegular() && at.there() {
		return at.path
	}
	return ""
}
