package program

import (
	"path"
	"slices"
	"strings"
)

const curlOptions = `
	-[afGgIijkLlMNOpqRSsvVZB#012346hJ] --abstract-unix-socket=write --alt-svc=write --anyauth --append --aws-sigv4=
	--basic --ca-native --cacert=read --capath=read -E|--cert=read --cert-status --cert-type= --ciphers= --compressed
	--compressed-ssh -K|--config=load --connect-timeout= --connect-to=:net-override -C|--continue-at= -b|--cookie=header
	-c|--cookie-jar=write --create-dirs --create-file-mode= --crlf --crlfile=read --curves= -d|--data=data --data-ascii=data
	--data-binary=data --data-raw= --data-urlencode=form --delegation= --digest --disable --disable-eprt --disable-epsv
	--disallow-username-in-url --dns-interface=:net-override --dns-ipv4-addr=:net-override --dns-ipv6-addr=:net-override
	--dns-servers=:net-override --doh-cert-status --doh-insecure --doh-url=url:net-override -D|--dump-header=write --ech=
	--egd-file=read --engine=load --etag-compare=read --etag-save=write --expect100-timeout= --fail --fail-early
	--fail-with-body --false-start --follow -F|--form=form --form-escape --form-string= --ftp-account=
	--ftp-alternative-to-user= --ftp-create-dirs --ftp-method= --ftp-pasv -P|--ftp-port= --ftp-pret --ftp-skip-pasv-ip
	--ftp-ssl-ccc --ftp-ssl-ccc-mode= --ftp-ssl-control --get --globoff --happy-eyeballs-timeout-ms= --haproxy-protocol
	--haproxy-clientip= --head -H|--header=header --hostpubmd5= --hostpubsha256= --hsts=write --http0.9 --http1.0 --http1.1
	--http2 --http2-prior-knowledge --http3 --http3-only --ignore-content-length --include --insecure
	--interface=:net-override --ip-tos= --ipfs-gateway=url --ipv4 --ipv6 --json=data --junk-session-cookies --keepalive-cnt=
	--keepalive-time= --key=read --key-type= --krb= --libcurl=write --limit-rate= --list-only --local-port= --location
	--location-trusted --login-options= --mail-auth= --mail-from= --mail-rcpt=:send --mail-rcpt-allowfails --manual
	--max-filesize= --max-redirs= -m|--max-time= --metalink --mptcp --negotiate -n|--netrc:send --netrc-file=read:send --netrc-optional:send
	--next --no-alpn --no-buffer --no-clobber --no-keepalive --no-npn --no-progress-meter --no-sessionid --noproxy= --ntlm
	--ntlm-wb --oauth2-bearer=header -o|--output= --output-dir= --out-null --parallel --parallel-immediate --parallel-max=
	--parallel-max-host= --pass= --path-as-is --pinnedpubkey=read --post301 --post302 --post303 --preproxy=:net-override --progress-bar
	--proto= --proto-default= --proto-redir= -x|--proxy=:net-override --proxy-anyauth --proxy-basic --proxy-ca-native
	--proxy-cacert=read --proxy-capath=read --proxy-cert=read --proxy-cert-type= --proxy-ciphers= --proxy-crlfile=read
	--proxy-digest --proxy-header=header --proxy-http2 --proxy-insecure --proxy-key=read --proxy-key-type= --proxy-negotiate
	--proxy-ntlm --proxy-pass= --proxy-pinnedpubkey=read --proxy-service-name= --proxy-ssl-allow-beast
	--proxy-ssl-auto-client-cert --proxy-tls13-ciphers= --proxy-tlsauthtype= --proxy-tlspassword= --proxy-tlsuser=
	--proxy-tlsv1 -U|--proxy-user= --proxy1.0=:net-override --proxytunnel --pubkey=read -Q|--quote=:send --random-file=read -r|--range=
	--rate= --raw -e|--referer=header --remote-header-name --remote-name --remote-name-all --remote-time --remove-on-error
	-X|--request= --request-target= --resolve=:net-override --retry= --retry-all-errors --retry-connrefused --retry-delay=
	--retry-max-time= --sasl-authzid= --sasl-ir --service-name= --show-error --show-headers --silent --sigalgs=
	--skip-existing --socks4=:net-override --socks4a=:net-override --socks5=:net-override --socks5-basic --socks5-gssapi --socks5-gssapi-nec
	--socks5-gssapi-service= --socks5-hostname=:net-override -Y|--speed-limit= -y|--speed-time= --ssl --ssl-allow-beast
	--ssl-auto-client-cert --ssl-no-revoke --ssl-reqd --ssl-revoke-best-effort --ssl-sessions=write --sslv2 --sslv3
	--stderr=write --styled-output --suppress-connect-headers --tcp-fastopen --tcp-nodelay -t|--telnet-option=
	--tftp-blksize= --tftp-no-options -z|--time-cond= --tls-earlydata --tls-max= --tls13-ciphers= --tlsauthtype=
	--tlspassword= --tlsuser= --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-encoding --trace=write
	--trace-ascii=write --trace-config= --trace-ids --trace-time --unix-socket=write -T|--upload-file=read --url= --url-query=form
	--use-ascii -u|--user=header -A|--user-agent=header --variable=form --verbose --version --vlan-priority= -w|--write-out=header --xattr`

