package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

var (
	// the opening tag of a call, which some models end with its arguments: <function=read={"path":"a"}
	callTag = regexp.MustCompile(`(?i)<(?:[\w:]+:)?(?:function|invoke)(?:=|\s+name\s*=\s*)["']?` +
		`([^"'>\s={(\[,]+)["']?[\s=(\[,]*(?:>|(\{))`)
	nameTag = regexp.MustCompile(`(?is)<(?:tool|tool_name)>\s*([^<]+?)\s*</(?:tool|tool_name)>`)
	anyTag  = regexp.MustCompile(`</?[\w:-]+>`)
	endTag  = regexp.MustCompile(`(?i)</(?:[\w:]+:)?(?:function|invoke|action|arguments|tool_input|action_input)>`)
)

// TagCalls reads the calls in doc up to the first that cannot be read; broken reports that there is one.
// If doc may be cut, a call needs a closing tag. Text within an argument is no call.
func TagCalls(doc string, cut bool) (calls []Call, broken bool) {
	args := tagArguments(doc)
	heads := callTag.FindAllStringSubmatchIndex(doc, -1)
	heads = slices.DeleteFunc(heads, func(h []int) bool { return inArgument(args, h[0]) })
	if m := nameTag.FindStringSubmatchIndex(doc); len(heads) == 0 && m != nil && !inArgument(args, m[0]) {
		heads = [][]int{append(m, -1, -1)}
	}
	done := 0
	for i, h := range heads {
		to := len(doc)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		if h[0] < done {
			continue // within the object of the previous call
		}
		if h[4] >= 0 {
			h[1] = h[4]
		}
		given, ok := "", false
		if at := scan.SkipSpace(doc, h[1]); at < len(doc) && doc[at] == '{' {
			if done < 0 { // searching for the end of each open object would be quadratic
				return calls, true
			}
			done = codeEnd(doc, at, true)
		}
		if ok = done > h[1]; ok {
			given, to = strings.TrimSpace(doc[h[1]:done]), max(to, done)
		} else {
			given, ok = tagCallArguments(doc[:to], h[1], args)
		}
		if !ok || cut && to == len(doc) && !endTag.MatchString(doc[h[1]:to]) {
			return calls, true
		}
		calls = append(calls, Call{Name: doc[h[2]:h[3]], Args: given})
	}
	return calls, false
}

// tagCallArguments returns the arguments in a call's tag at doc[from:] as a JSON object. ok is false if
// one cannot be read: without it the call would be another one.
func tagCallArguments(doc string, from int, all []tagArgument) (args string, ok bool) {
	var members []string
	behind := from
	for _, a := range argumentsFrom(all, from) {
		if a.End > len(doc) {
			break
		} else if a.At < behind { // within another argument
			continue
		}
		switch {
		case a.Open, a.Key != "" && !onlyTags(doc[behind:a.At]):
			return "", false
		case a.Key == "" && len(members) == 0:
			inner := strings.TrimSpace(doc[a.From:a.To])
			if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
				return inner, true
			}
			return jsontext.Quote(inner), true
		case a.Key != "":
			members = append(members, a.Key, strings.Trim(doc[a.From:a.To], "\n"))
		}
		behind = a.End
	}
	s := doc[from:]
	if len(members) > 0 {
		rest := doc[behind:]
		if at := endTag.FindStringIndex(rest); at != nil {
			if args = rest[at[1]:]; strings.Contains(args, "</parameter") {
				return "", false // the tag that seemed to end an argument stood in it
			}
			rest = rest[:at[0]]
		}
		return jsontext.Object(members...), onlyTags(rest)
	}
	i := strings.IndexByte(s, '{')
	if i >= 0 {
		if end := codeEnd(s, i, true); end > 0 {
			return s[i:end], true
		}
	}
	inner, _, _ := strings.Cut(s, "</")
	if i >= 0 && i < len(inner) { // the repair of the arguments says what is wrong
		return strings.TrimSpace(inner[i:]), true
	}
	return "{}", onlyTags(inner) && !strings.Contains(s, "<parameter")
}

// onlyTags reports whether only blanks and tags stand between arguments; else a tag that seemed to end
// one stands in its value.
func onlyTags(between string) bool {
	return strings.TrimSpace(anyTag.ReplaceAllString(between, "")) == ""
}

// tagArgument is an argument between tags. Its value reaches to the tag that balances the first, for a
// text about calls may contain such tags.
type tagArgument struct {
	Key      string // empty: all arguments at once
	At       int    // start of its opening tag
	From, To int    // its value
	End      int    // end of its closing tag
	Open     bool   // nothing closes it: it reaches to the end
}

var (
	anyArg   = regexp.MustCompile(`(?i)<(/?)(?:[\w:]+:)?(parameter|arg|arguments|tool_input|action_input)\b(?:(?:=|\s+(?:name|key)\s*=\s*)["']?([^"'>\s]+)["']?)?[^<>]*>`)
	keyedArg = regexp.MustCompile(`(?i)^\s*<(?:[\w:]+:)?(?:parameter|arg)\b`)
)

// tagArguments returns the arguments in doc, in order.
func tagArguments(doc string) (all []tagArgument) {
	name, depth := "", 0
	for _, m := range anyArg.FindAllStringSubmatchIndex(doc, -1) {
		closes, tag := m[2] < m[3], strings.ToLower(doc[m[4]:m[5]])
		switch a := (tagArgument{At: m[0], From: m[1], To: len(doc), End: len(doc), Open: true}); {
		case depth > 0 && tag != name:
		case depth > 0 && !closes:
			depth++
		case depth > 0:
			if depth--; depth == 0 {
				last := &all[len(all)-1]
				last.To, last.End, last.Open = m[0], m[1], false
			}
		case closes:
		default:
			keyed := tag == "parameter" || tag == "arg"
			if m[6] >= 0 {
				a.Key = doc[m[6]:m[7]]
			}
			if keyed == (a.Key != "") && (keyed || !keyedArg.MatchString(doc[m[1]:])) {
				name, depth = tag, 1
				all = append(all, a)
			}
		}
	}
	return all
}

// argumentsFrom returns those whose value begins at or after at.
func argumentsFrom(all []tagArgument, at int) []tagArgument {
	i, _ := slices.BinarySearchFunc(all, at, func(a tagArgument, at int) int { return a.From - at })
	return all[i:]
}

// inArgument reports whether doc[at:] stands in an argument.
func inArgument(all []tagArgument, at int) bool {
	i := len(all) - len(argumentsFrom(all, at+1)) - 1
	return i >= 0 && at < all[i].To
}

// beginsTag reports whether s contains the opening tag of a call.
func beginsTag(s string) bool { return callTag.MatchString(s) }
