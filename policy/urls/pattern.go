package urls

import (
	"errors"
	"strconv"
	"strings"
)

// Pattern is a host, or all hosts below one: github.com, *.npmjs.org, git.example.com:8443. Without a port it
// stands for 80 and 443.
type Pattern struct {
	host       string
	subdomains bool // *.host
	port       int  // 0: 80 and 443
}

// ParsePattern parses a pattern. One that covers a whole top-level domain is an error.
func ParsePattern(text string) (Pattern, error) {
	host, below := strings.CutPrefix(text, "*.")
	u := parse("https://"+host, "", webPorts)
	p := Pattern{host: u.Host, subdomains: below}
	bare := host
	if end := portIndex(host); end >= 0 {
		bare, p.port = host[:end], u.Port
	}
	plain := !strings.ContainsAny(host, "/?#") && !strings.HasSuffix(host, ":") &&
		!strings.HasSuffix(bare, ".")
	switch {
	case u.Class == Malformed, !plain:
		return Pattern{}, errors.New("it is no host")
	case below && u.isAddress():
		return Pattern{}, errors.New("nothing is below an address")
	case below && !strings.Contains(u.Host, "."):
		return Pattern{}, errors.New("it covers a whole top-level domain")
	}
	return p, nil
}

// PatternOf returns the pattern of a URL's host and port.
func PatternOf(u Use) Pattern {
	p := Pattern{host: u.Host, port: u.Port}
	if u.Port == 80 || u.Port == 443 {
		p.port = 0
	}
	return p
}

// String returns the pattern as it is written.
func (p Pattern) String() string {
	s := p.host
	switch {
	case p.subdomains:
		s = "*." + s
	case strings.Contains(s, ":"):
		s = "[" + s + "]"
	}
	if p.port != 0 {
		s += ":" + strconv.Itoa(p.port)
	}
	return s
}

// Covers reports whether a pattern covers the host and port of a URL: *.a.b covers x.a.b and x.y.a.b, but not
// a.b.
func (p Pattern) Covers(u Use) bool {
	if p.port != u.Port && (p.port != 0 || u.Port != 80 && u.Port != 443) {
		return false
	}
	if p.subdomains {
		return strings.HasSuffix(u.Host, "."+p.host)
	}
	return p.host != "" && u.Host == p.host
}

// portIndex returns the index of the colon before a port; -1: none.
func portIndex(authority string) int {
	at := strings.LastIndexByte(authority, ':')
	if at < strings.LastIndexByte(authority, ']') {
		return -1
	}
	return at
}
