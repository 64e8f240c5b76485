package ruleset

import (
	"errors"
	"fmt"
	"net"
	"os"
	slashes "path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// noHome is the home folder of a user without one.
const noHome = "/nonexistent"

// roots sets the folders of a paths.yaml. What it omits comes from base.
func (l *loader) roots(r rootsRule, to, base *author) {
	var out paths.Roots
	if base != nil {
		out, to.workspaceSet, to.sameHome, to.learn = base.roots, base.workspaceSet, base.sameHome, base.learn
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || !strings.HasPrefix(home, "/") { // Windows: the gateway is elsewhere
		home = noHome
	}
	if out.Home == "" {
		out.Home, to.sameHome = home, true
	}
	if r.Home != nil {
		out.Home, _ = l.folder(*r.Home, home)
		to.sameHome = r.Home.Value == "~"
	}
	if r.Workspace != nil {
		out.Cwd, to.workspaceSet = l.folder(*r.Workspace, out.Home)
		to.workspaceLocked = base != nil && to.workspaceSet
	} else if out.Cwd == "" {
		out.Cwd = out.Home + "/.openclaw/workspace"
	}
	if r.Learn != nil {
		to.learn = l.sentences(*r.Learn)
	}
	for _, list := range []struct {
		given *[]rulefile.Text
		to    *[]string
	}{{r.Write, &out.Write}, {r.Read, &out.Read}, {r.ReadFiles, &out.ReadFiles}, {r.Look, &out.Look},
		{r.Own, &out.Own}, {r.Secret, &out.Secret}} {
		if list.given == nil {
			continue
		}
		*list.to = nil
		for _, t := range *list.given {
			folder, _ := l.folder(t, out.Home)
			if folder == "/" && list.to == &out.Write {
				l.reject(t,
					"/ is the whole machine, and cannot be a folder of the agent",
					"name the folders that it may write")
			}
			*list.to = append(*list.to, folder)
		}
	}
	if to.profile == "strict" {
		out.Look = nil
	}
	if r.Write != nil || r.Workspace != nil || base == nil {
		out.Write = append([]string{out.Cwd}, out.Write...)
	}
	if base == nil || r.Own != nil || r.Secret != nil {
		out.Own = slices.Concat(out.Own, out.Secret)
	}
	to.roots = out
	to.roots = to.rootsIn([]string{out.Cwd})
}

// rootsIn returns the roots of an agent that works in other folders, of which the first is the workspace. In
// the home folder of another user, the agent runs as that user.
func (a *author) rootsIn(folders []string) paths.Roots {
	r := a.roots
	if home := paths.HomeOf(folders[0]); home != "" && !strings.HasPrefix(folders[0], r.Home+"/") {
		r = a.rootsOf(r, home)
	}
	r.Cwd = folders[0]
	r.Write = slices.Concat(folders, r.Write[1:]) // the first is the workspace
	return r
}

// rootsOf returns roots for an agent that runs as the user with this home folder, which ~ means. A home
// folder that paths.yaml spells out stays.
func (a *author) rootsOf(r paths.Roots, home string) paths.Roots {
	if !a.sameHome || home == r.Home {
		return r
	}
	return r.Of(home)
}

// withDefault matches ${NAME} and ${NAME:-default}.
var withDefault = regexp.MustCompile(`\$\{([A-Za-z_]\w*)(:-[^}]*)?\}`)

// folder returns a path of paths.yaml, absolute and clean. It may begin with ~. explicit is false if it is
// only the default of an unset variable.
func (l *loader) folder(t rulefile.Text, home string) (path string, explicit bool) {
	explicit = true
	path = withDefault.ReplaceAllStringFunc(t.Value, func(m string) string {
		name, otherwise, given := strings.Cut(m[2:len(m)-1], ":-")
		value := os.Getenv(name)
		if value == "" && !given {
			l.report(t.All(), rulefile.CodeRef, fmt.Sprintf("the environment variable %s is not set", name),
				"set it, or write ${"+name+":-the folder to take then}")
		}
		if value == "" {
			explicit = false
			return otherwise
		}
		return value
	})
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = home + rest
	}
	if path != "" && path[0] != '/' {
		l.reject(t, path+" is not an absolute path", "begin it with / or ~")
	}
	if !strings.HasPrefix(path, "/") {
		return noHome, false
	}
	return slashes.Clean(path), explicit
}

// knownHosts returns the known hosts of urls.yaml; nil: it has no such list.
func (l *loader) knownHosts(f urlsFile) []urls.Pattern {
	if f.KnownHosts == nil {
		return nil
	}
	out := []urls.Pattern{}
	for _, t := range *f.KnownHosts {
		p, err := urls.ParsePattern(t.Value)
		if err != nil {
			l.reject(t,
				strconv.Quote(t.Value)+" cannot be a known host: "+err.Error(),
				"write a host, such as github.com, *.npmjs.org for all below one, or git.example.com:8443")
			continue
		}
		out = append(out, p)
	}
	return out
}

// KnownHost reports whether urls.yaml knows the host of a URL. The locked folder must know it, too, if it
// lists hosts.
func (s *Set) KnownHost(u urls.Use) bool {
	knows := func(a *author) bool {
		return slices.ContainsFunc(a.known, func(p urls.Pattern) bool { return p.Covers(u) })
	}
	return knows(s.own) && (s.locked == nil || s.locked.known == nil || knows(s.locked))
}

// CheckConnection decides about a connection of a running command, as far as its address is known. It skips
// rules about calls, since the call has left, and does not count as confined, since this program connects.
func (s *Set) CheckConnection(u urls.Use, tool string, who policy.Subject, at At) policy.Decision {
	who.Interactive = true // to ask is not to deny here: a person may have said yes to the command
	c := policy.Call{Tool: tool, Class: string(tools.Exec), Args: map[string]any{}}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		f.URLs = []urls.Use{u}
		at.serversOf(a).Judge(f.URLs)
	})
}

