package rulefile

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Named are the files that are meant: those named, and the rule files of the
// folders named, with their packs and tests.
func Named(args []string) (names []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			names = append(names, arg)
			continue
		}
		files, err := ReadDir(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if filepath.Ext(name) == ".yaml" {
				names = append(names, filepath.Join(arg, filepath.FromSlash(name)))
			}
		}
	}
	return names, nil
}
