package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
)

// mendable is a kind of repair that this program can make.
type mendable int

const (
	nothing     mendable = iota
	makeFolder           // create a missing folder
	closeFolder          // remove the rights of others
	mergeConfig          // merge our settings into an openclaw.json, with a backup
)

// mend describes how to mend a finding; the zero value: not here.
type mend struct {
	kind mendable
	path string
	mode fs.FileMode
}

// Mend repairs what it can, each thing once, and returns a line for each. It continues after a failure.
func (p *Patient) Mend(ctx context.Context, r *Diagnosis) (did []string) {
	seen := map[mend]bool{}
	for _, c := range r.Checks {
		m := c.mend
		if c.Status == ok || m.kind == nothing || seen[m] {
			continue
		}
		seen[m] = true
		what, err := "", error(nil)
		switch m.kind {
		case makeFolder:
			what, err = "made the folder "+m.path, os.MkdirAll(m.path, m.mode)
		case closeFolder:
			what, err = fmt.Sprintf("set the mode of %s to %o", m.path, m.mode), os.Chmod(m.path, m.mode)
		case mergeConfig:
			what, err = "merged the settings into "+m.path, p.merge(ctx, m.path)
		}
		if err != nil {
			what = c.Name + " is not mended: " + err.Error()
		}
		did = append(did, what)
	}
	return did
}

func (p *Patient) merge(ctx context.Context, path string) error {
	n, err := p.connector(ctx)
	if err != nil {
		return err
	}
	return n.Write(ctx, path)
}
