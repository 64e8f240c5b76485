package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// promotion returns the files of a folder in which an arm is the rule and the experiment is stopped. The
// settings of the arm go to extra/FILE.EXPERIMENT.yaml, or to an extra file that already sets them. The
// error names what is missing, or is Problems.
func promotion(id, arm string) live.Promotion {
	return func(loader ruleset.Loader, files rulefile.Files) (rulefile.Files, error) {
		texts, err := loader.Over(files, func(s *ruleset.Set) (*ruleset.Overlay, error) {
			_, found, err := Of(s).Find(id, arm)
			if err != nil {
				return nil, err
			}
			return &found.Overlay, nil
		})
		if err != nil {
			return nil, err
		}
		texts[rulesName] = fmt.Sprintf("version: 1\nexperiments:\n  - id: %s\n    status: stopped\n", id)
		out := files.Own()
		for name, text := range texts {
			if err := promote(out, name, text, id, arm); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// promote adds the settings of an arm for one file to the files of a folder. Two extra files cannot set
// different values, so an extra file with another value is changed.
func promote(own rulefile.Files, name, text, id, arm string) (err error) {
	for _, extra := range slices.Sorted(maps.Keys(own)) {
		if text == "" || rulefile.ExtraOf(extra) != name {
			continue
		}
		if own[extra], text, err = rulefile.Amend(own[extra], text); err != nil {
			return fmt.Errorf("read %s: %w", extra, err)
		}
	}
	if text == "" {
		return nil
	}
	stem := rulefile.ExtraFolder + "/" + strings.TrimSuffix(name, ".yaml") + "." + id
	file := stem + ".yaml"
	for n := 2; own.Has(file); n++ { // earlier promotions stay
		file = fmt.Sprintf("%s-%d.yaml", stem, n)
	}
	own[file] = fmt.Sprintf("# The arm %s of the experiment %s.\n%s", arm, id, text)
	return nil
}
