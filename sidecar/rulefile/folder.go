package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// ReadDir is ReadFS for a folder on disk. It refuses a folder or file that everyone may write to, since the
// rules decide what runs, unless it is on a read-only mount, as in Kubernetes, which has mode 0777. It waits
// while a process publishes there or replaces the folder, so that the files belong together.
func ReadDir(dir string) (Files, error) {
	before := revisionOf(dir)
	for range 200 {
		files, err := readDir(dir)
		now := revisionOf(dir)
		if now.published != Publishing && now.same(before) {
			return files, err
		}
		before = now
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("read rules: a publication to %s was broken off; publish again, or put the files right and remove %s",
		dir, filepath.Join(dir, PublishedFile))
}

func readDir(dir string) (Files, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("read rules: %s is a file; name the folder of the rules", dir)
	}
	files := Files{}
	if err == nil {
		err = files.readAll(os.DirFS(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", folderError(dir, err))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read rules: %s: %w", dir, errNoFiles)
	}
	names := append(slices.Sorted(maps.Keys(files)), ".")
	for _, folder := range Folders() {
		if files.HasFolder(folder) {
			names = append(names, folder)
		}
	}
	for _, name := range names {
		full := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(full)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		if atomicfile.May(info)&0o002 != 0 && !readOnly(full) {
			return nil, fmt.Errorf("read rules: everyone may write to %s; run: chmod o-w %s", full, full)
		}
	}
	return files, nil
}

// PublishedFile is a file in a folder to which rules were published. Its text changes with each publication
// and is Publishing during one, so ReadDir knows whether files belong together.
const (
	PublishedFile = ".published"
	Publishing    = "a publication has begun\n"
)

// revision is what must not change during a read.
type revision struct {
	folder    os.FileInfo
	published string
}

func revisionOf(dir string) revision {
	folder, _ := os.Stat(dir) // a folder that is not there is readDir's to report
	text, _ := os.ReadFile(filepath.Join(dir, PublishedFile))
	return revision{folder, string(text)}
}

func (e revision) same(other revision) bool {
	return e.published == other.published && (e.folder == nil) == (other.folder == nil) &&
		(e.folder == nil || os.SameFile(e.folder, other.folder))
}

var errNoFolder = errors.New("there is no such folder; a new one is made with: gpt-oss-executor init DIR")

var errNoFiles = errors.New("it holds no *.yaml file; write some with: gpt-oss-executor init DIR")

// folderError explains why a folder cannot be read.
func folderError(dir string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	itself, missing := os.Lstat(dir)
	if errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, errNoFolder)
	}
	if missing != nil {
		return explainError(missing, dir, 0)
	}
	return explainError(err, dir, itself.Mode())
}

// explainError names what cannot be read, and says what to do about it.
func explainError(err error, name string, kind fs.FileMode) error {
	var at *fs.PathError
	switch {
	case !errors.As(err, &at):
		return err
	case errors.Is(err, fs.ErrNotExist) && kind&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link that leads nowhere; mend or remove it", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w; let the user who runs this program read it", name, at.Err)
	}
	return fmt.Errorf("%s: %w", name, at.Err)
}

// RuleFiles returns the named files, and the rule files in named folders, with packs and tests.
func RuleFiles(args []string) (names []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			names = append(names, arg)
			continue
		}
		files, err := ReadDir(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if filepath.Ext(name) == ".yaml" {
				names = append(names, filepath.Join(arg, filepath.FromSlash(name)))
			}
		}
	}
	return names, nil
}
