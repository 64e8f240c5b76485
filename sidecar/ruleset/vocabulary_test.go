package ruleset

import (
	"strings"
	"testing"
)

// TestVariablesAreDescribed: whatever a condition sees has a type with a plain
// name, and a sentence.
func TestVariablesAreDescribed(t *testing.T) {
	for _, c := range Full.Vars().Conditions {
		if len(c.Variables) == 0 {
			t.Errorf("%s %s sees nothing", c.File, c.Key)
		}
		for _, v := range c.Variables {
			if strings.Contains(v.Type, "anything") && v.Type != "mapping of anything" ||
				!strings.HasSuffix(v.About, ".") {
				t.Errorf("%s %s: %+v", c.File, c.Key, v)
			}
		}
	}
}
