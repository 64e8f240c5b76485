package parse

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// Matcher is how a strategy of kind pattern reads what begins with one of its
// literals. The zero Until is UntilLine.
type Matcher struct {
	Find  *regexp.Regexp // each match is a call; its groups are tool and args
	Each  *regexp.Regexp // each match in args is an argument; its groups are key and value. nil: args is JSON, or text
	Tool  string         // the tool where Find names none
	Until Until          // what ends a candidate where no literal does
}

// Until is what ends a candidate that has no closing literal.
type Until string

// The ends of a candidate.
const (
	UntilLine  Until = "line"  // its line; JSON in args may go on behind it
	UntilReply Until = "reply" // the reply
)

// searchCost is the cost of searching a candidate without a hit, compared with holding it.
const searchCost = 4

// maxMatches bounds the calls of one candidate, and the arguments of one call.
const maxMatches = 128

func (st *Strategy) checkMatcher() error {
	m := &st.Matcher
	switch {
	case m.Find == nil:
		return st.errorf("needs find: a regular expression that finds the calls")
	case m.Each != nil && m.Each.SubexpIndex("key") < 0:
		return st.errorf("each needs a group key")
	case m.Until != "" && m.Until != UntilLine && m.Until != UntilReply:
		return st.errorf("until %q is none of line, reply", m.Until)
	}
	return nil
}

// edge is where a candidate ends: its inside at the first offset, all of it at the
// second. closed says that not just the reply has ended there.
type edge struct {
	inside, end int
	closed      bool
}

// edge finds the first end of a candidate at or behind from.
func (t *text) edge(v string, from int, eof bool) (edge, verdict) {
	until := t.open.st.Matcher.Until
	if len(t.closers) > 0 {
		if at, n := t.closing(v, from, eof); at >= 0 {
			return edge{at, at + n, true}, yes
		}
	} else if i := strings.IndexByte(v[from:], '\n'); i >= 0 && until != UntilReply {
		return edge{from + i, from + i, true}, yes
	}
	if !eof {
		return edge{}, wait
	}
	return edge{len(v), len(v), len(t.closers) == 0 && !t.r.length}, yes
}

// readPattern reads the calls of a candidate. v begins with the opening literal,
// which ends at from.
func (t *text) readPattern(v string, from int, eof bool) (block, verdict) {
	e, is := t.edge(v, from, eof)
	if is == wait {
		return block{}, wait
	}
	var b block
	at, value := 0, 0 // where the last match ends; and the last one, if it is JSON
	for len(b.calls) < maxMatches {
		m := t.match(v, at, e)
		if m.name == "" {
			break
		}
		at, value = m.end, 0
		if m.json < 0 {
			b.note(callcode.Call{Name: m.name, Args: m.args}, e.closed && m.read)
			continue
		}
		json := valueScan{at: m.json, stops: t.closers}
		whole := json.run(v, eof)
		switch {
		case !whole && !eof:
			return block{}, wait
		case !whole: // a quote or bracket that never closes
			b.cut = !e.closed && t.r.length
			b.note(callcode.Call{Name: m.name, Args: v[m.json:e.inside]}, true)
			at = e.end
			continue
		}
		at = json.cut(v)
		value = max(at, m.end)
		if at > e.end { // what looked like the end stands in the value
			if e, is = t.edge(v, at, eof); is == wait {
				return block{}, wait
			}
		}
		b.note(callcode.Call{Name: m.name, Args: v[m.json:at]}, true)
	}
	closed := e.closed && len(t.closers) > 0
	b.end = e.end
	switch {
	case len(b.calls) == 0 && !b.truncated:
		t.r.wasted += searchCost * e.end
		return b, no
	case value > 0 && !closed:
		b.end = value
	}
	return b, yes
}

// note takes a call that was read as a whole; any other is refused.
func (b *block) note(c callcode.Call, whole bool) {
	if whole {
		b.calls = append(b.calls, c)
	} else {
		b.truncated = true
	}
}

// match is one match of Find.
type match struct {
	name string // "": there is none
	args string
	read bool // args could be read
	json int  // where JSON begins that stands in place of args, or -1
	end  int
}

// match finds the next call in v[at:], inside of the candidate.
func (t *text) match(v string, at int, e edge) match {
	p := &t.open.st.Matcher
	g := p.Find.FindStringSubmatchIndex(v[at:e.end])
	if g == nil || g[0] == g[1] {
		return match{}
	}
	m := match{name: t.named, args: "{}", read: true, json: -1, end: at + g[1]}
	if p.Tool != "" {
		m.name = p.Tool
	}
	if from, to := group(p.Find, g, "tool"); from < to {
		m.name = strings.TrimSpace(v[at+from : at+to])
	}
	from, to := group(p.Find, g, "args")
	if from += at; from >= e.inside {
		return m
	}
	to = min(at+to, e.inside)
	args := strings.TrimSpace(v[from:to])
	switch {
	case args == "":
	case p.Each != nil:
		m.args, m.read = p.object(v[from:to])
	case args[0] == '{' || args[0] == '[':
		m.json = scan.SkipSpace(v, from)
	default:
		m.args = args
	}
	return m
}

// object makes a JSON object of arguments that Each finds. It is false where they
// cannot be read: a call without them would be another one.
func (p *Matcher) object(s string) (args string, ok bool) {
	matches := p.Each.FindAllStringSubmatchIndex(s, maxMatches+1)
	if len(matches) == 0 || len(matches) > maxMatches {
		return "", false
	}
	own := p.Each.SubexpIndex("value") >= 0
	var members []string
	for i, m := range matches {
		from, to := group(p.Each, m, "key")
		key := strings.TrimSpace(s[from:to])
		if from, to = group(p.Each, m, "value"); !own { // what stands up to the next key
			if from, to = m[1], len(s); i+1 < len(matches) {
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
