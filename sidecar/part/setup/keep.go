package setup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// keep adds the defaults of a sidecar that the gateway starts to its variables: a state folder, a log file in
// it, and the console with a token. With Writes it makes the folder, the token and a note of the console's
// address, and prints a new token. Without it, it names only what was made before.
func (c *Connector) keep(pairs []string) ([]string, error) {
	dir, err := service.StateOf(c.Settings)
	if err == nil && c.Writes {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	open := func(name string) bool {
		return !slices.ContainsFunc(pairs, func(p string) bool {
			return strings.HasPrefix(p, config.Prefix+name+"=")
		})
	}
	add := func(name, value string) { pairs = append(pairs, config.Prefix+name+"="+value) }
	if open("STATE") {
		add("STATE", dir)
	}
	if open("LOG_OUTPUT") && exists(dir) {
		logs := filepath.Join(dir, "sidecar.log")
		add("LOG_OUTPUT", logs)
		fmt.Fprintln(c.Err, "log:", logs)
	}
	if !open("ADMIN") {
		return pairs, nil
	}
	address, file := filepath.Join(dir, "console_address"), filepath.Join(dir, "admin_token")
	ownToken := open("ADMIN_TOKEN")
	if !c.Writes && !(exists(address) && (exists(file) || !ownToken)) {
		fmt.Fprintf(c.Err, "console: there is none yet; with --write a log file, a console and its token are made in %s\n", dir)
		return pairs, nil
	}
	admin, err := consoleAt(address, c.Service.Listen)
	if err != nil {
		return nil, fmt.Errorf("find a port for the console: %w", err)
	}
	add("ADMIN", admin)
	if !ownToken {
		return pairs, nil
	}
	add("ADMIN_TOKEN", "file:"+file)
	switch token, err := newToken(file); {
	case err != nil:
		return nil, fmt.Errorf("make a token for the console: %w", err)
	case token == "":
		fmt.Fprintf(c.Err, "console: http://%s/, with the token in %s\n", admin, file)
	default:
		fmt.Fprintf(c.Err, "console: http://%s/, with this token, which is in %s: %s\n", admin, file, token)
	}
	return pairs, nil
}

// consoleAt returns the address in a file, or else the next free one after that of the sidecar, which it
// writes to the file.
func consoleAt(file, listen string) (address string, err error) {
	if text, err := os.ReadFile(file); err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}
	for range 20 {
		port = port%65535 + 1
		address = net.JoinHostPort(host, strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, errors.Join(l.Close(), os.WriteFile(file, []byte(address+"\n"), 0o600))
		}
	}
	return "", errors.New("none behind " + listen + " is free; set " + config.Prefix + "ADMIN")
}

// newToken makes a file with a token that only its owner can read. The token is empty if the file exists.
func newToken(file string) (token string, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	token = rand.Text()
	_, err = fmt.Fprintln(f, token)
	return token, errors.Join(err, f.Close())
}
