package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// scope is the npm scope of the targets' packages. Only its owner can publish into it.
const scope = "@gpt-oss-executor/"

// manifest is a package.json.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Repository   map[string]string `json:"repository"`
	Homepage     string            `json:"homepage,omitempty"`
	Keywords     []string          `json:"keywords,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"`
	Files        []string          `json:"files,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	Publish      map[string]string `json:"publishConfig"`
}

// template reads deploy/npm/package.json, the base of the packages.
func template() (m manifest, err error) {
	text, err := os.ReadFile("deploy/npm/package.json")
	if err != nil {
		return m, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&m); err != nil {
		err = fmt.Errorf("deploy/npm/package.json: %w", err)
	}
	return m, err
}

func (m manifest) file() (file, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return file{name: "package.json", text: append(text, '\n'), mode: 0o644}, err
}

// npmTarget writes the package of a target: the binaries and their licences.
func (r *release) npmTarget(t target, own []file) (file, error) {
	m, err := template()
	if err != nil {
		return file{}, err
	}
	platform, cpu := t.npm()
	m.Name, m.Version = scope+platform+"-"+cpu, r.version
	m.Description = "The program gpt-oss-executor for " + t.String() +
		". Install the package gpt-oss-executor, which needs it."
	m.OS, m.CPU, m.PreferUnplug = []string{platform}, []string{cpu}, true
	m.Bin, m.Engines, m.Files, m.Keywords = nil, nil, nil, nil
	head, err := m.file()
	if err != nil {
		return file{}, err
	}
	readme := file{name: "README.md", text: []byte("# " + m.Name + "\n\n" + m.Description + "\n"),
		mode: 0o644}
	packed, err := tarball("package", append([]file{head, readme, r.licence()}, own...), r.at)
	return file{name: fmt.Sprintf("npm/%s-%s-%s-%s.tgz", name, platform, cpu, r.version), text: packed}, err
}

// npmMain writes the package that users install. The targets' packages are its optional dependencies, of
// which npm installs the one for the machine.
func (r *release) npmMain(out string, chosen []target) error {
	m, err := template()
	if err != nil {
		return err
	}
	m.Version, m.Optional = r.version, map[string]string{}
	for _, t := range chosen {
		platform, cpu := t.npm()
		m.Optional[scope+platform+"-"+cpu] = r.version
	}
	head, err := m.file()
	if err != nil {
		return err
	}
	files := []file{head, r.licence()}
	for f, mode := range map[string]fs.FileMode{"README.md": 0o644, m.Bin[name]: 0o755} {
		text, err := os.ReadFile(filepath.Join("deploy/npm", f))
		if err != nil {
			return err
		}
		files = append(files, file{name: f, text: text, mode: mode})
	}
	packed, err := tarball("package", files, r.at)
	if err != nil {
		return err
	}
	return writeAll(out, file{name: fmt.Sprintf("npm/%s-%s.tgz", name, r.version), text: packed})
}

func (r *release) licence() file {
	return r.common[slices.IndexFunc(r.common, func(f file) bool { return f.name == "LICENSE" })]
}
