package fetch

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

// pinned is a URL with the addresses that were judged.
type pinned struct {
	use   urls.Use
	addrs []netip.Addr
}

// maxTried is how many addresses of a name are tried.
const maxTried = 4

// judged asks the judge twice: for the URL as it is written, since looking a name up
// tells it to others, and for its addresses.
func (c *Client) judged(ctx context.Context, u urls.Use) (pinned, error) {
	if err := c.Judge(u); err != nil {
		return pinned{}, &Refused{u, err}
	}
	if u.Class == urls.Malformed || u.Class == urls.BadScheme {
		return pinned{}, &Refused{u, errors.New("there is no telling what it means")} // whatever the judge says
	}
	addrs, err := c.addresses(ctx, u.Host)
	if err != nil {
		return pinned{}, fmt.Errorf("fetch %s: %w", place(u), err)
	}
	u = u.At(addrs)
	if err := c.Judge(u); err != nil {
		return pinned{}, &Refused{u, err}
	}
	if len(addrs) == 0 {
		return pinned{}, &Refused{u, errors.New("its name has no address")}
	}
	return pinned{u, addrs[:min(len(addrs), maxTried)]}, nil
}

// addresses looks a host up, once. None is no error.
func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	if strings.Contains(host, ".") {
		host += "." // this name, and not one below the network's own
	}
	addrs, err := c.Resolver.LookupNetIP(ctx, "ip", host)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return nil, nil
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

// dial connects to one of the addresses that were judged, whatever it is asked for.
func (c *Client) dial(at pinned) func(ctx context.Context, network, _ string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return c.check(at, address)
	}}
	connect := c.Dial
	if connect == nil {
		connect = func(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error) {
			return d.DialContext(ctx, network, address)
		}
	}
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var all error
		for _, addr := range at.addrs {
			conn, err := connect(ctx, d, network, netip.AddrPortFrom(addr, uint16(at.use.Port)).String())
			var refused *Refused
			if err == nil || errors.As(err, &refused) {
				return conn, err
			}
			all = errors.Join(all, err)
		}
		return nil, all
	}
}

// check is the last look at an address, when the system is about to connect to it.
func (c *Client) check(at pinned, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Refused{at.use, err}
	}
	addr := to.Addr().Unmap()
	u := at.use.At([]netip.Addr{addr})
	if !slices.Contains(at.addrs, addr) {
		return &Refused{u, fmt.Errorf("%s is not the address that was judged", addr)}
	}
	if err := c.Judge(u); err != nil {
		return &Refused{u, err}
	}
	return nil
}
