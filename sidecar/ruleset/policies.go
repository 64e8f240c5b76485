package ruleset

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// author is the content of one folder about calls: exec.yaml, paths.yaml and urls.yaml.
type author struct {
	policy          policy.Policy
	profile         string
	lenient         bool   // unsure rules do not stop a call
	asksHere        bool   // the sidecar asks, whatever the agent does
	asks            string // by the file of the agent; may be empty
	confine         Confine
	confined        Confined
	zone            *time.Location
	roots           paths.Roots
	workspaceLocked bool       // the locked folder sets the workspace, which outranks all others
	workspaceSet    bool       // a rule file sets the workspace
	sameHome        bool       // the home folder is that of this program's user
	learn           []Sentence // how the gateway says where an agent works
	servers         urls.Servers
	known           []urls.Pattern // hosts for confined commands; nil: not set
	arguments       policy.Arguments
	programs        *program.Table
	rules           []verdictFunc
	expanded        []Expansion
}

// policies compiles the operator's files about calls, and those of the locked folder. What a locked folder
// omits comes from the operator; the meaning of tools' arguments also from the program.
func (l *loader) policies() {
	l.set.own = l.author("", nil, &l.examples)
	own := l.set.own
	locked := slices.ContainsFunc([]string{execFilename, pathsFilename, urlsFilename},
		func(name string) bool { return l.files.Has(lockedName(name)) })
	if !locked {
		return
	}
	for _, name := range floor { // without them the operator could make a tool harmless
		if whole := rulefile.BuiltinFolder + "/" + name; !l.files.Has(whole) {
			l.reportFile(whole, rulefile.CodeMissing, "a locked folder needs this file of the program",
				"SourceOf reads it")
		}
	}
	l.set.locked = l.author(rulefile.PolicyFolder+"/", own, &l.locked.examples)
	if l.set.locked.workspaceLocked { // a folder that the security team names is that of everybody
		own.roots, own.workspaceSet, own.workspaceLocked = own.rootsIn([]string{l.set.locked.roots.Cwd}),
			true, true
	}
	builtin := decodeFile[argumentFile](l, rulefile.BuiltinFolder+"/"+argumentsFile)
	l.set.floors = &tools.Rules{Classes: l.set.Tools.Classes, Groups: l.set.Tools.Groups,
		Floors: l.classes(builtin.Classes)}
	shipped := argumentsOf(decodeFile[pathsFile](l, rulefile.BuiltinFolder+"/"+pathsFilename).Arguments,
		decodeFile[urlsFile](l, rulefile.BuiltinFolder+"/"+urlsFilename).Arguments)
	l.set.locked.arguments = mergeArguments(l.set.locked.arguments, mergeArguments(own.arguments, shipped))
	l.set.sameWorld = reflect.DeepEqual(own.roots, l.set.locked.roots) && reflect.DeepEqual(own.servers,
		l.set.locked.servers) &&
		// both sorts them
		reflect.DeepEqual(mergeArguments(own.arguments, own.arguments), l.set.locked.arguments)
}

