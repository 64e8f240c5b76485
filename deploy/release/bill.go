package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// The used parts of a CycloneDX 1.6 document.
type (
	bom struct {
		Format       string      `json:"bomFormat"`
		Spec         string      `json:"specVersion"`
		Serial       string      `json:"serialNumber"`
		Version      int         `json:"version"`
		Metadata     bomMetadata `json:"metadata"`
		Components   []component `json:"components"`
		Dependencies []dependsOn `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string       `json:"type"`
		Ref        string       `json:"bom-ref"`
		Name       string       `json:"name"`
		Version    string       `json:"version"`
		PURL       string       `json:"purl"`
		Licences   []expression `json:"licenses"`
		Hashes     []hash       `json:"hashes,omitempty"`
		Properties []property   `json:"properties,omitempty"`
	}
	expression struct {
		Expression string `json:"expression"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependsOn struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn,omitempty"`
	}
)

// bill returns the parts of a binary in CycloneDX: the modules that Go recorded in it, with their licences.
func (r *release) bill(t target, info *debug.BuildInfo, used []dependency, binary []byte) ([]byte, error) {
	sum := sha256.Sum256(binary)
	self := purl(info.Main.Path, "v"+r.version) + "?type=module&goos=" + t.os + "&goarch=" + t.arch
	sums := map[string]string{}
	for _, m := range info.Deps {
		sums[m.Path] = m.Sum
	}
	out := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial: fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], []byte{sum[6]&0x0f | 0x80, sum[7]},
			[]byte{sum[8]&0x3f | 0x80, sum[9]}, sum[10:16]),
		Metadata: bomMetadata{
			Timestamp: r.at.Format(time.RFC3339),
			Component: component{
				Type: "application", Ref: self, Name: name, Version: "v" + r.version, PURL: self,
				Licences:   []expression{{"Apache-2.0"}},
				Hashes:     []hash{{"SHA-256", fmt.Sprintf("%x", sum)}},
				Properties: []property{{"go:version", info.GoVersion}, {"vcs:revision", r.program.Commit}},
			},
		},
		Components: []component{},
	}
	root := dependsOn{Ref: self}
	for _, d := range used {
		c := component{Type: "library", Name: d.path, Version: d.version, PURL: purl(d.path, d.version),
			Licences: []expression{{d.spdx}}}
		if c.Ref = c.PURL; sums[d.path] != "" {
			c.Properties = []property{{"go:sum", sums[d.path]}}
		}
		out.Components = append(out.Components, c)
		out.Dependencies = append(out.Dependencies, dependsOn{Ref: c.Ref})
		root.On = append(root.On, c.Ref)
	}
	out.Dependencies = append([]dependsOn{root}, out.Dependencies...)
	text, err := json.MarshalIndent(out, "", "  ")
	return append(text, '\n'), err
}

// purl returns the package URL of a Go module, in lower case.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + version
}
