package confine

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
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// agentNote says that an agent runs on a machine, as the user who owns the note. The command connect
// writes it, and serve reads it. Several machines may share a home folder.
type agentNote struct {
	Host string `json:"host"`
	URL  string `json:"url"` // of the sidecar, for the agent
}

// noteFile returns the file of an agent's note. No setting moves it: connect does not know those of
// serve.
func noteFile(agent string) (string, error) {
	dir, err := service.StateOf(config.Settings{})
	if agent == ruleset.OpenClaw { // as all versions have named it
		return filepath.Join(dir, "gateway.json"), err
	}
	return filepath.Join(dir, "agents", agent+".json"), err
}

// NoteAgent writes a note for serve if commands of a connected agent can be confined. It returns for
// the user what becomes of them.
func NoteAgent(agent, sidecar string) string {
	if !isLoopback(sidecar) {
		return "commands are not confined, since the agent reaches the sidecar at another address than 127.0.0.1. " +
			"If both run on one machine, as one user, start serve there with --confine here"
	}
	if _, err := missingParts(walls.Probe()); err != nil {
		return err.Error() + ". The rules for commands that are not confined hold"
	}
	if err := writeNote(agent, sidecar); err != nil {
		return "commands are not confined: " + err.Error() + "; start serve with --confine here"
	}
	return "the kernel of this machine can confine commands. From its next start on serve lets it, if it runs here as this user; " +
		"it does not with --confine off"
}

func writeNote(agent, sidecar string) error {
	file, err := noteFile(agent)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name this machine: %w", err)
	}
	doc, err := json.Marshal(agentNote{host, sidecar})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, doc, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note that the agent is here: %w", err)
	}
	return nil
}

// ForgetAgent removes the note of an agent on this machine, if the agent has left the sidecar that the
// note names.
func ForgetAgent(agent string, disconnected func(sidecar string) bool) error {
	note, file, err := readNote(agent)
	host, herr := os.Hostname()
	if err != nil || herr != nil || note.Host != host || !disconnected(note.URL) {
		return nil
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("forget that the agent is here: %w", err)
	}
	return nil
}

func readNote(agent string) (note agentNote, file string, err error) {
	if file, err = noteFile(agent); err != nil {
		return note, file, err
	}
	doc, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(doc, &note)
	}
	return note, file, err
}

// Agents returns the agents that run on this machine as this user, by their notes, or why serve
// assumes none. A wrong guess costs one call: its result shows that the command was not run.
func Agents(local bool, agents []string) (here []string, why string) {
	const hint = "; if it runs on this machine, as this user, set --confine here"
	if runtime.GOOS == "windows" {
		return nil, "nothing confines on Windows"
	}
	if !local {
		return nil, "the agent may be on another machine, since this server listens for others" + hint
	}
	host, err := os.Hostname()
	for _, agent := range agents {
		if note, _, nerr := readNote(agent); err == nil && nerr == nil && note.Host == host {
			here = append(here, agent)
		}
	}
	if here == nil {
		why = "it is not known where the agent is" + hint + ", or run: gpt-oss-executor openclaw"
	}
	return here, why
}

// isLoopback reports whether a URL leads to this machine.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
