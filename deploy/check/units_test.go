package check

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// systemd takes the unit, and calls it well confined. The program stands where this machine has it.
func TestSystemdUnit(t *testing.T) {
	unit := string(read(t, "../gpt-oss-executor.service"))
	if !strings.Contains(unit, "Environment=GPTOSS_EXECUTOR_STATE=%S/gpt-oss-executor\n") ||
		!strings.Contains(unit, "StateDirectory=gpt-oss-executor\n") {
		t.Error("the state does not go into the folder that systemd makes")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not on this machine")
	}
	file := filepath.Join(t.TempDir(), "gpt-oss-executor.service")
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(unit, "/usr/local/bin/gpt-oss-executor", built(t))),
		0o644))
	if out, err := exec.Command(analyze, "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=25",
		file).CombinedOutput(); err != nil {
		t.Errorf("systemd calls it exposed: %v\n%s", err, out)
	}
}

// systemd takes the socket with the unit of the same name, and the program takes what is in it by that name.
func TestSystemdSocket(t *testing.T) {
	socket := string(read(t, "../gpt-oss-executor.socket"))
	for _, line := range []string{"FileDescriptorName=http\n", "Accept=no\n", "WantedBy=sockets.target\n"} {
		if !strings.Contains(socket, line) {
			t.Errorf("the socket does not say %q", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not on this machine")
	}
	dir := t.TempDir()
	unit := strings.ReplaceAll(string(read(t, "../gpt-oss-executor.service")),
		"/usr/local/bin/gpt-oss-executor", built(t))
	must(t, os.WriteFile(filepath.Join(dir, "gpt-oss-executor.service"), []byte(unit), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "gpt-oss-executor.socket"), []byte(socket), 0o644))
	if out, err := exec.Command(analyze, "verify", filepath.Join(dir, "gpt-oss-executor.socket"),
		filepath.Join(dir, "gpt-oss-executor.service")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// The property list of launchd is well formed, its variables are settings, and it starts what serves.
func TestLaunchdAgent(t *testing.T) {
	dict := plist(t, read(t, "../gpt-oss-executor.plist"))
	if got := dict["ProgramArguments"]; !slices.Equal(got.([]any), []any{"/usr/local/bin/gpt-oss-executor",
		"serve"}) {
		t.Errorf("it starts %v", got)
	}
	env := []string{}
	for k, v := range dict["EnvironmentVariables"].(map[string]any) {
		env = append(env, k+"="+v.(string))
	}
	s := config.Settings{Parts: stage.Settings()}
	must(t, s.Override(env))
	if s.State == "" || s.Upstream == "" {
		t.Errorf("settings %+v", s)
	}
	if dict["Umask"] != "63" || dict["RunAtLoad"] != true ||
		dict["KeepAlive"].(map[string]any)["SuccessfulExit"] != false {
		t.Errorf("%v", dict)
	}
	known := []string{"Label", "ProgramArguments", "EnvironmentVariables", "RunAtLoad", "KeepAlive",
		"ThrottleInterval", "ExitTimeOut", "SoftResourceLimits", "Umask", "StandardErrorPath"}
	for key := range dict {
		if !slices.Contains(known, key) {
			t.Errorf("launchd.plist(5) has no key %s", key)
		}
	}
}

// plist reads the dictionary of a property list. A key twice, or one without a value, is an error.
func plist(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			t.Fatal("there is no dictionary")
		}
		must(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "dict" {
			v := value(t, d, e)
			_, err := d.Token() // white space; then the end of plist
			must(t, err)
			return v.(map[string]any)
		}
	}
}

func value(t *testing.T, d *xml.Decoder, e xml.StartElement) any {
	t.Helper()
	switch e.Name.Local {
	case "true", "false":
		must(t, d.Skip())
		return e.Name.Local == "true"
	case "string", "integer", "key":
		var s string
		must(t, d.DecodeElement(&s, &e))
		return s
	}
	dict, list, key := map[string]any{}, []any{}, ""
	for {
		token, err := d.Token()
		must(t, err)
		switch token := token.(type) {
		case xml.EndElement:
			if e.Name.Local == "array" {
				return list
			}
			return dict
		case xml.StartElement:
			v := value(t, d, token)
			switch {
			case e.Name.Local == "array":
				list = append(list, v)
			case token.Name.Local == "key":
				key = v.(string)
				if _, twice := dict[key]; twice {
					t.Fatalf("%s is there twice", key)
				}
			default:
				dict[key] = v
			}
		}
	}
}
