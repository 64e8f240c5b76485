package parse

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Matcher is how a strategy of kind pattern reads what begins with one of its
// literals. The zero Until is UntilLine.
type Matcher struct {
	Find *regexp.Regexp // each match is a call; its groups are tool and args
	// each match in args is an argument; its groups are key and value. nil: args is JSON, or text
	Each  *regexp.Regexp
	Tool  string // the tool where Find names none
	Until Until  // what ends a candidate where no literal does
}

// Until is what ends a candidate that has no closing literal.
type Until string

// The ends of a candidate.
const (
	UntilLine  Until = "line"  // its line; JSON in args may go on behind it
	UntilReply Until = "reply" // the reply
)

// Most bounds the calls of one candidate, and the arguments of one call.
const Most = 128

// Check says what of a matcher cannot be read with.
func (m *Matcher) Check() error {
	switch {
	case m.Find == nil:
		return errors.New("needs find: a regular expression that finds the calls")
	case m.Each != nil && m.Each.SubexpIndex("key") < 0:
		return errors.New("each needs a group key")
	case m.Until != "" && m.Until != UntilLine && m.Until != UntilReply:
		return fmt.Errorf("until %q is none of line, reply", m.Until)
	}
	return nil
}

// Match is one match of Find.
type Match struct {
	Name string // "": nothing names the tool
	Args string
	Read bool // Args could be read
	JSON int  // where JSON begins that stands in place of Args, or -1
	End  int
}

// Next finds the next call in v[at:end]; its arguments stand in front of v[inside:]. named is the tool
// that the opening literal named, if one did.
func (m *Matcher) Next(v string, at, inside, end int, named string) (found Match, ok bool) {
	g := m.Find.FindStringSubmatchIndex(v[at:end])
	if g == nil || g[0] == g[1] {
		return Match{}, false
	}
	found = Match{Name: named, Args: "{}", Read: true, JSON: -1, End: at + g[1]}
	if m.Tool != "" {
		found.Name = m.Tool
	}
	if from, to := group(m.Find, g, "tool"); from < to {
		found.Name = strings.TrimSpace(v[at+from : at+to])
	}
	from, to := group(m.Find, g, "args")
	if from += at; from >= inside {
		return found, found.Name != ""
	}
	to = min(at+to, inside)
	args := strings.TrimSpace(v[from:to])
	switch {
	case args == "":
	case m.Each != nil:
		found.Args, found.Read = m.object(v[from:to])
	case args[0] == '{' || args[0] == '[':
		found.JSON = scan.SkipSpace(v, from)
	default:
		found.Args = args
	}
	return found, found.Name != ""
}

// object makes a JSON object of arguments that Each finds. It is false where they
// cannot be read: a call without them would be another one.
func (m *Matcher) object(s string) (args string, ok bool) {
	matches := m.Each.FindAllStringSubmatchIndex(s, Most+1)
	if len(matches) == 0 || len(matches) > Most {
		return "", false
	}
	own := m.Each.SubexpIndex("value") >= 0
	var members []string
	for i, g := range matches {
		from, to := group(m.Each, g, "key")
		key := strings.TrimSpace(s[from:to])
		if from, to = group(m.Each, g, "value"); !own { // what stands up to the next key
			if from, to = g[1], len(s); i+1 < len(matches) {
				to = matches[i+1][0]
			}
		}
		value := s[from:to]
		if !own {
			value = strings.TrimSpace(value)
		}
		members = append(members, key, value)
	}
	return jsontext.Object(members...), true
}

// group is where a named group of a match stands; 0, 0 where it matched nothing.
func group(re *regexp.Regexp, match []int, name string) (from, to int) {
	if i := re.SubexpIndex(name); i >= 0 && match[2*i] >= 0 {
		return match[2*i], match[2*i+1]
	}
	return 0, 0
}
