package ruleset

import "testing"

// A rule file knows a class if a condition names it, and not because a word in one holds its
// name. What it does not know it sees as it was before there was the class.
func TestSpeak(t *testing.T) {
	for when, want := range map[string]struct{ homes, look bool }{
		"class == 'secret'":                                {false, false},
		"class == 'foreign'":                               {true, false},
		"not (class in ['around', 'foreign'])":             {true, true},
		"class in elsewhere":                               {true, false},
		"class == 'secret' and path contains 'a around b'": {false, false},
		"path == '/x/foreign'":                             {false, false},
		"op == 'read' and path != 'around'":                {false, false},
		"class != 'around' // not foreign":                 {false, true},
	} {
		files := shipped(t)
		files[pathsFilename] = "version: 1\nroots: {home: /home/agent, workspace: /srv/project, look: ['/home/agent']}\nlists: {elsewhere: [outside, foreign]}\nrules:\n  - {id: a, ask: Why., when: \"" + when + "\"}\n"
		set, problems := untried(files)
		if set == nil {
			t.Fatal(when, problems)
		}
		r := set.Roots(World{})
		if r.Homes != want.homes || (len(r.Look) > 0) != want.look {
			t.Errorf("%s: homes %v, look %v", when, r.Homes, r.Look)
		}
	}
}
