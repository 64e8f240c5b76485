package servers

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Where a Prompted model reads, and the number in a message that its luck depends on.
const (
	ThereMD = "there.md"
	GoneMD  = "gone.md"
)

var numbered = regexp.MustCompile(`read number (\d+)`)

// Prompted is a model that does better with a prompt, for experiments: asked to "read number N", it
// reads a file that is there; without the prompt, where N ends in 0 or 5, one that is not.
func Prompted(prompt string) script.Scenario {
	return script.Scenario{Name: "prompted", User: "read number ", Choose: func(q script.Request,
	) *script.Reply {
		for i := len(q.Messages) - 1; i >= 0; i-- { // a gateway puts a message of its own behind all others
			m := q.Messages[i]
			if m.Role == "tool" {
				done := script.Text("Done.")
				return &done
			}
			found := numbered.FindStringSubmatch(m.Text)
			if m.Role != "user" || found == nil {
				continue
			}
			path := ThereMD
			if n, _ := strconv.Atoi(found[1]); n%5 == 0 && !bytes.Contains(q.Body, []byte(prompt)) {
				path = GoneMD
			}
			call := script.Native("read", fmt.Sprintf(`{"path":%q}`, path))
			call.Calls[0].ID = fmt.Sprintf("chatcmpl-tool-%s-%d", found[1], i)
			return &call
		}
		return nil
	}}
}
