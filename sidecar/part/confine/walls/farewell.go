package walls

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxFarewell bounds how long a command that has ended is held up.
const maxFarewell = 2 * time.Second

// Farewell tells the proxy that the command with this URL has ended, and gives what was
// refused to it, a sentence each. Programs such as curl and git do not print the reason.
func Farewell(ctx context.Context, proxy string) (refused []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxFarewell)
	defer cancel()
	at, err := url.Parse(proxy)
	if err != nil {
		return nil, fmt.Errorf("the URL of the proxy: %w", err)
	}
	secret, _ := at.User.Password()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+at.Host+"/", nil)
	if err != nil {
		return nil, fmt.Errorf("the URL of the proxy: %w", err)
	}
	req.SetBasicAuth(at.User.Username(), secret)
	req.Header.Set("Proxy-Authorization", req.Header.Get("Authorization"))
	req.Header.Del("Authorization")
	direct := &http.Transport{DisableKeepAlives: true}
	res, err := direct.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("tell the proxy that the command has ended: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("tell the proxy that the command has ended: it says %s", res.Status)
	}
	lines := bufio.NewScanner(io.LimitReader(res.Body, 64<<10))
	for lines.Scan() {
		refused = append(refused, lines.Text())
	}
	return refused, nil
}
