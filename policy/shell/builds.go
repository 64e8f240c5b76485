package shell

import (
	"path"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// workspaceCode marks a program that runs code of the workspace, such as make: what it
// runs depends on the folder, and on files that the script may just have made.
func (sh *shell) workspaceCode(cmd *Command, folder word) {
	for _, u := range sh.use(paths.Read, folder, "folder") {
		if u.Class != paths.Workspace && u.Class != paths.WorkspaceRoot {
			cmd.tag("foreign-code")
			break
		}
	}
	for name, s := range sh.a.files {
		if s != nil && buildsWith(path.Base(name), s) {
			cmd.tag("runs-created-file")
			return
		}
	}
}

// unpackers write files whose names and text come from elsewhere.
var unpackers = []string{"tar", "gtar", "bsdtar", "unzip", "7z", "7za", "cpio", "patch", "gunzip", "gzip", "xz", "unxz", "bunzip2", "zstd"}

// unpacked notes what brings code from the network, and marks what runs code afterwards.
func (sh *shell) unpacked(cmd *Command, base string, e program.Effect) {
	runs := cmd.CodeFile != "" || slices.Contains(cmd.Tags, "workspace-code") || slices.Contains(cmd.Tags, "workspace-program")
	if sh.a.unpacked && runs {
		cmd.tag("runs-created-file")
	}
	from := sh.in.From
	for _, w := range touched(e, paths.Read) {
		if s := sh.made(w); s != nil {
			from = join(from, s.from)
		}
	}
	fetched := slices.ContainsFunc(from, fetches)
	patched := base == "git" && (e.Sub == "apply" || e.Sub == "am")
	if base == "git" && e.Sub == "clone" || fetched && (patched || slices.Contains(unpackers, base)) {
		sh.a.unpacked = true
	}
}

// buildsWith tells whether tools run the code of a file by themselves: one that the
// script has written out, or any code that it has downloaded.
func buildsWith(name string, s *sink) bool {
	fetched := slices.ContainsFunc(s.from, fetches)
	if slices.Contains(buildFiles, name) {
		return fetched || s.known
	}
	return fetched && slices.Contains(codeSuffixes, path.Ext(name))
}

var (
	buildFiles = []string{
		"Makefile", "makefile", "GNUmakefile", "package.json", "conftest.py", "setup.py", "setup.cfg", "pyproject.toml", "pytest.ini", "tox.ini",
		"noxfile.py", "tasks.py", "build.rs", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "CMakeLists.txt",
		"Rakefile", "Gemfile", "Justfile", "justfile", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "sitecustomize.py", "usercustomize.py",
	}
	codeSuffixes = []string{
		".go", ".py", ".pth", ".js", ".mjs", ".cjs", ".ts", ".rs", ".c", ".h", ".cc", ".cpp", ".java", ".kt", ".gradle", ".rb", ".php", ".pl",
		".sh", ".mk", ".cmake", ".so", ".jar", ".whl", ".toml",
	}
)
