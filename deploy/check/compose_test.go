package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

func composed(t *testing.T, env ...string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"}, cli.WithEnv(env),
		cli.WithResolvedPaths(true))
	must(t, err)
	return o.LoadProject(t.Context())
}

// Compose's own library takes the file; what it mounts is there, what it depends on, too, and no port is open
// to others.
func TestCompose(t *testing.T) {
	if _, err := composed(t); err == nil || !strings.Contains(err.Error(), "GRAFANA_PASSWORD") {
		t.Errorf("without a password for Grafana: %v", err)
	}
	p, err := composed(t, "GRAFANA_PASSWORD=x")
	must(t, err)
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to others", name, port.Published)
			}
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
					t.Errorf("%s mounts %s, read-only %t: %v", name, v.Source, v.ReadOnly, err)
				}
			} else if _, ok := p.Volumes[v.Source]; !ok {
				t.Errorf("%s: there is no volume %s", name, v.Source)
			}
		}
		if _, tag, ok := strings.Cut(s.Image, ":"); s.Build == nil && (!ok || tag == "latest") {
			t.Errorf("%s: image %s has no version", name, s.Image)
		}
	}
	sidecar := p.Services["sidecar"]
	if _, err := os.Stat(filepath.Join(sidecar.Build.Context, sidecar.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	var env []string
	for k, v := range sidecar.Environment {
		env = append(env, k+"="+*v)
	}
	s := config.Settings{Parts: stage.Settings()}
	must(t, s.Override(env))
	if !strings.HasPrefix(s.Upstream, "http://host.docker.internal:") || s.Hosts != "sidecar" {
		t.Errorf("settings %+v", s)
	}
	if !sidecar.ReadOnly || !slices.Equal(sidecar.CapDrop, []string{"ALL"}) {
		t.Error("the sidecar may do more than it needs")
	}
}

// Each name in the config of one service is a service, and its port the one that this listens at.
func TestComposeNames(t *testing.T) {
	p, err := composed(t, "GRAFANA_PASSWORD=x")
	must(t, err)
	var sources struct {
		Datasources []struct {
			UID, URL string
			JSONData struct {
				Exemplars []struct {
					To string `json:"datasourceUid"`
				} `json:"exemplarTraceIdDestinations"`
			} `json:"jsonData"`
		}
	}
	must(t, yaml.Unmarshal(read(t, "../compose/grafana/datasources.yaml"), &sources))
	at := map[string]string{}
	for _, d := range sources.Datasources {
		at[d.UID] = d.URL
	}
	var tempo struct {
		Server struct {
			Port int `json:"http_listen_port"`
		}
		Distributor struct {
			Receivers struct {
				OTLP struct {
					Protocols struct{ HTTP struct{ Endpoint string } }
				}
			}
		}
	}
	must(t, yaml.Unmarshal(read(t, "../compose/tempo.yaml"), &tempo))
	for _, want := range []struct{ what, got, want string }{
		{"Grafana asks Prometheus at", at["prometheus"], "http://prometheus:9090"},
		{"Grafana asks Tempo at", at["tempo"], "http://tempo:3200"},
		{"an exemplar leads to", sources.Datasources[0].JSONData.Exemplars[0].To, "tempo"},
		{"Tempo takes traces at", tempo.Distributor.Receivers.OTLP.Protocols.HTTP.Endpoint, "0.0.0.0:4318"},
		{"the sidecar sends them to", *p.Services["sidecar"].Environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"], "http://tempo:4318/v1/traces"},
	} {
		if want.got != want.want {
			t.Errorf("%s %s, and not %s", want.what, want.got, want.want)
		}
	}
	if tempo.Server.Port != 3200 {
		t.Errorf("Tempo listens at %d", tempo.Server.Port)
	}
	if !strings.Contains(string(read(t, "../prometheus/prometheus.yml")), "sidecar:8001") {
		t.Error("Prometheus does not ask the sidecar")
	}
	var boards struct {
		Providers []struct{ Options struct{ Path string } }
	}
	must(t, yaml.Unmarshal(read(t, "../compose/grafana/dashboards.yaml"), &boards))
	if !slices.ContainsFunc(p.Services["grafana"].Volumes,
		func(v types.ServiceVolumeConfig) bool { return v.Target == boards.Providers[0].Options.Path }) {
		t.Error("the folder of dashboards is not mounted")
	}
}
