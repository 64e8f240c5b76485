package ruleset

// The codes of warnings: rules that load, and then do nothing or cost too much.
// They never change their meaning, and never stop a set from loading.
const (
	codeUnreachable = "W-unreachable" // a rule that never comes into play
	codeShadowed    = "W-shadowed"    // a name, literal or phrase that another one makes useless
	codeNever       = "W-never"       // a pattern that matches nothing at all
	codeSlow        = "W-slow"        // a pattern that costs much for every byte it looks at
)

// lint warns about rules that are good and do nothing. A file with a problem is
// left out: what it says will change.
func (l *loader) lint() {
	for _, look := range []struct {
		file string
		at   func()
	}{
		{strategiesFile, l.lintStrategies}, {aliasesFile, l.lintAliases}, {argumentsFile, l.lintArguments}, {serversFile, l.lintServers},
		{execFilename, func() { l.lintExec(execFilename) }},
		{lockedName(execFilename), func() { l.lintExec(lockedName(execFilename)) }},
	} {
		if l.clean(look.file) {
			look.at()
		}
	}
	for _, t := range l.regexps {
		if l.clean(t.at.src.name) {
			l.lintPattern(t.Value, t.all())
		}
	}
}

// lintExec warns about conditions that make no difference.
func (l *loader) lintExec(name string) {
	domains := map[string][]string{"class": classNames}
	for _, s := range doc[strategyFile](l, strategiesFile).Strategies {
		domains["strategy"] = append(domains["strategy"], s.ID.Value)
	}
	for _, r := range doc[execFile](l, name).Rules {
		if r.When != nil {
			l.lintCondition(*r.When, domains)
		}
	}
}

func (l *loader) warn(at place, code, msg, hint string) {
	p := at.problem(code, msg, hint)
	p.Warning = true
	l.problems = append(l.problems, p)
}

// doc is a file as it was decoded; the zero value where there is none.
func doc[T any](l *loader, name string) T {
	out, _ := l.docs[name].(T)
	return out
}
