package cli

import (
	"os"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Models that run tools of their own are only named for a serve that has some.
func TestOpenclawModels(t *testing.T) {
	set, err := loadRules("", "", Env{Defaults: os.DirFS("../..")})
	if err != nil {
		t.Fatal(err)
	}
	for _, runs := range []bool{false, true} {
		providers := openclawSettings(set, "http://127.0.0.1:8001/v1", "", 131072, 8192, runs)["models"].(object)["providers"].(object)
		var ids []string
		for _, m := range providers["gpt-oss-executor"].(object)["models"].([]object) {
			ids = append(ids, m["id"].(string))
		}
		for _, m := range set.Models {
			if want := runs || m.Mode != ruleset.Executor; slices.Contains(ids, m.ID.Value) != want {
				t.Errorf("--executor %v: %s named is not %v: %v", runs, m.ID.Value, want, ids)
			}
		}
	}
}
