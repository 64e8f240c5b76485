package ruleset

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// TestKinds: whoever adds a kind of strategy says so wherever kinds are listed.
func TestKinds(t *testing.T) {
	rule, _ := reflect.TypeFor[strategyRule]().FieldByName("Kind")
	lock, _ := reflect.TypeFor[lockedStrategies]().FieldByName("Kinds")
	guide, err := os.ReadFile("../../rules/README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(shipped(t)[strategiesFile], "\nversion:")
	var kinds []string
	for _, k := range parse.Kinds() {
		kinds = append(kinds, string(k))
		for place, says := range map[string]bool{
			"the doc of kind in strategyRule": slices.Contains(strings.FieldsFunc(rule.Tag.Get("doc"),
				func(r rune) bool { return r == ' ' || r == ':' }), string(k)),
			"the head of strategies.yaml":  strings.Contains(head, " "+string(k)),
			"the table of rules/README.md": strings.Contains(string(guide), "\n| `"+string(k)+"` | "),
		} {
			if !says {
				t.Errorf("%s does not name the kind %s", place, k)
			}
		}
	}
	kinds = append(kinds, blockKind, patternKind) // of earlier versions
	for place, field := range map[string]reflect.StructField{"strategyRule": rule, "lockedStrategies": lock} {
		if one := strings.Fields(field.Tag.Get("one")); !slices.Equal(one, kinds) {
			t.Errorf("%s takes %v, and the parser %v", place, one, kinds)
		}
	}
}
