package ruleset

import (
	"path"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What happens to a path, and the classes that a path or a URL can have.
var (
	pathOps     = []string{string(paths.Read), string(paths.Write), string(paths.Delete)}
	pathClasses = []string{
		paths.Workspace, paths.WorkspaceRoot, paths.Readable, paths.Secret, paths.WorkspaceSecret, paths.Persist, paths.Automation, paths.Control, paths.VCS, paths.Home, paths.Root, paths.Protected,
		paths.System, paths.Kernel, paths.BlockDevice, paths.Device, paths.Null, paths.Socket, paths.Dynamic, paths.Malformed, paths.Outside,
	}
	urlClasses = []string{urls.Public, urls.Private, urls.Loopback, urls.Metadata, urls.Unknown, urls.BadScheme, urls.Malformed, urls.Dynamic}
)

// The codes of warnings: rules that load, and then do nothing or cost too much.
// They never change their meaning, and never stop a set from loading.
const (
	codeUnreachable = "W-unreachable" // a rule that never comes into play
	codeShadowed    = "W-shadowed"    // a name, literal or phrase that another one makes useless
	codeNever       = "W-never"       // a pattern that matches nothing at all
	codeSlow        = "W-slow"        // a pattern that costs much for every byte it looks at
	codeUntried     = "W-untried"     // a rule about commands without an example
	codeEmpty       = "W-empty"       // a test of all entries, where there may be none
)

// lint warns about rules that are good and do nothing. A file with a problem is
// left out: what it says will change.
func (l *loader) lint() {
	for _, look := range []struct {
		file string
		at   func()
	}{
		{strategiesFile, l.lintStrategies}, {aliasesFile, l.lintAliases}, {argumentsFile, l.lintArguments}, {serversFile, l.lintServers},
		{execFilename, func() { l.lintPolicy(execFilename) }},
		{pathsFilename, func() { l.lintPolicy(pathsFilename) }},
		{urlsFilename, func() { l.lintPolicy(urlsFilename) }},
		{lockedName(execFilename), func() { l.lintPolicy(lockedName(execFilename)) }},
		{lockedName(pathsFilename), func() { l.lintPolicy(lockedName(pathsFilename)) }},
		{lockedName(urlsFilename), func() { l.lintPolicy(lockedName(urlsFilename)) }},
	} {
		if l.clean(look.file) {
			look.at()
		}
	}
	for _, t := range l.regexps {
		if l.clean(t.At.File()) {
			l.lintPattern(t.Value, t.All())
		}
	}
}

// lintPolicy warns about conditions that make no difference.
func (l *loader) lintPolicy(name string) {
	rules := l.policyRules(name)
	l.lintRules(rules, path.Base(name) == execFilename)
	for _, r := range rules {
		if r.When != nil {
			l.lintCondition(*r.When, l.policyDomains(name))
		}
	}
}

// policyRules are the rules of one of the files about calls.
func (l *loader) policyRules(name string) []policyRule {
	return slices.Concat(doc[execFile](l, name).Rules, doc[pathsFile](l, name).Rules, doc[urlsFile](l, name).Rules)
}

// policyDomains are the only values that some variables have in a file about calls.
func (l *loader) policyDomains(name string) map[string][]string {
	domains := map[string][]string{"now.weekday": policy.Weekdays()}
	switch path.Base(name) {
	case pathsFilename:
		domains["class"], domains["tool_class"] = pathClasses, classNames
		domains["op"] = pathOps
	case urlsFilename:
		domains["class"], domains["tool_class"] = urlClasses, classNames
	default:
		domains["class"] = classNames
		for _, s := range doc[strategyFile](l, strategiesFile).Strategies {
			domains["strategy"] = append(domains["strategy"], s.ID.Value)
		}
	}
	return domains
}

func (l *loader) warn(at rulefile.Place, code, msg, hint string) {
	p := at.Problem(code, msg, hint)
	p.Warning = true
	l.problems = append(l.problems, p)
}

// doc is a file as it was decoded; the zero value where there is none.
func doc[T any](l *loader, name string) T {
	out, _ := l.docs[name].(T)
	return out
}
