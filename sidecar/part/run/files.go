package run

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

const (
	maxFile  = 10 << 20 // bytes of a file that is read or written
	maxLines = 2000     // lines of a file per call
	maxShown = 64 << 10 // bytes of a result
	maxNames = 1000     // names of a folder
)

var errFolder = errors.New("is a folder: list it with ls")

// readText reads a text file that the call may read.
func (w *toolCall) readText(path string) (string, error) {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return "", err
	}
	f, err := workspace.Open(use)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s %w", path, errFolder)
	}
	doc, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case len(doc) > maxFile:
		return "", fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	case isBinary(doc):
		return "", fmt.Errorf("%s is no text", path)
	}
	return string(doc), nil
}

func isBinary(doc []byte) bool {
	return bytes.IndexByte(doc[:min(len(doc), 8000)], 0) >= 0 || !utf8.Valid(doc)
}

// writeText writes a file that the call may write.
func (w *toolCall) writeText(path, text string) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s would be longer than %d bytes", path, maxFile)
	}
	use, err := w.call.May(paths.Write, path)
	if err != nil {
		return err
	}
	return workspace.Replace(use, []byte(text))
}

func (w *toolCall) read() (string, error) {
	text, err := w.readText(w.in.Path)
	if err != nil {
		return "", err
	}
	lines := slices.Collect(strings.Lines(text))
	from := max(w.in.Offset-1, 0)
	if from > len(lines) || from > 0 && from == len(lines) {
		return "", fmt.Errorf("%s has only %d lines", w.in.Path, len(lines))
	}
	most := cmp.Or(max(w.in.Limit, 0), maxLines)
	end := from + min(most, len(lines)-from) // most may be the greatest number that there is
	to, size := from, 0
	for ; to < end && size+len(lines[to]) <= maxShown; to++ {
		size += len(lines[to])
	}
	out := strings.Join(lines[from:to], "")
	if to == from && to < end { // one line is longer than all that is given at once
		out, _ = clip(lines[to], maxShown)
		to++
		out += fmt.Sprintf("\n[line %d is cut at %d of %d bytes; sed -n %dp and tail -c +%d give the rest]",
			to, len(out), len(lines[from]), to, len(out)+1)
	}
	if to < len(lines) {
		out += fmt.Sprintf("\n[lines %d to %d of %d; go on with offset %d]", from+1, to, len(lines), to+1)
	}
	return out, nil
}

func (w *toolCall) write() (string, error) {
	if err := w.writeText(w.in.Path, w.in.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %s: %d bytes.", w.in.Path, len(w.in.Content)), nil
}

// edit is one replacement.
type edit struct{ OldText, NewText string }

func (w *toolCall) edit() (string, error) {
	edits := w.in.Edits
	if len(edits) == 0 {
		edits = []edit{{w.in.OldText, w.in.NewText}}
	}
	text, err := w.readText(w.in.Path)
	if err != nil {
		return "", err
	}
	for _, e := range edits {
		first, last := strings.Index(text, e.OldText), strings.LastIndex(text, e.OldText) // which may overlap
		switch {
		case e.OldText == "":
			return "", errors.New("oldText is empty; to write a whole file, use write")
		case e.OldText == e.NewText:
			return "", errors.New("oldText and newText are the same")
		case first < 0:
			return "", fmt.Errorf("oldText does not stand in %s; read it, and copy the text exactly",
				w.in.Path)
		case first != last:
			return "", fmt.Errorf("oldText stands in %s more than once; take more of what is around it",
				w.in.Path)
		}
		text = strings.Replace(text, e.OldText, e.NewText, 1)
	}
	if err := w.writeText(w.in.Path, text); err != nil {
		return "", err
	}
	return fmt.Sprintf("Changed %s.", w.in.Path), nil
}

func (w *toolCall) ls() (string, error) {
	path := cmp.Or(w.in.Path, ".")
	entries, err := w.list(path, maxNames+1)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxNames {
			b.WriteString("[there are more]\n")
			break
		}
		b.WriteString(e.Name())
		switch {
		case e.IsDir():
			b.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			b.WriteByte('@')
		}
		b.WriteByte('\n')
	}
	return cmp.Or(b.String(), "(the folder is empty)"), nil
}

// list returns the sorted names of a folder that the call may read.
func (w *toolCall) list(path string, most int) ([]fs.DirEntry, error) {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return nil, err
	}
	f, err := workspace.Open(use)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