// author compiles the files of one folder, and adds their examples. What they omit comes from base.
func (l *loader) author(folder string, base *author, examples *[]func()) *author {
	e := decodeFile[execFile](l, folder+execFilename)
	p := decodeFile[pathsFile](l, folder+pathsFilename)
	u := decodeFile[urlsFile](l, folder+urlsFilename)
	a := &author{profile: e.Profile, asksHere: e.Asks == "sidecar", confine: confineOf(e.Confine),
		zone: l.zone(folder+execFilename, e.Zone), arguments: argumentsOf(p.Arguments, u.Arguments),
		programs: l.set.Programs}
	switch {
	case a.profile != "":
	case base == nil:
		a.profile = "developer"
	default:
		a.profile = "permissive" // a locked folder only adds its rules
	}
	a.lenient = base == nil && a.profile == "permissive"
	a.policy.Default, a.policy.DryRun = defaults[a.profile], a.profile == auditOnly
	l.roots(p.Roots, a, base)
	a.confined = l.confined(e.Within)
	if len(p.Rules) > 0 { // rules from before there was a class see what they saw then
		a.roots.Homes = namesClass(p.Rules, p.Lists, paths.Foreign)
		if !namesClass(p.Rules, p.Lists, paths.Around) {
			a.roots.Look = nil
		}
	}
	a.servers, a.known = l.localhost(u), l.knownHosts(u)
	if base != nil && !l.files.Has(folder+urlsFilename) {
		a.servers = base.servers
	}

	c := ruleCompiler{loader: l, author: a, examples: examples, roots: exampleRoots}
	c.roots.Homes = a.roots.Homes
	if !namesClass(p.Rules, p.Lists, paths.Around) {
		c.roots.Look = nil
	}
	c.useLists(e.Lists, reflect.TypeFor[policy.Env](), nil) // lint warns of classes
	c.replaceLists(e)
	c.exec(e)
	c.useLists(p.Lists, reflect.TypeFor[policy.PathEnv](), pathClasses)
	for _, r := range p.Rules {
		a.policy.Paths = compileRule(&c, a.policy.Paths, r, (*policy.Facts).PathEnvs)
	}
	c.useLists(u.Lists, reflect.TypeFor[policy.URLEnv](), urlClasses)
	for _, r := range u.Rules {
		a.policy.URLs = compileRule(&c, a.policy.URLs, r, (*policy.Facts).URLEnvs)
	}
	l.warnUnusedGrants(e.Granted, &a.policy)
	if base != nil { // a locked folder says nothing of what it has no file for
		a.policy.Paths = orAllow(l, a.policy.Paths, folder+pathsFilename)
		a.policy.URLs = orAllow(l, a.policy.URLs, folder+urlsFilename)
	}
	return a
}

// orAllow allows everything if a file is missing.
func orAllow[E any](l *loader, rules []policy.Rule[E], file string) []policy.Rule[E] {
	if l.files.Has(file) {
		return rules
	}
	return append(rules, policy.Rule[E]{Effect: policy.Allow})
}

func (l *loader) zone(file, name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		l.report(l.placeOf(file, "zone"), rulefile.CodeValue, "there is no time zone "+strconv.Quote(name),
			"write Europe/Berlin, America/New_York or UTC")
		return time.UTC
	}
	return zone
}

var listNames = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// lists returns named lists for conditions over a type.
func (l *loader) lists(named rulefile.Lists, env reflect.Type) cond.Lists {
	out := cond.Lists{}
	for _, list := range named {
		switch name := list.Key; {
		case !listNames.MatchString(name.Value):
			l.reject(name,
				strconv.Quote(name.Value)+" cannot be the name of a list",
				"a name has letters, digits and _, and begins with a letter")
		case cond.Taken(name.Value, env):
			l.reject(name, name.Value+" already means something in a condition",
				"give the list another name")
		default:
			out[name.Value] = values(list.Value)
		}
	}
	return out
}

// effect returns the effect of a rule and its text.
func (l *loader) effect(r policyRule) (effect policy.Effect, why string) {
	for _, key := range []struct {
		effect policy.Effect
		text   *rulefile.Text
	}{{policy.Allow, r.Allow}, {policy.Audit, r.Audit}, {policy.Ask, r.Unsure}, {policy.Ask, r.Ask},
		{policy.Deny, r.Deny}} {
		if key.text == nil {
			continue
		}
		if effect != "" {
			l.report(key.text.All(), rulefile.CodeKey, fmt.Sprintf("%s is both %s and %s", r.ID.Value, effect,
				key.effect), "a rule has one effect")
		}
		effect, why = key.effect, strings.TrimSpace(key.text.Value)
		if why == "" {
			l.reject(*key.text, string(key.effect)+" needs a sentence",
				"write what the model is told, or why the rule exists")
		}
	}
	switch {
	case effect == "":
		l.report(r.At, rulefile.CodeMissing, r.ID.Value+" lacks its effect",
			"write deny:, ask: or unsure: and what the model is told, or allow: or audit: and why")
	case r.Shadow && effect != policy.Deny && effect != policy.Ask:
		l.report(r.At, rulefile.CodeValue, r.ID.Value+" has nothing to shadow",
			"shadow goes with deny and ask")
	}
	return effect, why
}

