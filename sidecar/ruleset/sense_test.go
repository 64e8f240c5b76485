package ruleset

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// TestValuesWithoutSense: a value of the right type that can do nothing, or only harm, is refused
// in its file.
func TestValuesWithoutSense(t *testing.T) {
	const model = "version: 1\nmodels:\n  - "
	for _, c := range []struct{ file, old, new, want string }{
		{modelsFile, "", model + "{id: '', about: x, mode: provider}\n", `"" cannot be an id`},
		{modelsFile, "", model + "{id: \"a b\\nc\", about: x, mode: provider}\n", `"a b\nc" cannot be an id`},
		{modelsFile, "", model + "{id: a, about: x, mode: provider, sampling: {temperature: .nan}}\n", "sampling of a cannot set temperature"},
		{modelsFile, "", model + "{id: a, about: x, mode: provider, sampling: {n: 2}}\n", "sampling of a cannot set n"},
		{modelsFile, "", model + "{id: a, about: x, mode: provider, sampling: {stream: true}}\n", "sampling of a cannot set stream"},
		{modelsFile, "", model + "{id: 'openai/gpt-oss:20b', about: x, mode: provider, sampling: {min_tokens: 3, temperature: 1, stop: [x]}}\n", ""},
		{recoveryFile, "text: 'The call of {tool} was not made: {why} Call", "text: '' # '", "text is empty"},
		{serversFile, "detect:\n      - {path: /api/version,", "detect:\n      - {path: '',", "has no path"},
		{serversFile, "effort: {field: reasoning_effort,", "effort: {field: '',", "names no field"},
	} {
		files := shipped(t)
		if c.old == "" {
			files[c.file] = c.new
		} else {
			files[c.file] = testkit.Replace(t, files[c.file], c.old, c.new, 1)
		}
		_, problems := untried(files)
		if c.want == "" && problems.Fatal() || c.want != "" && (len(problems) == 0 ||
			problems[0].File != c.file || problems[0].Line == 0 ||
			!strings.Contains(problems.Error(), c.want)) {
			t.Errorf("%s: %s: %v", c.file, c.new, problems)
		}
	}
}
