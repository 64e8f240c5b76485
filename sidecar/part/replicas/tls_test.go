package replicas

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
)

// certificate writes a certificate of 127.0.0.1, which signs itself, and its key.
func certificate(t testing.TB) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ruletest.Must(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	signed, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	ruletest.Must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	ruletest.Must(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	ruletest.Must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		0o600))
	ruletest.Must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		0o600))
	return cert, key
}

// commands are what a user of the server must be allowed to do, as docs/replicas.md has it.
const commands = "+get +mget +set +getdel +hget +hset +hgetall +hdel +pexpire +eval +evalsha +time +ping"

// Over TLS, as a user who may touch the keys of the group alone, everything is done that is asked for;
// a server that nobody vouches for is none.
func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ruletest.Must(t, err)
	ruletest.Must(t, l.Close())
	servers.StartValkey(t, append([]string{"--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no",
		"--user", "sam", "on", ">sesame", "~shop:*"}, strings.Fields(commands)...)...)
	address := "rediss://127.0.0.1:" + port + "/0"
	r := run(t, "", func(c *Config) {
		c.URL, c.CA, c.User, c.Password, c.Prefix = address, cert, "sam", "sesame", "shop"
	})
	for range 3 {
		all(r)
	}
	r.exchange(t.Context(), "v1")
	ruletest.Must(t, r.Counts().Publish([]byte("{}")))
	if _, err := r.Counts().Read(); err != nil || !r.Up() ||
		r.log.Count("shared_refuses")+r.log.Count("clock_unknown") > 0 {
		t.Errorf("%v %s", err, r.log)
	}
	strange := run(t, "", func(c *Config) { c.URL, c.User, c.Password = address, "sam", "sesame" })
	for range 3 {
		all(strange)
	}
	if strange.Up() {
		t.Error("a server was asked that nobody vouches for")
	}
}

// What one replica has counted is what another reads; what is no longer sealed by a replica is not.
func TestCounts(t *testing.T) {
	server := servers.StartValkey(t)
	a, b := run(t, server.Address, nil), run(t, server.Address, nil)
	ruletest.Must(t, a.Counts().Publish([]byte("of a")))
	ruletest.Must(t, b.Counts().Publish([]byte("of b")))
	if got, err := b.Counts().Read(); err != nil || len(got) != 1 || string(got[0]) != "of a" {
		t.Errorf("%q %v", got, err)
	}
	other := run(t, server.Address, func(c *Config) { c.Secret = "another" })
	if got, err := other.Counts().Read(); err != nil || len(got) != 0 ||
		other.log.Count("shared_foreign") != 1 {
		t.Errorf("%q %v %s", got, err, other.log)
	}
}

// What a replica has counted stays for as long as an experiment may last, whether the replica lives or not,
// and no longer, whoever else goes on telling.
func TestCountsOfDeadReplicas(t *testing.T) {
	server := servers.StartValkey(t)
	live := run(t, server.Address, nil)
	ctx, now := t.Context(), time.Now()
	for name, ago := range map[string]time.Duration{"dead": keepCounts + time.Hour,
		"dying": keepCounts - time.Hour, "of an earlier version": -1} {
		r := run(t, server.Address, func(c *Config) { c.Replica = name })
		ruletest.Must(t, r.Counts().Publish([]byte(name)))
		if ago < 0 {
			ruletest.Must(t, r.client.HDel(ctx, r.key("counted", ""), name).Err())
			continue
		}
		ruletest.Must(t, r.client.HSet(ctx, r.key("counted", ""), name, now.Add(-ago).Unix()).Err())
	}
	ruletest.Must(t, live.Counts().Publish([]byte("live")))
	docs, err := live.Counts().Read()
	ruletest.Must(t, err)
	if got := fmt.Sprintf("%s", docs); len(docs) != 2 || !strings.Contains(got, "dying") ||
		!strings.Contains(got, "earlier") {
		t.Errorf("it reads %s", got)
	}
	for _, key := range []string{"counts", "counted"} {
		if ids, err := live.client.HKeys(ctx, live.key(key, "")).Result(); err != nil || len(ids) != 3 ||
			slices.Contains(ids, "dead") {
			t.Errorf("%s holds %v, %v", key, ids, err)
		}
	}
}
