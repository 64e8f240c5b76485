// Package urls classifies URLs: public, private, a cloud's metadata service, or spelt so that no tool should
// fetch it. Commands and fetch tools share this guard. It is pure: names are resolved through a function, and
// it never opens a connection.
package urls

import "slices"

// The classes of URLs; a URL has exactly one.
const (
	Public = "public"
	// an address or name outside the public internet: RFC 1918, CGNAT, multicast, .local …
	Private   = "private"
	Loopback  = "loopback"  // this machine
	Metadata  = "metadata"  // a cloud's metadata service
	Control   = "control"   // the guard, the model server or the gateway: see Servers
	Unknown   = "unknown"   // its name has no address
	BadScheme = "badscheme" // neither http nor https, nor, for git, ssh
	// refused rather than interpreted: legacy spellings of addresses, user:password@ …
	Malformed = "malformed"
	Dynamic   = "dynamic" // only known at run time
)

// Marks say what is odd about a URL.
const (
	MarkAddress       = "address"       // its host is an address, not a name
	MarkPort          = "port"          // a port other than 80 and 443
	MarkBlockedPort   = "blocked port"  // a port of another protocol, which browsers refuse: 22, 25, 6667 …
	MarkLongQuery     = "long query"    // path and query carry more than 1024 bytes
	MarkLongLabel     = "long label"    // its name looks as if it carried data
	MarkInternational = "international" // a label starts with xn--
	MarkSSH           = "ssh"           // git over ssh, with the user's key
	MarkDowngrade     = "downgrade"     // a redirect from https to http
	MarkOtherOrigin   = "other origin"  // a redirect to another scheme, host or port
	// a confined command connects through its proxy, which sees nothing
	MarkTunnel = "tunnel"
)

// Marks that say why a URL is malformed.
const (
	MarkCharacters = "characters" // control and invisible characters, spaces, backslashes
	MarkForm       = "form"       // not scheme://host
	MarkUser       = "user"       // user:password@
	// no name of a host: empty parts, percent signs, other letters than a to z
	MarkHost          = "host"
	MarkLegacyAddress = "legacy address"
	MarkPortNumber    = "port number"
	MarkRedirects     = "too many redirects"
)

// Use is one URL that a call would fetch or send to. The tag doc documents a field for operators.
type Use struct {
	URL     string   `expr:"url" json:"url" doc:"The URL as it would reach the program."`
	Scheme  string   `expr:"scheme" json:"scheme,omitempty" doc:"http or https, in small letters; ssh for git."`
	Host    string   `expr:"host" json:"host,omitempty" doc:"The host in small letters, without a dot at its end."`
	Port    int      `expr:"port" json:"port,omitempty" doc:"The port, also where the scheme implies it."`
	Class   string   `expr:"class" json:"class" doc:"What kind of address it is: public, private, loopback, metadata, control, unknown, badscheme, malformed, dynamic."`
	Method  string   `expr:"method" json:"method" doc:"GET, POST … as far as it is known; GIT for what git fetches; PROXY for a proxy."`
	Dynamic bool     `expr:"dynamic" json:"dynamic,omitempty" doc:"A part of it is only known at run time."`
	Opened  bool     `expr:"opened" json:"opened,omitempty" doc:"It is a server of this machine that a command of this session has started, or whose port stands under localhost."`
	Hop     int      `expr:"hop" json:"hop,omitempty" doc:"0 for the URL itself, 1 for the first redirect, and so on."`
	Address string   `expr:"address" json:"address,omitempty" doc:"The address that decided its class, where the name was looked up."`
	Marks   []string `expr:"marks" json:"marks,omitempty" doc:"What is odd about it: address, port, blocked port, long query, long label, international, ssh, downgrade, other origin, tunnel (a confined command connects, and what it sends is not seen); of a malformed one, why it is."`
}

// mark adds a mark, once.
func (u *Use) mark(m string) {
	if !slices.Contains(u.Marks, m) {
		u.Marks = append(u.Marks, m)
	}
}

// malformed returns u as one that is refused, and why.
func (u Use) malformed(why string) Use {
	u.Class = Malformed
	u.Marks = []string{why}
	return u
}
