package ruleset

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

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
