package built

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a part of the program brings with it.
type Kind int

// The kinds.
const (
	Command Kind = iota
	Setting
	Key // of a rule file, as FILE KEY
)

func (k Kind) String() string { return [...]string{"command", "setting", "key"}[k] }

// parts are the parts of the whole program, each with its commands, settings and keys, with commas between.
var parts = []struct {
	name string
	has  [3]string
}{
	{"trace", [3]string{Key: "limits.yaml trace"}},
	{"replicas", [3]string{
		Setting: "shared,shared_user,shared_password,shared_ca,shared_prefix,shared_wait"}},
	{"experiment", [3]string{Command: "experiments,capture"}},
	{"run", [3]string{Command: "runs", Setting: "workspace_tools,gateway,gateway_token,gateway_session"}},
	{"confine", [3]string{Command: "confine,git-ssh", Setting: "confine,egress"}},
	{"console", [3]string{Setting: "console", Key: "limits.yaml console"}},
	{"eval", [3]string{Command: "eval,noise"}},
	{"setup", [3]string{Command: "connect,openclaw,doctor,cost,probe,demo"}},
}

// Parts are the names of all parts.
func Parts() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// Brings are the things of a kind that a part brings.
func Brings(part string, kind Kind) []string {
	for _, p := range parts {
		if p.name == part && p.has[kind] != "" {
			return strings.Split(p.has[kind], ",")
		}
	}
	return nil
}

// Without says why something is unknown that a part would have brought; empty: none would have.
func Without(kind Kind, name string) string {
	for _, p := range parts {
		if slices.Contains(Brings(p.name, kind), name) {
			return fmt.Sprintf("the %s `%s` belongs to the part %s, which this program was built without",
				kind,
				name[strings.LastIndex(name, " ")+1:], p.name)
		}
	}
	return ""
}
