package ruleset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// The words of a header that the program takes where rules name none are what is shipped.
func TestUsualIsAsShipped(t *testing.T) {
	for _, st := range Full.prepare(shipped(t), true).set.Strategies("").All() {
		if st.Kind == parse.Harmony {
			if diff := cmp.Diff(harmony.UsualWords(), st.Header); diff != "" {
				t.Errorf("words of a header (-usual +strategies.yaml):\n%s", diff)
			}
		}
	}
}

// A mistake in evidence.yaml is told by itself, not by every example that then goes wrong. What earlier
// versions had there is not read, and a warning names what decides now.
func TestEvidence(t *testing.T) {
	files := shipped(t)
	text := files[evidenceFile]
	for what, broken := range map[string]string{
		"it is empty": "", "a list is none": testkit.Replace(t, text, "data: [", "data: {", 1),
		"a key is unknown": text + "tlk: {}\n",
	} {
		files[evidenceFile] = broken
		_, problems := untried(files)
		if len(problems) != 1 || problems[0].File != evidenceFile {
			t.Errorf("%s: %v", what, problems)
		}
	}
	files[evidenceFile] = text + "base: 0\nweights: [{sign: quoted, weight: -7}]\ntalk: {shown: [if you]}\n" +
		"looks: [ls]\nrun: {read: 0.6, write: 0.9, exec: 0.9}\nask: {read: 0.4, write: 0.7, exec: 0.7}\n"
	set, problems := untried(files)
	if set == nil || len(problems) != 6 {
		t.Fatalf("a file of an earlier version: %v", problems)
	}
	for _, p := range problems {
		if !p.Warning || !strings.Contains(p.Msg, "is not read any more") || p.Hint == "" {
			t.Errorf("%v", p)
		}
	}
}

// A strategy of a kind that earlier versions had is read as a frame, or reads nothing, and a warning names what
// replaced it; so it does for keys of kind json. Profiles may still name it.
func TestGoneKind(t *testing.T) {
	files := shipped(t)
	files["extra/strategies.old.yaml"] = `version: 1
strategies:
  - {id: at_signs, about: an old one, kind: pattern, priority: 11, confidence: 1,
     pattern: {open: ['@@'], find: '@@(?P<tool>\w+)'}, hit: [{text: '@@read', gives: [{tool: read, args: {}}]}]}
  - {id: angles, about: an old one, kind: block, priority: 12, confidence: 1,
     block: {open: ['<<'], close: ['>>'], body: auto}, hit: [{text: '<<read(path="a")>>', gives: [{tool: read, args: {path: a}}]}]}
  - {id: object, about: an old one, kind: json, priority: 13, confidence: 1, enabled: false,
     json: {name: [n], arguments: [a], heads: [to], status: [using], tags: [message]}}
profiles:
  old: {enable: [at_signs, angles]}
`
	set, problems := Full.Load(files)
	if set == nil || len(problems) != 5 {
		t.Fatal(problems)
	}
	for _, p := range problems {
		if !p.Warning || !strings.Contains(p.Hint, "frame") {
			t.Error(p)
		}
	}
}
