package turn

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

func TestDeferred(t *testing.T) {
	const via = `"tools":[{"type":"function","function":{"name":"tool_call"}}],`
	const list = `Be kind.\n\nAvailable deferred-schema tools:\n- browser_open (browser): Opens a page: any.\n- notes.add: Adds\n- bare\n\nMore.\n- no_tool (x): y`
	for _, row := range []struct{ tools, role, content, want string }{
		{via, "system", `"` + list + `"`, "browser_open notes.add bare"},
		{via, "developer", `"` + list + `"`, "browser_open notes.add bare"},
		{via, "system", `[{"type":"text","text":"` + list + `"}]`, "browser_open notes.add bare"},
		{via, "user", `"` + list + `"`, ""},
		{"", "system", `"` + list + `"`, ""},
		{via, "system", `"Available tools:\n- x (y): z"`, ""},
		{via, "system", `"Available deferred-schema tools:"`, ""},
		{via, "system", `"Available deferred-schema tools:\n- \n-  x\n- y"`, "y"},
	} {
		req, err := openai.ParseRequest([]byte(`{` + row.tools + `"messages":[{"role":"` + row.role +
			`","content":` + row.content + `},{"role":"user","content":"go"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(deferredTools(req), " "); got != row.want {
			t.Errorf("%s %s: %q, want %q", row.role, row.content, got, row.want)
		}
	}
}
