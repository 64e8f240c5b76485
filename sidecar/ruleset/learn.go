package ruleset

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// maxSentence is how long a sentence of the gateway may be that names folders.
const maxSentence = 1 << 10

// saying is how a gateway says where its agent works: what stands in front of each
// folder, and behind the last one.
type saying struct {
	start string   // begins a line
	stops []string // what ends each folder; empty: the end of its line
	own   int      // which of the folders is the workspace
	lines bool     // it has more than one line
}

var inBraces = lazyregexp.New(`\{\w*\}`)

// sentences takes roots.learn.
func (l *loader) sentences(texts []rulefile.Text) (out []saying) {
	for _, t := range texts {
		names, parts := inBraces().FindAllString(t.Value, -1), inBraces().Split(t.Value, -1)
		wrong := func(msg string) {
			l.report(t.All(), rulefile.CodeValue, msg, `write it as the gateway does, with {workspace} in place of the folder: "Working directory: {workspace}"`)
		}
		s := saying{start: parts[0], stops: parts[1:], own: slices.Index(names, "{workspace}"), lines: strings.Contains(t.Value, "\n")}
		stops := strings.Join(s.stops, "")
		switch {
		case s.own < 0:
			wrong("this does not say where {workspace} stands")
		case len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "{folder}" })) != 1:
			wrong("this has something else in braces than one {workspace}, and {folder} for others that may be written")
		case strings.TrimSpace(s.start) == "" || strings.HasPrefix(s.start, "\n"):
			wrong("this begins with no words that could be looked for")
		case len(s.stops) > 1 && slices.Contains(s.stops[:len(s.stops)-1], ""):
			wrong("nothing stands between two folders")
		case len(s.start)+len(stops) > 1<<10:
			wrong("this is too long")
		default:
			out = append(out, s)
		}
	}
	return out
}

// folders reads what stands behind the start. The workspace comes first.
func (s saying) folders(text string) (out []string, ok bool) {
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
			if l.lines != headings || !headings && found.Folders != nil {
				continue
			}
			texts, all := said(l.start, maxSentence)
			for _, text := range texts {
				folders, ok := l.folders(text)
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
