package service

import (
	"errors"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

func TestGreeting(t *testing.T) {
	set := ruletest.Shipped(t)
	full := greeting{
		version: "v1.2.3", chat: "http://127.0.0.1:8001/v1", admin: "http://127.0.0.1:8002", console: true,
		answers: true, token: true, confined: true, set: set, folder: "./rules", shared: "valkey:6379",
		upstreams: []upstream.FleetState{{Address: "http://127.0.0.1:8000/v1", Server: "vllm", Window: 131072},
			{Address: "http://10.0.0.2/v1", Server: "ollama"}},
	}
	bare := greeting{
		chat: "http://127.0.0.1:8001/v1", set: set, folder: "the built-in rules",
		trouble:   errors.New("it is no model server"),
		upstreams: []upstream.FleetState{{Address: "http://127.0.0.1:8000/v1", Why: "it cannot be reached"}},
	}
	lost := greeting{admin: "http://127.0.0.1:8002", set: set,
		trouble: errors.New("no model of it is gpt-oss")}
	for _, row := range []struct {
		g    greeting
		want string
	}{
		{full, `gpt-oss-executor v1.2.3
  for agents   http://127.0.0.1:8001/v1
  model server http://127.0.0.1:8000/v1  vllm, a window of 131072 tokens
  model server http://10.0.0.2/v1  ollama
  models       gpt-oss, executor, gpt-oss-20b, gpt-oss-120b
  rules        ./rules  version ` + set.Version + `
  policy       profile developer
  commands     run confined where the gateway runs them
  replicas     share valkey:6379
  console      http://127.0.0.1:8002/
`},
		{bare, `gpt-oss-executor (no version)
  for agents   http://127.0.0.1:8001/v1  no token is asked for
  model server http://127.0.0.1:8000/v1  it cannot be reached
               no request can be served yet
  models       gpt-oss, executor, gpt-oss-20b, gpt-oss-120b
  rules        the built-in rules  version ` + set.Version + `
  policy       profile developer; no person can answer what it asks about
  commands     are not confined where the gateway runs them
  console      off: set --admin 127.0.0.1:8002
`},
		{lost, `gpt-oss-executor (no version)
  for agents     no token is asked for
               no request can be served yet: no model of it is gpt-oss
  models       gpt-oss, executor, gpt-oss-20b, gpt-oss-120b
  rules          version ` + set.Version + `
  policy       profile developer; no person can answer what it asks about
  commands     are not confined where the gateway runs them
  admin API    http://127.0.0.1:8002
`},
	} {
		if got := row.g.String(); got != row.want {
			t.Errorf("%s\nwant\n%s", got, row.want)
		}
	}
}
