package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// The modes of what is written. Rules are no secret, but who may write here decides what runs after a bad
// start, and no other user has a reason to read.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// fileName is one entry on disk: its number and its version.
var fileName = regexp.MustCompile(`^(\d{8})-[0-9a-f]{12}\.json$`)

// read takes up the entries of the folder. Those that are damaged are left out.
func (h *History) read() error {
	if err := os.MkdirAll(h.dir, folderMode); err != nil {
		return err
	}
	info, err := os.Stat(h.dir)
	if err != nil {
		return err
	}
	if atomicfile.May(info)&0o022 != 0 {
		dir := h.dir
		h.dir = "" // what others may change is not run, and nothing is left there
		return fmt.Errorf("others may write to %s, so it is not used; run: chmod go-w %s", dir, dir)
	}
	names, err := h.names()
	if err != nil {
		return err
	}
	wrong := atomicfile.Sweep(h.dir)
	for _, name := range names {
		h.number = number(name)
		e, err := readEntry(filepath.Join(h.dir, name))
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s is left out: %w", name, err))
			continue
		}
		h.entries = append(h.entries, e)
	}
	h.entries = slices.Delete(h.entries, 0, max(0, len(h.entries)-Length))
	return wrong
}

// names are the entries in the folder, oldest first.
func (h *History) names() (names []string, err error) {
	list, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if fileName.MatchString(f.Name()) {
			names = append(names, f.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, nil
}

func number(name string) int {
	n, _ := strconv.Atoi(fileName.FindStringSubmatch(name)[1]) // eight digits
	return n
}

// readEntry reads one file, whose texts must be what its name and version say.
func readEntry(path string) (e Entry, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(doc, &e); err != nil {
		return e, err
	}
	if v := e.Files.Version(); v != e.Version || !strings.HasSuffix(path, v+".json") {
		return e, fmt.Errorf("its files are %s and not %s", v, e.Version)
	}
	return e, nil
}

// write puts one entry on disk, whole or not at all, and removes the oldest.
func (h *History) write(e Entry) error {
	doc, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%08d-%s.json", h.number+1, e.Version)
	if err := os.MkdirAll(h.dir, folderMode); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(h.dir, name), doc, fileMode); err != nil {
		return err
	}
	h.number++
	names, err := h.names()
	if err != nil {
		return err
	}
	for _, old := range names[:max(0, len(names)-Length)] {
		if err := os.Remove(filepath.Join(h.dir, old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
