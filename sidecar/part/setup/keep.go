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

// keep adds to the variables of a sidecar that the gateway starts what its user wants later, and nothing says
// otherwise: a state folder, a file for the log, and the console with a token. The folder and the token are
// made, and the token is told when it is made.
func (c *Connector) keep(pairs []string) ([]string, error) {
	dir, err := service.StateOf(c.Settings)
	if err == nil {
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
	if open("LOG_OUTPUT") {
		logs := filepath.Join(dir, "sidecar.log")
		add("LOG_OUTPUT", logs)
		fmt.Fprintln(c.Err, "log:", logs)
	}
	if !open("ADMIN") {
		return pairs, nil
	}
	admin, err := consoleAt(filepath.Join(dir, "console_address"), c.Service.Listen)
	if err != nil {
		return nil, fmt.Errorf("find a port for the console: %w", err)
	}
	add("ADMIN", admin)
	if !open("ADMIN_TOKEN") {
		return pairs, nil
	}
	file := filepath.Join(dir, "admin_token")
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

// consoleAt is the address that a file says, or else a free one behind that of the sidecar, which is noted
// there.
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

// newToken makes a file with a token for its owner alone; empty: the file is there already.
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
