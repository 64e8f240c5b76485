package ruleset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// What the program takes where rules name nothing is what is shipped. Weights are shipped in
// evidence.yaml alone: it has one for each sign.
func TestUsualIsAsShipped(t *testing.T) {
	l := prepare(shipped(t), true)
	doc := decodeFile[evidenceDoc](l, evidenceFile)
	for _, name := range parse.EvidenceNames() {
		if !slices.ContainsFunc(doc.Weights, func(r weightRule) bool { return r.Sign.Value == name }) {
			t.Errorf("evidence.yaml has no weight of %q", name)
		}
	}
	for _, st := range l.set.Strategies("").All() {
		if st.Kind == parse.Harmony {
			if diff := cmp.Diff(harmony.UsualWords(), st.Header); diff != "" {
				t.Errorf("words of a header (-usual +strategies.yaml):\n%s", diff)
			}
		}
	}
}

// A mistake in evidence.yaml is told by itself, not by every example that then goes wrong.
func TestOneMistakeInEvidence(t *testing.T) {
	files := shipped(t)
	text := files[evidenceFile]
	for what, broken := range map[string]string{
		"it is empty": "", "a threshold is no score": strings.Replace(text, "exec: 0.92", "exec: 9", 1),
		"a sign is unknown": strings.Replace(text, "sign: quoted", "sign: quotd", 1),
	} {
		files[evidenceFile] = broken
		_, problems := Load(files)
		if len(problems) != 1 || problems[0].File != evidenceFile {
			t.Errorf("%s: %v", what, problems)
		}
	}
}
