package cli

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// TestCheckFormats: what check says is a contract, in every format.
func TestCheckFormats(t *testing.T) {
	v := verdict{Version: "0123456789ab", Problems: rulefile.Problems{
		{File: "rules/urls.yaml", Line: 3, Col: 48, EndCol: 54, Code: "W-unreachable", Msg: "tool_class is never reed here",
			Hint: "did you mean read?", Source: "  - {id: reads, deny: No., when: tool_class == 'reed'}",
			Warning: true},
		{File: "rules/a:b,c%.yaml", Code: "E-file", Msg: "no rule file has this name"},
		{File: "rules/models.yaml", Line: 9, Col: 12, EndCol: 14, Code: "E-value", Msg: "mode cannot be <日本>: 100% wrong", Hint: "one of: provider,\r\nexecutor", Source: "    mode:  日本"},
	}}
	v.count(false)
	unreadable := verdict{Err: errors.New("read rules: no")}
	unreadable.Problems = rulefile.Problems{{File: "rules", Code: "E-file", Msg: unreadable.Err.Error()}}
	unreadable.count(false)
	for name, v := range map[string]verdict{"problems": v, "unreadable": unreadable} {
		for _, f := range formats {
			var out, errs bytes.Buffer
			said := v.write(f, Env{Parts: Parts, Out: &out, Err: &errs})
			if (said != nil) != (v.Err != nil && f == "text") {
				t.Errorf("%s, %s: %v", name, f, said)
			}
			golden := "testdata/check/" + name + "." + f
			got := out.String() + errs.String()
			if said != nil {
				got += "ends with: " + said.Error() + "\n" // the program prints it
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		}
	}
}