// argumentsOf combines the arguments of two files.
func argumentsOf(p pathArguments, u urlArguments) policy.Arguments {
	return policy.Arguments{
		Read: p.Read, Write: p.Write, Delete: p.Delete, Patch: p.Patch,
		Message: p.Message, Glob: p.Glob, Text: p.Text, Fetch: u.Fetch, OtherPaths: p.Other,
		OtherURLs: u.Other,
	}
}

// mergeArguments combines two authors: a path or URL if either says so, a text only if all that mention it
// do.
func mergeArguments(a, b policy.Arguments) policy.Arguments {
	union := func(a, b []string) []string {
		out := slices.Concat(a, b)
		slices.Sort(out)
		return slices.Compact(out)
	}
	each := func(a, b map[string][]string) map[string][]string {
		out := map[string][]string{}
		maps.Copy(out, a)
		for tool, keys := range b {
			out[tool] = union(out[tool], keys)
		}
		return out
	}
	text := map[string][]string{}
	for tool, keys := range a.Text {
		text[tool] = slices.DeleteFunc(union(keys, nil),
			func(key string) bool { return b.Text != nil && !slices.Contains(b.Text[tool], key) })
	}
	if a.Text == nil {
		text = b.Text
	}
	return policy.Arguments{
		Message: each(a.Message, b.Message), Glob: each(a.Glob, b.Glob), Text: text,
		Read: each(a.Read, b.Read), Write: each(a.Write, b.Write), Delete: each(a.Delete, b.Delete),
		Patch: each(a.Patch, b.Patch),
		Fetch: each(a.Fetch, b.Fetch), OtherPaths: union(a.OtherPaths, b.OtherPaths),
		OtherURLs: union(a.OtherURLs, b.OtherURLs),
	}
}

// CheckCommand decides about a command of the tool exec.
func (s *Set) CheckCommand(command string, who policy.Subject, at At) policy.Decision {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return policy.Decision{Effect: policy.Deny, Why: err.Error()}
	}
	return s.Decide(tools.Call{Name: "exec", Arguments: args, Strategy: "native", Confidence: 1}, who, at)
}

// The tools that touch a single path or fetch a URL.
var (
	pathTools = map[paths.Op]string{paths.Read: "read", paths.Write: "write", paths.Delete: "delete"}
	fetchTool = "web_fetch"
)

// CheckPath decides about a path as a file tool would touch it, without rules about calls.
func (s *Set) CheckPath(op paths.Op, path string, who policy.Subject, at At) policy.Decision {
	c := policy.Call{Tool: pathTools[op], Class: string(tools.Write), Args: map[string]any{"path": path}}
	if op == paths.Read {
		c.Class = string(tools.Read)
	}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		g := a.world(at).Guard
		f.Paths, f.Workspace = []paths.Use{g.Literal(op, path)}, g.Roots.Workspace()
	})
}

// CheckURL decides about a URL as a fetch tool would request it, and all its redirects, without rules about
// calls.
func (s *Set) CheckURL(url, method string, redirects []string, who policy.Subject, at At) policy.Decision {
	c := policy.Call{Tool: fetchTool, Class: string(tools.Read), Args: map[string]any{"url": url}}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		f.URLs = urls.Follow(url, method, redirects, at.Lookup)
		at.serversOf(a).Judge(f.URLs)
	})
}

// decideUse decides about what a call touches, without the call.
func (s *Set) decideUse(c policy.Call, at At, fill func(*author, *policy.Facts)) policy.Decision {
	decide := func(a *author) policy.Decision {
		f := &policy.Facts{Call: c}
		fill(a, f)
		p := a.policy
		p.Calls = []policy.Rule[policy.Env]{{Effect: policy.Allow}}
		return p.Decide(f, a.moment(at))
	}
	d := decide(s.own)
	if s.locked != nil {
		d = policy.Stricter(d, decide(s.locked))
	}
	return d
}
