package upstream

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// FleetKeys are the bearer tokens of model servers, by base URL.
type FleetKeys map[string]string

// ParseKeys reads a URL and its key on each line.
func ParseKeys(text string) (FleetKeys, error) {
	keys := FleetKeys{}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d words; write the base URL of a model server and its key: http://gpu.lan:8000/v1 KEY", n+1, len(fields))
		}
		if strings.Contains(fields[1], "://") {
			return nil, fmt.Errorf("line %d: the base URL comes first, and its key behind it", n+1)
		}
		base, err := Base(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if _, twice := keys[base]; twice {
			return nil, fmt.Errorf("line %d: this server has a key already", n+1)
		}
		keys[base] = fields[1]
	}
	return keys, nil
}

// OtherKeys are the keys of all servers but that of the settings.
func OtherKeys(s config.Settings) (FleetKeys, error) {
	keys, err := ParseKeys(s.UpstreamKeys)
	if err != nil {
		return nil, fmt.Errorf("upstream_keys: %w", err)
	}
	main, err := Base(s.Upstream)
	if err != nil {
		return nil, err
	}
	if _, both := keys[main]; both {
		return nil, errors.New("upstream_keys: the model server of the settings is among these; its key is upstream_key")
	}
	return keys, nil
}

// Unused are the hosts whose key no model of the set can need.
func (k FleetKeys) Unused(set *ruleset.Set) (hosts []string) {
	needed := map[string]bool{}
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			if base, err := Base(u.URL); err == nil {
				needed[base] = true
			}
		}
	}
	for base := range k {
		if u, err := url.Parse(base); err == nil && !needed[base] {
			hosts = append(hosts, u.Host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// FleetConfigOf is what a client of one of the servers needs, for a command that is no server.
func FleetConfigOf(s config.Settings, u ruleset.Upstream) (Config, error) {
	keys, err := OtherKeys(s)
	if err != nil {
		return Config{}, err
	}
	main := Config{BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server}
	if base, err := Base(u.URL); u.URL != "" && err == nil {
		if own, err := Base(s.Upstream); err == nil && own == base {
			return main, nil
		}
		return Config{BaseURL: u.URL, Key: keys.of(u.URL)}, nil
	}
	return main, nil
}

// of is the key of a server; "": it has none.
func (k FleetKeys) of(url string) string {
	base, err := Base(url)
	if err != nil {
		return ""
	}
	return k[base]
}
