package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
)

// mendable is what can be mended here: what is ours.
type mendable int

const (
	nothing     mendable = iota
	makeFolder           // make a folder that is not there
	closeFolder          // take the rights of others away
	mergeConfig          // merge our settings into an openclaw.json, with a backup beside it
)

// mend is how a finding is mended; the zero one: not here.
type mend struct {
	kind mendable
	path string
	mode fs.FileMode
}

// Mend mends what is ours of a report, each thing once, and says what it did, a line each. It goes
// on behind what it cannot mend.
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