// localhost returns the servers of urls.yaml and the model servers of models.yaml.
func (l *loader) localhost(f urlsFile) urls.Servers {
	s := urls.Servers{Known: namesClass(f.Rules, f.Lists, urls.Control), Ports: f.Localhost}
	for _, t := range f.Own {
		_, ports, err := net.SplitHostPort(t.Value)
		if _, _, ok := urls.PortsOf(ports); err != nil || !ok {
			l.reject(t, strconv.Quote(t.Value)+" is no address",
				"write HOST:PORT, such as 127.0.0.1:18789, or a range of ports: 127.0.0.1:18789-18899")
			continue
		}
		s.Own = append(s.Own, t.Value)
	}
	for _, url := range append(mapSlice(l.set.Models, func(m Model) string { return m.Upstream.Value }),
		mapSlice(l.set.Upstreams, func(u Upstream) string { return u.URL })...) {
		if address := urls.AddressOf(url); address != "" {
			s.Own = append(s.Own, address)
		}
	}
	return s
}

// namesClass reports whether conditions of rules name a class, literally or through a list.
func namesClass(rules []policyRule, lists rulefile.Lists, class string) bool {
	return slices.ContainsFunc(rules, func(r policyRule) bool {
		if !mentions(r.When, "class") {
			return false
		}
		return slices.Contains(cond.Words(r.When.Value), class) ||
			slices.ContainsFunc(lists, func(l rulefile.Pair[[]rulefile.Text]) bool {
				return mentions(r.When, l.Key.Value) && slices.Contains(values(l.Value), class)
			})
	})
}

// Sentence is a phrase that names folders: the text before each, and behind the last one.
type Sentence struct {
	Start string   // begins a line
	Lines bool     // it has several lines
	stops []string // end of each folder; empty: the end of its line
	own   int      // index of the workspace
}

var inBraces = regexp.MustCompile(`\{\w*\}`)

// ParseSentence parses a sentence with {workspace} in place of the folder, and {folder} for others.
func ParseSentence(text string) (Sentence, error) {
	names, parts := inBraces.FindAllString(text, -1), inBraces.Split(text, -1)
	s := Sentence{Start: parts[0], Lines: strings.Contains(text, "\n"), stops: parts[1:],
		own: slices.Index(names, "{workspace}")}
	stops := strings.Join(s.stops, "")
	wrong := ""
	switch {
	case s.own < 0:
		wrong = "this does not say where {workspace} stands"
	case len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "{folder}" })) != 1:
		wrong = "this has something else in braces than one {workspace}, and {folder} for others that may be written"
	case strings.TrimSpace(s.Start) == "" || strings.HasPrefix(s.Start, "\n"):
		wrong = "this begins with no words that could be looked for"
	case len(s.stops) > 1 && slices.Contains(s.stops[:len(s.stops)-1], ""):
		wrong = "nothing stands between two folders"
	case len(s.Start)+len(stops) > 1<<10:
		wrong = "this is too long"
	default:
		return s, nil
	}
	return Sentence{}, errors.New(wrong)
}

// Folders returns the folders in the text behind the start, the workspace first.
func (s Sentence) Folders(text string) (out []string, ok bool) {
	for i, stop := range s.stops {
		line, _, _ := strings.Cut(text, "\n")
		folder := line
		if stop != "" {
			end := strings.Index(text, stop)
			if end < 0 || end > len(line) {
				return nil, false
			}
			folder, text = text[:end], text[end+len(stop):]
		}
		folder = strings.TrimRight(strings.TrimSpace(folder), "\r")
		if folder == "" {
			return nil, false
		}
		if i == s.own {
			out = slices.Insert(out, 0, folder)
		} else {
			out = append(out, folder)
		}
	}
	return out, true
}

// maxSentence is the longest sentence of the gateway that names folders.
const maxSentence = 1 << 10

// sentences parses roots.learn.
func (l *loader) sentences(texts []rulefile.Text) (out []Sentence) {
	for _, t := range texts {
		s, err := ParseSentence(t.Value)
		if err != nil {
			l.reject(t, err.Error(),
				`write it as the gateway does, with {workspace} in place of the folder: "Working directory: {workspace}"`)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Named is where the gateway says that an agent works.
type Named struct {
	Folders []string // the workspace, and others that it may write; nil: unknown
	Unclear bool     // two statements differ, so neither counts
}

// Named finds where an agent works, by roots.learn of paths.yaml. lookup returns what the gateway says behind
// a start of a line, as openai.Request.Said does. Text before the gateway's own sentence may come from a
// file of the agent, so sentences with headings count only if all of them agree, wherever they are. Without
// any, the first of the others that is found counts, at its first place.
func (s *Set) Named(lookup func(start string, most int) (texts []string, all bool)) Named {
	var found Named
	for _, headings := range []bool{true, false} {
		for _, l := range s.own.learn {
			if l.Lines != headings || !headings && found.Folders != nil {
				continue
			}
			texts, all := lookup(l.Start, maxSentence)
			for _, text := range texts {
				folders, ok := l.Folders(text)
				switch {
				case !ok:
				case found.Folders == nil:
					found.Folders = folders
				case headings && !slices.Equal(folders, found.Folders):
					return Named{Unclear: true}
				}
			}
			if headings && !all {
				return Named{Unclear: true}
			}
		}
	}
	return found
}
