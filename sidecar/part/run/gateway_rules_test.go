package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A tool of a plugin stands in an extra file; what is wrong with it is said at its place.
func TestGatewayTools(t *testing.T) {
	for doc, want := range map[string]string{
		`  tide_table: {description: Tides., parameters: {"type": "object", "properties": {"harbour": {"type": "string"}}}}`: "",
		`  tide table: {description: Tides., parameters: {type: object}}`:                                                    `gateway.ours.yaml:3:3: "tide table" is no name of a tool`,
		`  tide_table: {description: Tides., parameters: {type: string}}`:                                                    "gateway.ours.yaml:3:3: the parameters of tide_table have no type: object",
		`  tide_table: {description: Tides., parameters: {type: object, required: 1}}`:                                       "gateway.ours.yaml:3:3: the parameters of tide_table are no JSON Schema",
		`  tide_table: {description: Tides.}`:                                                                                "tide_table lacks parameters",
	} {
		files := rulefile.Files{}
		files["extra/gateway.ours.yaml"] = "version: 1\ntools:\n" + doc + "\n"
		set, problems := ruletest.Load(t, files, gatewaySection())
		if want != "" {
			if set != nil || !strings.Contains(problems.Error(), want) {
				t.Errorf("%s\n%v\nwant %s", doc, problems, want)
			}
			continue
		}
		named := func(name string) bool {
			return slices.ContainsFunc(*ruleset.Of[gatewayTools](set), func(t tools.Tool) bool {
				return t.Name == name && strings.HasPrefix(string(t.Parameters), "{")
			})
		}
		if set == nil || !named("tide_table") || !named("web_search") {
			t.Errorf("%v", problems)
		}
	}
}
