package confine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Connect opens a connection. It must end in d, which checks the address a last time.
type Connect func(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error)

// Dialer connects to what a judge allows.
type Dialer struct {
	// Judge returns nil for what may be reached. It is asked before a name is looked up, and again for
	// its addresses.
	Judge    func(urls.Use) error
	Resolver Resolver
	Connect  Connect // nil: as d does
}

// Server is a URL with the addresses that were judged.
type Server struct {
	Use    urls.Use
	addrs  []netip.Addr
	dialer Dialer
}

// Refused is the error of a URL that must not be reached. Err is the judge's.
type Refused struct {
	Use urls.Use
	Err error
}

// Error names only the host: the URL may hold secrets.
func (r *Refused) Error() string {
	what := strings.Join(append([]string{r.Use.Class}, r.Use.Marks...), ", ")
	if r.Use.Address != "" {
		what += ", " + r.Use.Address
	}
	return fmt.Sprintf("%s is not fetched (%s): %v", Place(r.Use), what, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// Place names the server of a use, and the redirect that led there.
func Place(u urls.Use) string {
	at := "this URL"
	if u.Host != "" {
		at = fmt.Sprintf("%s://%s", u.Scheme, net.JoinHostPort(u.Host, fmt.Sprint(u.Port)))
	}
	if u.Hop > 0 {
		at = fmt.Sprintf("redirect %d to %s", u.Hop, at)
	}
	return at
}

// maxTried is how many addresses of a name are tried.
const maxTried = 4

// Pin asks the judge twice: for the URL as it is written, since looking a name up tells it to others,
// and for its addresses. The error is a *Refused if the judge, or what was found on the way, forbids
// it.
func (d Dialer) Pin(ctx context.Context, u urls.Use) (Server, error) {
	if err := d.Judge(u); err != nil {
		return Server{}, &Refused{u, err}
	}
	if u.Class == urls.Malformed || u.Class == urls.BadScheme {
		// whatever the judge says
		return Server{}, &Refused{u, errors.New("there is no telling what it means")}
	}
	addrs, err := d.addresses(ctx, u.Host)
	if err != nil {
		return Server{}, fmt.Errorf("fetch %s: %w", Place(u), err)
	}
	u = u.At(addrs)
	if err := d.Judge(u); err != nil {
		return Server{}, &Refused{u, err}
	}
	if len(addrs) == 0 {
		return Server{}, &Refused{u, errors.New("its name has no address")}
	}
	return Server{u, addrs[:min(len(addrs), maxTried)], d}, nil
}

// addresses looks a host up once. It returns no error for a name without addresses.
func (d Dialer) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	if strings.Contains(host, ".") {
		host += "." // this name, and not one below the network's own
	}
	addrs, err := d.Resolver.LookupNetIP(ctx, "ip", host)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return nil, nil
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

// Dial connects to one of the addresses that were judged, whatever address it is given.
func (s Server) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return s.check(address)
	}}
	connect := s.dialer.Connect
	if connect == nil {
		connect = func(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error) {
			return d.DialContext(ctx, network, address)
		}
	}
	var all error
	for _, addr := range s.addrs {
		conn, err := connect(ctx, d, network, netip.AddrPortFrom(addr, uint16(s.Use.Port)).String())
		var refused *Refused
		if err == nil || errors.As(err, &refused) {
			return conn, err
		}
		all = errors.Join(all, err)
	}
	return nil, all
}

// check judges the address to which the system is about to connect.
func (s Server) check(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Refused{s.Use, err}
	}
	addr := to.Addr().Unmap()
	u := s.Use.At([]netip.Addr{addr})
	if !slices.Contains(s.addrs, addr) {
		return &Refused{u, fmt.Errorf("%s is not the address that was judged", addr)}
	}
	if err := s.dialer.Judge(u); err != nil {
		return &Refused{u, err}
	}
	return nil
}
