package ruleset

import (
	"errors"
	"regexp"
	"slices"
	"strings"
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
