package ruleset_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

var commentedKey = regexp.MustCompile(`(?m)^#([a-z_]+: )`)

// The config file to begin with can be read as it is, and so can all that stands in it behind
// a #; nothing that can be set is missing.
func TestConfigToBeginWith(t *testing.T) {
	const name = "../../deploy/config.yaml"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	noVariables := func(string) (string, bool) { return "", false }
	plain, whole := config.Settings{Parts: stage.Settings()}, config.Settings{Parts: stage.Settings()}
	if p := plain.Read(name, string(doc), noVariables); len(p) > 0 {
		t.Error(p)
	}
	all := commentedKey.ReplaceAllString(string(doc), "$1")
	if p := whole.Read(name, all, noVariables); len(p) > 0 {
		t.Error(p)
	}
	for _, s := range whole.All() {
		if *s.Text == "" || !strings.Contains(all, "\n"+s.Key+": ") {
			t.Errorf("it does not show %s", s.Key)
		}
	}
}
