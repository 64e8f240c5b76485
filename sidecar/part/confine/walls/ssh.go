package walls

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// SSHRequest is what confined git asks ssh for. The transport compares it with the remotes of the
// command.
type SSHRequest struct{ Host, Port, User, Path, Service, Protocol string }

// SSHPath is the path of the transport at the proxy of confined commands.
const SSHPath = "/git-ssh"

// SSH is the command of this program that git runs as ssh.
const SSH = "git-ssh"

// ParseSSH reads how git runs ssh:
//
//	-o SendEnv=GIT_PROTOCOL -p 22 sam@example.com "git-upload-pack 'shop.git'"
func ParseSSH(args []string, protocol string) (a SSHRequest, err error) {
	for len(args) > 2 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-4", "-6":
			args = args[1:]
			continue
		case "-p":
			a.Port = args[1]
		case "-o":
		default:
			return a, fmt.Errorf("git gives ssh the option %s, which it does not have here", args[0])
		}
		args = args[2:]
	}
	if len(args) != 2 {
		return a, errors.New("it takes a host and a service, as git gives them to ssh")
	}
	var named bool
	if a.User, a.Host, named = strings.Cut(args[0], "@"); !named {
		a.User, a.Host = "", args[0]
	}
	service, path, _ := strings.Cut(args[1], " ")
	a.Service, a.Path, a.Protocol = service, strings.Trim(path, "'"), protocol
	return a, nil
}

// Query returns the request as part of a URL.
func (a SSHRequest) Query() string {
	return url.Values{"host": {a.Host}, "port": {a.Port}, "user": {a.User}, "path": {a.Path},
		"service": {a.Service}, "protocol": {a.Protocol}}.Encode()
}

// ParseSSHQuery reads a query.
func ParseSSHQuery(q url.Values) SSHRequest {
	return SSHRequest{q.Get("host"), q.Get("port"), q.Get("user"), q.Get("path"), q.Get("service"),
		q.Get("protocol")}
}

// Parts of an answer.
const (
	Output byte = iota
	Errors
	Exit
)

// Frames writes one part of an answer of the transport.
type Frames struct {
	To   io.Writer // not used concurrently
	Part byte
}

// Write writes a frame: the part, the length in four bytes, the data.
func (f Frames) Write(p []byte) (int, error) {
	frame := append(binary.BigEndian.AppendUint32([]byte{f.Part}, uint32(len(p))), p...)
	if _, err := f.To.Write(frame); err != nil {
		return 0, err
	}
	return len(p), nil
}

// maxFrame is more than one write of a program.
const maxFrame = 1 << 20

// Run sends the request to the proxy at a URL and returns the exit code.
func (a SSHRequest) Run(ctx context.Context, proxy string, in io.Reader,
	out, errs io.Writer) (code int, err error) {
	u, err := url.Parse(proxy)
	if err != nil || u.Host == "" {
		return 255, errors.New("there is no proxy here: http_proxy is not set")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return 255, fmt.Errorf("reach the transport: %w", err)
	}
	defer conn.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+u.Host+SSHPath+"?"+a.Query(), nil)
	if err != nil {
		return 255, fmt.Errorf("ask the transport: %w", err)
	}
	authorize(req, u)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "git")
	if err := req.Write(conn); err != nil {
		return 255, fmt.Errorf("ask the transport: %w", err)
	}
	from := bufio.NewReader(conn)
	res, err := http.ReadResponse(from, req)
	if err != nil {
		return 255, fmt.Errorf("ask the transport: %w", err)
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		why, _ := io.ReadAll(io.LimitReader(res.Body, maxFrame))
		return 255, errors.New(strings.TrimSpace(string(why)))
	}
	go func() {
		_, _ = io.Copy(conn, in)
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	return readFrames(from, out, errs)
}

// readFrames copies the parts of an answer and returns the exit code.
func readFrames(from io.Reader, out, errs io.Writer) (code int, err error) {
	for head := make([]byte, 5); ; {
		if _, err := io.ReadFull(from, head); err != nil {
			return 255, fmt.Errorf("the transport has broken off: %w", err)
		}
		n := int64(binary.BigEndian.Uint32(head[1:]))
		if n > maxFrame {
			return 255, errors.New("the transport sends more than it may")
		}
		to := map[byte]io.Writer{Output: out, Errors: errs}[head[0]]
		if to == nil {
			return int(n), nil
		}
		if _, err := io.CopyN(to, from, n); err != nil {
			return 255, fmt.Errorf("hand on what the transport sends: %w", err)
		}
	}
}
