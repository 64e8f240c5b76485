package e2e

import (
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// silence: a gateway that waits for 4 s at most stays with a model that thinks for longer, over
// each API, before the first word and after it.
func (b *bench) silence(t *testing.T) (play func(t *testing.T)) {
	for _, api := range apis {
		before, between := script.Text("Here I am.").Thinking("Hm."),
			script.Text("Here I am.").Thinking("Hm.")
		before.Delay, between.Pause = 10*time.Second, 6*time.Second
		b.api = api
		b.add(t, api, script.VLLM(), []script.Scenario{{Name: "before", User: user("before"),
			Steps: []script.Reply{before}}, {Name: "between", User: user("between"),
			Steps: []script.Reply{between}}})
		b.hasty = append(b.hasty, api)
	}
	return func(t *testing.T) {
		for _, api := range apis {
			for _, when := range []string{"before", "between"} {
				t.Run(api+"/"+when, func(t *testing.T) {
					t.Parallel()
					if a := b.say(t, api, api+"-"+when, when); a.text != "Here I am." {
						t.Errorf("the user got %d %s", a.status, a.raw)
					}
					if n := len(b.servers[api].Requests(when)); n != 1 {
						t.Errorf("the model was asked %d times", n)
					}
				})
			}
		}
	}
}
