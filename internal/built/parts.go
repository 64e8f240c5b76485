package built

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of what a part of the program provides.
type Kind int

// The kinds.
const (
	Command Kind = iota
	Setting
	RuleFile
	Limit // a key of limits.yaml
	kinds
)

func (k Kind) String() string { return [kinds]string{"command", "setting", "rule file", "key"}[k] }

// parts are the parts of the whole program, with what each provides.
var parts = []struct {
	name string
	has  [kinds]string
}{
	{"trace", [kinds]string{Limit: "trace"}},
	{"replicas", [kinds]string{
		Setting: "shared,shared_user,shared_password,shared_ca,shared_prefix,shared_wait"}},
	{"experiment", [kinds]string{Command: "experiments,capture", RuleFile: "experiments.yaml"}},
	{"run", [kinds]string{Command: "runs", Setting: "workspace_tools,gateway,gateway_token,gateway_session",
		RuleFile: "runs.yaml,gateway.yaml"}},
	{"confine", [kinds]string{Command: "confine,git-ssh", Setting: "confine,egress",
		Limit: "confined,network"}},
	{"console", [kinds]string{Setting: "console", Limit: "console"}},
	{"eval", [kinds]string{Command: "eval,noise"}},
	{"setup", [kinds]string{Command: "connect,openclaw,doctor,cost,demo"}},
}

// Parts returns the names of all parts.
func Parts() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// Brings returns what a part provides of a kind.
func Brings(part string, kind Kind) []string {
	for _, p := range parts {
		if p.name == part && p.has[kind] != "" {
			return strings.Split(p.has[kind], ",")
		}
	}
	return nil
}

// Without returns why something unknown is missing that a part provides, or "".
func Without(kind Kind, name string) string {
	for _, p := range parts {
		if slices.Contains(Brings(p.name, kind), name) {
			return fmt.Sprintf("the %s `%s` belongs to the part %s, which this program was built without", kind,
				name, p.name)
		}
	}
	return ""
}
