package ruleset

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// maxSentence is how long a sentence of the gateway may be that names folders.
const maxSentence = 1 << 10

// sentences takes roots.learn.
func (l *loader) sentences(texts []rulefile.Text) (out []Sentence) {
	for _, t := range texts {
		s, err := Parse(t.Value)
		if err != nil {
			l.wrong(t, err.Error(),
				`write it as the gateway does, with {workspace} in place of the folder: "Working directory: {workspace}"`)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Named is where the gateway says that an agent works.
type Named struct {
	Folders []string // the workspace, and others that it may write; nil: nothing was said
	Unclear bool     // it was said in two ways, so that neither is believed
}

// Named reads where an agent works, by roots.learn of paths.yaml. Said gives what the
// gateway itself says behind a start of a line: see openai.Request.Said. What stands in
// front of the gateway's own sentence may be from a file of the agent. So sentences with
// headings are believed only if all of them agree, in all places. Where there is none, the
// first other one that is found counts, where it is found first.
func (s *Set) Named(said func(start string, most int) (texts []string, all bool)) Named {
	var found Named
	for _, headings := range []bool{true, false} {
		for _, l := range s.own.learn {
			if l.Lines != headings || !headings && found.Folders != nil {
				continue
			}
			texts, all := said(l.Start, maxSentence)
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
