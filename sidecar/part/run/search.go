package run

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxVisited = 20000 // files and folders of one search
	maxFound   = 200   // lines or names of a result
	maxLine    = 500   // bytes of a line
)

// skippedFolders are not searched: they hold files of tools.
var skippedFolders = []string{".git", "node_modules", ".hg", ".svn"}

var errEnough = errors.New("enough was found")

// walk visits the files below a folder; below is their path relative to it. It follows no links and
// skips folders that the call may not read.
func (w *toolCall) walk(root string, visit func(name, below string) error) error {
	remaining := maxVisited
	var folder func(name, below string) error
	folder = func(name, below string) error {
		entries, err := w.list(name, remaining+1)
		if err != nil {
			if below == "" {
				return err
			}
			return nil
		}
		for _, e := range entries {
			if remaining--; remaining < 0 {
				return fmt.Errorf("there are more than %d files below %s; search in a folder of it",
					maxVisited, root)
			}
			if err := w.ctx.Err(); err != nil {
				return err
			}
			name, below := path.Join(name, e.Name()), path.Join(below, e.Name())
			switch {
			case e.IsDir() && !slices.Contains(skippedFolders, e.Name()):
				err = folder(name, below)
			case e.Type().IsRegular():
				err = visit(name, below)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return folder(root, "")
}

func (w *toolCall) grep() (string, error) {
	re, err := regexp.Compile(w.in.Pattern)
	if err != nil {
		return "", fmt.Errorf("pattern: %w", err)
	}
	if w.in.Glob != "" && !doublestar.ValidatePattern(w.in.Glob) {
		return "", fmt.Errorf("glob: %q is no pattern", w.in.Glob)
	}
	root, most := cmp.Or(w.in.Path, "."), cmp.Or(max(w.in.Limit, 0), maxFound)
	var out strings.Builder
	found := 0
	look := func(name, text string) error {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if line = strings.TrimRight(line, "\r\n"); !re.MatchString(line) {
				continue
			}
			if found == most || out.Len() > maxShown {
				return errEnough
			}
			found++
			short, cut := clip(line, maxLine)
			if cut {
				short += " …"
			}
			fmt.Fprintf(&out, "%s:%d: %s\n", name, n, short)
		}
		return nil
	}
	text, err := w.readText(root)
	switch {
	case errors.Is(err, errFolder):
		err = w.walk(root, func(name, below string) error {
			if !matches(w.in.Glob, below) {
				return nil
			}
			text, err := w.readText(name)
			if err != nil {
				return nil // no text, or not for this call
			}
			return look(name, text)
		})
	case err == nil && matches(w.in.Glob, path.Base(root)):
		err = look(root, text)
	}
	return w.searchResult(out.String(), err)
}

// matches reports whether a file matches a pattern, if there is one. A pattern without a slash is for
// the last part of the name.
func matches(pattern, below string) bool {
	if !strings.Contains(pattern, "/") {
		below = path.Base(below)
	}
	ok, err := doublestar.Match(pattern, below)
	return pattern == "" || ok && err == nil
}

func (w *toolCall) glob() (string, error) {
	pattern := path.Clean(w.in.Pattern)
	if !doublestar.ValidatePattern(pattern) {
		return "", fmt.Errorf("%q is no pattern", w.in.Pattern)
	}
	root, rest := doublestar.SplitPattern(pattern)
	if !path.IsAbs(root) {
		root = path.Join(cmp.Or(w.in.Path, "."), root)
	}
	var out strings.Builder
	found := 0
	err := w.walk(root, func(name, below string) error {
		if ok, err := doublestar.Match(rest, below); !ok || err != nil {
			return err
		}
		if found == maxFound {
			return errEnough
		}
		found++
		out.WriteString(name + "\n")
		return nil
	})
	return w.searchResult(out.String(), err)
}

func (w *toolCall) searchResult(text string, err error) (string, error) {
	switch {
	case errors.Is(err, errEnough):
		return text + "[there is more; narrow the search]\n", nil
	case err != nil && text == "":
		return "", err
	case err != nil:
		return text + "[" + errorText(err) + "]\n", nil
	}
	return cmp.Or(text, "(nothing found)"), nil
}
