package ruleset

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

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

// Named finds where an agent works, by roots.learn of paths.yaml. said returns what the gateway says behind a
// start of a line, as openai.Request.Said does. Text before the gateway's own sentence may come from a file
// of the agent, so sentences with headings count only if all of them agree, wherever they are. Without any,
// the first of the others that is found counts, at its first place.
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
