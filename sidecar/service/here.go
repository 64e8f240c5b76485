package service

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/confine"
)

// gatewayNote says that a gateway runs on a machine, as the user who has the note. The command
// openclaw writes it, and serve reads it. A home folder may be that of several machines.
type gatewayNote struct {
	Host string `json:"host"`
	URL  string `json:"url"` // of the sidecar, for the gateway
}

// gatewayFile is where the note lies. No setting moves it: openclaw is not told those of serve.
func gatewayFile() (string, error) {
	dir, err := stateOf(config.Settings{})
	return filepath.Join(dir, "gateway.json"), err
}

// NoteGateway tells whoever runs openclaw what becomes of commands, and makes a note for serve
// if they can be confined.
func NoteGateway(sidecar string) string {
	if !isLoopback(sidecar) {
		return "commands are not confined, since the gateway reaches the sidecar at another address than 127.0.0.1. " +
			"If both run on one machine, as one user, start serve there with --confine here"
	}
	if _, err := Unconfined(confine.Probe(), false); err != nil {
		return err.Error() + ". The rules for commands that are not confined hold"
	}
	if err := writeGateway(sidecar); err != nil {
		return "commands are not confined: " + err.Error() + "; start serve with --confine here"
	}
	return "the kernel of this machine can confine commands. From its next start on serve lets it, if it runs here as this user; " +
		"it does not with --confine off"
}

func writeGateway(sidecar string) error {
	file, err := gatewayFile()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name this machine: %w", err)
	}
	doc, err := json.Marshal(gatewayNote{host, sidecar})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, doc, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note that the gateway is here: %w", err)
	}
	return nil
}

// ForgetGateway takes the note away, if it is of this machine and the gateway does not lead to the
// sidecar that it names any more.
func ForgetGateway(left func(sidecar string) bool) error {
	note, file, err := readGateway()
	host, herr := os.Hostname()
	if err != nil || herr != nil || note.Host != host || !left(note.URL) {
		return nil
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("forget that the gateway is here: %w", err)
	}
	return nil
}

func readGateway() (note gatewayNote, file string, err error) {
	if file, err = gatewayFile(); err != nil {
		return note, file, err
	}
	doc, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(doc, &note)
	}
	return note, file, err
}

// NotHere is why serve does not take the gateway to run here; empty: it does. A wrong guess
// costs one call: its result shows that the command was not run.
func NotHere(local bool) string {
	const hint = "; if it runs on this machine, as this user, set --confine here"
	if runtime.GOOS == "windows" {
		return "nothing confines on Windows"
	}
	if !local {
		return "the gateway may be on another machine, since this server listens for others" + hint
	}
	note, _, err := readGateway()
	if host, herr := os.Hostname(); err != nil || herr != nil || note.Host != host {
		return "it is not known where the gateway is" + hint + ", or run: gpt-oss-executor openclaw"
	}
	return ""
}

// isLoopback reports whether a URL leads to the machine that asks.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
