package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What probe says of servers that call tools or do not, and follow a schema or do not.
func TestProbe(t *testing.T) {
	for _, row := range []struct {
		name          string
		tools, schema bool
		want          []string
	}{
		{"all", true, true, []string{"tools       it takes them", "schema      it follows one", "style       native"}},
		{"a schema", false, true, []string{"tools       it cannot call them", "schema      it follows one", "style       guided_json"}},
		{"nothing", false, false, []string{"does not support tools", "schema      it does not follow one", "it said Hello!", "style       react"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			model := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
				r := script.Text("Hello!")
				switch word := gjson.GetBytes(q.Body,
					"response_format.json_schema.schema.properties.verdict.enum.0").Str; {
				case len(q.Tools) > 0 && !row.tools:
					r = script.Fail(http.StatusBadRequest, "gpt-oss does not support tools")
				case row.schema && word != "":
					r = script.Text(`{"verdict":"` + word + `"}`)
				}
				return &r
			}})
			srv := httptest.NewServer(model)
			t.Cleanup(srv.Close)
			var out, errs bytes.Buffer
			code := Run([]string{"probe", "--upstream", srv.URL},
				Env{Parts: Parts, Out: &out, Err: &errs, Defaults: os.DirFS(testkit.Root())})
			for _, want := range append(row.want, "server      vllm", "models      openai/gpt-oss-20b",
				"window      131072 tokens") {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			if code != 0 || errs.Len() > 0 {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
		})
	}
	var out, errs bytes.Buffer
	if code := Run([]string{"probe", "--upstream", "http://127.0.0.1:1"},
		Env{Parts: Parts, Out: &out, Err: &errs, Defaults: os.DirFS(testkit.Root())}); code != 1 ||
		!strings.Contains(errs.String(), "probe http://127.0.0.1:1/v1: ") {
		t.Errorf("%d %s", code, errs.String())
	}
	if code := Run([]string{"probe", "--model", "other"},
		Env{Parts: Parts, Out: &out, Err: &errs, Defaults: os.DirFS(testkit.Root())}); code != 2 ||
		!strings.Contains(errs.String(), "models.yaml has no model other") {
		t.Errorf("%d %s", code, errs.String())
	}
}
