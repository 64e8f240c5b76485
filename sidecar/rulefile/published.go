package rulefile

import (
	"os"
	"path/filepath"
)

// PublishedFile stands in a folder to which rules were published. It says something else
// after each publication, and Publishing during one: so ReadDir knows whether the files that
// it has read belong together.
const (
	PublishedFile = ".published"
	Publishing    = "a publication has begun\n"
)

// edition is what must be the same before and after a read.
type edition struct {
	folder    os.FileInfo
	published string
}

func editionOf(dir string) edition {
	folder, _ := os.Stat(dir) // a folder that is not there is readDir's to report
	text, _ := os.ReadFile(filepath.Join(dir, PublishedFile))
	return edition{folder, string(text)}
}

func (e edition) same(other edition) bool {
	return e.published == other.published && (e.folder == nil) == (other.folder == nil) &&
		(e.folder == nil || os.SameFile(e.folder, other.folder))
}

// Folders are those inside a folder of rules that hold files that count.
func Folders() []string {
	return []string{PackFolder, ExtraFolder, ProgramFolder, AgentFolder, FamilyFolder, TestFolder,
		PromptFolder}
}
