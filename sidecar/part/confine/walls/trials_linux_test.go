package walls

import "testing"

// The commands of trials work bare and are stopped here, so on another system they show what
// is not.
func TestTrials(t *testing.T) {
	offer := Probe()
	if !offer.Has(PartFiles) || !offer.Has(PartBelow) {
		t.Skip("this machine cannot confine")
	}
	missing, err := runTrials(Run)
	if err != nil || len(missing) > 0 {
		t.Errorf("%v %q", err, missing)
	}
	let := func(b Box, std Streams) (int, error) {
		b.Write, b.Fixed, b.Deny = []string{"/"}, nil, nil
		return Run(b, std)
	}
	if missing, err = runTrials(let); err != nil || missing[PartFiles] == "" || missing[PartBelow] == "" ||
		missing[PartTCP] != "" {
		t.Errorf("with all files: %v %q", err, missing)
	}
}
