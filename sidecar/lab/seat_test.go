package lab

import (
	"fmt"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Who is in it: whoever the request names, and nobody by a trace alone, which is another one in each turn.
func TestUnits(t *testing.T) {
	for unit, rows := range map[string]map[experiment.Asking]bool{
		"session": {{Session: "alice"}: true, {}: false, {User: "alice", Agent: "main"}: false, {Session: "trace:4bf92f3577b34da6a3ce929d0e0e4736"}: false},
		"user":    {{User: "alice"}: true, {Session: "alice"}: false, {User: "alice", Session: "trace:4bf92f3577b34da6a3ce929d0e0e4736"}: true},
		"agent":   {{Agent: "main"}: true, {Session: "alice"}: false},
	} {
		l, set := open(t, "", &clock{time.Now()}), rules(t, "    unit: "+unit+"\n")
		for who, in := range rows {
			if seat := l.Seat(set, "", who); (seat != nil) != in {
				t.Errorf("%s: %+v has the seat %v", unit, who, seat)
			}
		}
	}
}

// The result of a call counts for the arm that the call left from, also where nobody names a session and
// the server gives all calls the same id.
func TestResultsOfUsers(t *testing.T) {
	l, set := open(t, "", &clock{time.Now()}), rules(t, "    unit: user\noutcomes: {failed: [{find: '^Error: '}]}\n")
	seat := func(user string) *Seat { return l.Seat(set, "", experiment.Asking{User: user}) }
	users := map[string]string{} // by arm
	for i := 0; len(users) < 2; i++ {
		user := fmt.Sprint("alice", i)
		users[seat(user).Arms()] = user
	}
	for _, user := range users {
		seat(user).Heard(&turn.Heard{IDs: []string{"call_0"}, Reading: &parse.Reading{Calls: []tools.Call{{Name: "read", Arguments: []byte("{}")}}}})
	}
	for arm, result := range map[string]string{"one/control": "fine", "one/new": "Error: it failed"} {
		req, err := openai.ParseRequest(fmt.Appendf(nil, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":%q}]}`, result))
		ruletest.Must(t, err)
		seat(users[arm]).Asked(req)
	}
	for i, want := range []float64{1, 0} {
		if m := l.Reports(set)[0].Arms[i].Of(experiment.ToolOK); m == nil || m.N != 1 || m.Value != want {
			t.Errorf("arm %d: %+v, want %g", i, m, want)
		}
	}
}
