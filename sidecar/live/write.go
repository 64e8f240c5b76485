package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// write makes files the rule files of a folder, and says what stood there before. Those that differ are
// written beside their places first, and renamed within a few milliseconds then. by is the origin that
// publisher reads; empty: none. like says which modes and owners they have; nil: what stands there.
func write(dir string, files rulefile.Files, by string, like *content) (before *content, err error) {
	made, err := makeFolder(dir, like)
	if err != nil {
		return nil, err
	}
	free, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer free()
	if before, err = look(dir); err != nil {
		return nil, err
	}
	if made {
		before.info = nil
	}
	if like == nil {
		like = before
	}
	changed := files.Differ(before.texts())
	if text, _ := os.ReadFile(filepath.Join(dir, rulefile.PublishedFile)); len(changed) == 0 &&
		string(text) != rulefile.Publishing {
		return before, nil
	}
	staged := map[string]string{} // name → path; "": the file goes
	defer func() {
		for _, path := range staged {
			_ = os.Remove(path) // what was renamed is not there any more
		}
	}()
	for _, name := range changed {
		if staged[name], err = stage(dir, name, files, like); err != nil {
			return before, err
		}
	}
	done := fmt.Sprintf("%s %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), files.Version(), by)
	return before, put(dir, staged, done, like)
}

// stage writes a file beside its place, and nothing where it is to go.
func stage(dir, name string, files rulefile.Files, like *content) (path string, err error) {
	text, stays := files[name]
	if !stays {
		return "", nil
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	if in := filepath.Dir(at); in != filepath.Clean(dir) {
		if _, err := makeFolder(in, like); err != nil {
			return "", err
		}
	}
	path, err = atomicfile.Stage(at, []byte(text), like.mode(name))
	if err == nil {
		like.own(path, name)
	}
	return path, err
}

// put renames what stage wrote, and marks the publication as done. rulefile.ReadDir waits meanwhile.
func put(dir string, staged map[string]string, done string, like *content) error {
	if err := mark(dir, rulefile.Publishing, like); err != nil {
		return err
	}
	folders := map[string]bool{}
	for name, path := range staged {
		at := filepath.Join(dir, filepath.FromSlash(name))
		folders[filepath.Dir(at)] = true
		var err error
		if path == "" {
			err = os.Remove(at)
		} else {
			err = os.Rename(path, at)
		}
		if err != nil {
			return err
		}
	}
	for in := range folders {
		if err := atomicfile.SyncFolder(in); err != nil {
			return err
		}
	}
	return mark(dir, done, like)
}

// publisher returns the origin of the last publication to a folder; empty: files were edited since, or it
// names none.
func publisher(dir string, own rulefile.Files) string {
	text, _ := os.ReadFile(filepath.Join(dir, rulefile.PublishedFile))
	if mark := strings.Fields(string(text)); len(mark) == 3 && mark[1] == own.Version() {
		return mark[2]
	}
	return ""
}

// mark tells readers how far the publication is.
func mark(dir, text string, like *content) error {
	at := filepath.Join(dir, rulefile.PublishedFile)
	err := atomicfile.Write(at, []byte(text), like.folderMode()&0o666)
	if err == nil {
		like.own(at, "")
	}
	return err
}

// makeFolder makes a folder of rules, or one inside of it, if it is not there.
func makeFolder(dir string, like *content) (made bool, err error) {
	if like == nil {
		like = &content{}
	}
	err = os.Mkdir(dir, like.folderMode())
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil || like.info == nil {
		return err == nil, err
	}
	like.own(dir, "")
	return true, os.Chmod(dir, like.folderMode()) // whatever the umask is
}