// curl sends what its options say, with the method that follows from them.
func curl(c *call) {
	method := "GET"
	switch w, given := c.value("-X"); {
	case given:
		method = w.Text
	case c.has("-G", "--get"):
	case c.has("-I", "--head"):
		method = "HEAD"
	case c.has("-T"):
		method = "PUT"
	case c.has("-d", "--data-ascii", "--data-binary", "--json", "--data-raw", "--data-urlencode", "-F", "--form-string"):
		method = "POST"
	}
	scheme, plain := c.value("--proto-default")
	for _, u := range slices.Concat(c.Operands, c.values("--url")) {
		if plain && !strings.Contains(u.Text, "://") {
			u = rest(u, scheme.Text+"://"+u.Text)
		}
		c.fetch(u, method)
		if c.has("-O", "--remote-name", "--remote-name-all") {
			c.saved(u)
		}
	}
	for i := range c.found {
		c.curlOption(&c.found[i])
	}
	if c.has("-J", "--remote-header-name") {
		c.touch("write", Word{Dynamic: true}, "-J")
	}
}

// curlOption takes those that name files and servers in ways of their own.
func (c *call) curlOption(f *found) {
	switch f.name {
	case "-o":
		c.output(f.value, f.as)
	case "-x", "--preproxy", "--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--proxy1.0":
		c.fetch(f.value, "PROXY")
	case "--resolve", "--connect-to", "--dns-servers": // host:port:address
		list := f.value.Text
		if parts := strings.SplitN(list, ":", 3); len(parts) == 3 && f.name != "--dns-servers" {
			list = parts[2]
		}
		for _, address := range strings.Split(list, ",") {
			c.fetch(rest(f.value, "http://"+address), "GET")
		}
	case "-w":
		if strings.Contains(f.value.Text, "%output{") {
			c.touch("write", Word{Dynamic: true}, f.as)
		}
	case "--url-query":
		if f.value.Dynamic {
			c.tag("send")
		}
	case "-b":
		if !strings.Contains(f.value.Text, "=") && f.value.Text != "" {
			c.touch("read", f.value, f.as)
		}
	}
}

// output is a file, in the folder that another option names.
func (c *call) output(w Word, via string) {
	if w.Text == "-" && !w.Dynamic {
		return
	}
	if folder, ok := c.value("--output-dir"); ok {
		w = in(folder, w)
	}
	c.touch("write", w, via)
}

// saved is a file that is named like the end of its URL.
func (c *call) saved(u Word) {
	name, _, _ := strings.Cut(u.Text, "?")
	if i := strings.Index(name, "://"); i >= 0 {
		name = name[i+3:]
	}
	_, name, _ = strings.Cut(name, "/")
	base := path.Base(name)
	if name == "" || base == "/" || base == "." || base == ".." {
		base = "index.html"
	}
	c.output(rest(u, base), "-O")
}

// wget saves what it fetches.
func wget(c *call) {
	method := "GET"
	switch w, ok := c.value("--method"); {
	case ok:
		method = w.Text
	case c.has("--post-data", "--post-file", "--body-data", "--body-file"):
		method = "POST"
	}
	file, named := c.value("-O")
	if named {
		c.output(file, "-O")
	}
	folder, hasFolder := c.value("-P")
	if hasFolder && folder.Text == "" && !folder.Dynamic {
		c.unsure("empty folder")
	}
	for _, u := range c.Operands {
		c.fetch(u, method)
		if !named && !hasFolder && !c.has("--spider") {
			c.saved(u)
		}
	}
	if c.has("-i") {
		c.fetch(Word{Dynamic: true}, method)
	}
	tree := c.has("-x", "--force-directories") || c.has("-r", "--recursive", "-m", "--mirror", "-p") && c.has("-nH", "--cut-dirs")
	if tree || c.has("--content-disposition", "--trust-server-names") {
		c.touch("write", Word{Dynamic: true}, "names of the server")
	}
}

// httpie has the method and parts of the message among its operands.
func httpie(c *call) {
	words, method := c.Operands, "GET"
	if len(words) > 0 && words[0].Text != "" && strings.Trim(words[0].Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, words = words[0].Text, words[1:]
	}
	for i, w := range words {
		switch {
		case i > 0:
			c.use(form, w, "upload")
			if strings.Contains(w.Text, "=") && !strings.Contains(w.Text, "==") {
				c.tag("send")
			}
		case strings.HasPrefix(w.Text, ":"):
			c.fetch(rest(w, "localhost"+w.Text), method)
		default:
			c.fetch(w, method)
		}
	}
}
