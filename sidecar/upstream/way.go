package upstream

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Obstacle keeps a server from answering until its operator changes something.
type Obstacle struct {
	Why string // for the caller
	Fix string // for the operator; may hold an address
}

func (o *Obstacle) Error() string { return o.Why }

// obstacleOf returns the obstacle behind an error; nil: none is known.
func obstacleOf(err error) *Obstacle {
	var known *Obstacle
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &known):
		return known
	case speaksPlain(err):
		return &Obstacle{"it does not speak TLS, and its address begins with https",
			"let --upstream begin with http://"}
	case errors.As(err, &authority):
		return &Obstacle{"its certificate is signed by an authority that is not known here (x509)",
			"set SSL_CERT_FILE, in the environment of gpt-oss-executor, to a PEM file with the certificate of that authority"}
	case errors.As(err, &name):
		return &Obstacle{"its certificate is for another name (x509)",
			"let --upstream have the name of the certificate: " + name.Error()}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &Obstacle{"its certificate is out of date, or not valid yet (x509)",
			"renew the certificate, or set the clock"}
	case errors.As(err, &cert):
		return &Obstacle{"its certificate is not trusted (x509)", cert.Err.Error()}
	}
	return nil
}

// redirectObstacle returns the obstacle of a response that redirects; nil: it does not. Redirects are not
// followed: a GET would lose the body, and another host would get the key.
func redirectObstacle(req *http.Request, res *http.Response) *Obstacle {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil
	}
	o := &Obstacle{fmt.Sprintf("it redirects to another address (HTTP %d)", res.StatusCode),
		"set --upstream to the address to which it redirects"}
	to, err := res.Location()
	if err != nil {
		return o
	}
	if to.Scheme == "https" && req.URL.Scheme == "http" && to.Hostname() == req.URL.Hostname() {
		o.Why = fmt.Sprintf("it redirects to https (HTTP %d)", res.StatusCode)
	}
	bare := url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, "/chat/completions")}
	bare.Path = strings.TrimSuffix(bare.Path, "/models")
	o.Fix = "it redirects to " + bare.String() + ": set --upstream to that"
	return o
}

// proxyObstacle returns the obstacle of a proxy that refuses a request.
func proxyObstacle(status int, scheme string) *Obstacle {
	name := strings.ToUpper(scheme) + "_PROXY"
	if status == http.StatusProxyAuthRequired {
		return &Obstacle{"the proxy of " + name + " wants a password (HTTP 407)",
			"write user and password into " + name +
				" (http://USER:PASSWORD@HOST:PORT), or the host of the model server into NO_PROXY"}
	}
	return &Obstacle{fmt.Sprintf("the proxy of %s does not connect (HTTP %d)", name, status),
		"write the host of the model server into NO_PROXY, or let the proxy connect"}
}

// checkConnect checks a proxy's response to CONNECT.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return proxyObstacle(res.StatusCode, "https")
}

// decompress makes the body of a response plain. None was asked to be compressed, but some proxies do so.
func decompress(res *http.Response) *Obstacle {
	var names []string
	for _, line := range res.Header.Values("Content-Encoding") {
		names = append(names, strings.Split(line, ",")...)
	}
	for _, name := range slices.Backward(names) {
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "", "identity":
			continue
		case "gzip", "x-gzip":
			res.Body = &compressedBody{ReadCloser: res.Body,
				open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			res.Body = &compressedBody{ReadCloser: res.Body, open: inflate}
		default:
			return &Obstacle{fmt.Sprintf("its answer is compressed (%s), and only gzip and deflate are read",
				redact(name)),
				"turn compression off at the server, or at the proxy in front of it"}
		}
		res.Header.Del("Content-Length")
		res.ContentLength = -1
	}
	res.Header.Del("Content-Encoding")
	return nil
}

// compressedBody is a compressed body. It is opened on the first Read, since its header may come long after
// that of the response.
type compressedBody struct {
	io.ReadCloser
	open  func(io.Reader) (io.Reader, error)
	plain io.Reader // nil: not opened
}

func (p *compressedBody) Read(b []byte) (int, error) {
	if p.plain == nil {
		plain, err := p.open(p.ReadCloser)
		if err != nil {
			return 0, err
		}
		p.plain = plain
	}
	return p.plain.Read(b)
}

// inflate reads deflate as servers mean it: zlib, as the standard says, or without its header.
func inflate(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(2)
	if len(head) == 0 {
		return nil, err
	}
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}
