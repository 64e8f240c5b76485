package urls

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The usable schemes, with their ports.
var (
	webPorts = map[string]int{"http": 80, "https": 443}
	gitPorts = map[string]int{"http": 80, "https": 443, "ssh": 22}
)

// blockedPorts are ports of other protocols.
var blockedPorts = lists.Set("ports")

// longQuery is the usual length of path and query in bytes.
const longQuery = 1024

// parse parses a URL. If programs are known to parse one differently, it is malformed: the guard does not
// guess which of them will be used.
func parse(url, method string, ports map[string]int) Use {
	u := Use{URL: url, Method: strings.ToUpper(method), Class: Public}
	if method == "" {
		u.Method = "GET"
	}
	if hasOddCharacters(url) {
		return u.malformed(MarkCharacters)
	}
	scheme, rest, found := strings.Cut(url, ":")
	if !found || !isScheme(scheme) {
		return u.malformed(MarkForm)
	}
	u.Scheme = strings.ToLower(scheme)
	port, known := ports[u.Scheme]
	if !known {
		u.Class = BadScheme
		return u
	}
	rest, found = strings.CutPrefix(rest, "//")
	if !found {
		return u.malformed(MarkForm)
	}
	ends := "/?#"
	if u.Scheme == "ssh" {
		ends = "/" // to git, ? and # are letters like others
	}
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, ends); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	if u.Scheme == "ssh" && strings.ContainsAny(tail, "[]") {
		return u.malformed(MarkHost) // git looks for a host between brackets wherever they stand
	}
	u.Port = port
	u = u.parseAuthority(authority)
	if sent, _, _ := strings.Cut(tail, "#"); u.Class != Malformed && len(sent) > longQuery {
		u.mark(MarkLongQuery)
	}
	return u
}

// parseAuthority parses user@host:port.
func (u Use) parseAuthority(authority string) Use {
	if user, host, found := strings.Cut(authority, "@"); found {
		if u.Scheme != "ssh" || !isUser(user) {
			return u.malformed(MarkUser)
		}
		authority = host
	}
	host, port, explicit := authority, "", false
	if end := strings.LastIndexByte(authority, ']'); end >= 0 {
		host = authority[:end+1]
		if port = authority[end+1:]; port != "" {
			if port[0] != ':' {
				return u.malformed(MarkHost)
			}
			port, explicit = port[1:], true
		}
	} else {
		host, port, explicit = strings.Cut(authority, ":")
	}
	if u.Scheme == "ssh" {
		u.mark(MarkSSH)
	}
	if explicit && port != "" { // "host:" is the default port
		n, ok := portNumber(port)
		if !ok {
			return u.malformed(MarkPortNumber)
		}
		implied := u.Port
		u.Port = n
		switch {
		case n == implied, n == 80, n == 443:
		case blockedPorts()[port]:
			u.mark(MarkBlockedPort)
		default:
			u.mark(MarkPort)
		}
	}
	return u.setHost(host)
}

// setHost parses a host: an IPv6 address in brackets, an IPv4 address, or a name.
func (u Use) setHost(host string) Use {
	if inside, found := strings.CutPrefix(host, "["); found {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inside, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return u.malformed(MarkHost)
		}
		return u.setAddress(addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !isName(name) {
		return u.malformed(MarkHost)
	}
	if digitFirst(name[strings.LastIndexByte(name, '.')+1:]) {
		addr, err := netip.ParseAddr(host)
		if err != nil { // 127.1, 0x7f.1, 0177.0.0.1, 2130706433, and no name ends so
			return u.malformed(MarkLegacyAddress)
		}
		return u.setAddress(addr)
	}
	u.Host, u.Class = name, nameClass(name)
	for label := range strings.SplitSeq(name, ".") {
		if strings.HasPrefix(label, "xn--") {
			u.mark(MarkInternational)
		} else if longRun(label) {
			u.mark(MarkLongLabel)
		}
	}
	if len(name) > longName {
		u.mark(MarkLongLabel)
	}
	return u
}

func (u Use) setAddress(addr netip.Addr) Use {
	u.Host, u.Class = addr.String(), ClassOf(addr)
	u.mark(MarkAddress)
	return u
}

// hasOddCharacters reports characters that disguise a URL, or that programs drop or take for others: spaces,
// control and invisible ones, backslashes.
func hasOddCharacters(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c == 0x7f || c == '\\' {
			return true
		}
		if c >= utf8.RuneSelf {
			return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
				return r == '\\' || !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r)
			})
		}
	}
	return false
}

func hasScheme(s string) bool {
	before, _, found := strings.Cut(s, ":")
	return found && isScheme(before)
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !digitFirst(s[i:]) && s[i] != '+' && s[i] != '-' &&
			s[i] != '.') {
			return false
		}
	}
	return s != ""
}

// portNumber parses a port without a sign or leading zeros.
func portNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0 && digitFirst(s) && s[0] != '0'
}

// isUser reports whether s can be the user of an ssh server, without a password.
func isUser(s string) bool {
	return s != "" && s[0] != '-' &&
		strings.IndexFunc(s, func(r rune) bool { return !nameByte(byte(min(r, 0x7f))) && r != '.' }) < 0
}
