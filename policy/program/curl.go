package program

import (
	"path"
	"strings"
)

const curlOptions = `
	-[afGgIijkLlMNOpqRSsvVZB#012346hJ] --abstract-unix-socket=write --alt-svc=write --anyauth --append --aws-sigv4=
	--basic --ca-native --cacert=read --capath=read -E|--cert=read --cert-status --cert-type= --ciphers= --compressed
	--compressed-ssh -K|--config=load --connect-timeout= --connect-to= -C|--continue-at= -b|--cookie=
	-c|--cookie-jar=write --create-dirs --create-file-mode= --crlf --crlfile=read --curves= -d|--data= --data-ascii=
	--data-binary= --data-raw= --data-urlencode= --delegation= --digest --disable --disable-eprt --disable-epsv
	--disallow-username-in-url --dns-interface=:net-override --dns-ipv4-addr=:net-override --dns-ipv6-addr=:net-override
	--dns-servers= --doh-cert-status --doh-insecure --doh-url=url:net-override -D|--dump-header=write --ech=
	--egd-file=read --engine=load --etag-compare=read --etag-save=write --expect100-timeout= --fail --fail-early
	--fail-with-body --false-start --follow -F|--form= --form-escape --form-string= --ftp-account=
	--ftp-alternative-to-user= --ftp-create-dirs --ftp-method= --ftp-pasv -P|--ftp-port= --ftp-pret --ftp-skip-pasv-ip
	--ftp-ssl-ccc --ftp-ssl-ccc-mode= --ftp-ssl-control --get --globoff --happy-eyeballs-timeout-ms= --haproxy-protocol
	--haproxy-clientip= --head -H|--header= --hostpubmd5= --hostpubsha256= --hsts=write --http0.9 --http1.0 --http1.1
	--http2 --http2-prior-knowledge --http3 --http3-only --ignore-content-length --include --insecure
	--interface=:net-override --ip-tos= --ipfs-gateway=url --ipv4 --ipv6 --json= --junk-session-cookies --keepalive-cnt=
	--keepalive-time= --key=read --key-type= --krb= --libcurl=write --limit-rate= --list-only --local-port= --location
	--location-trusted --login-options= --mail-auth= --mail-from= --mail-rcpt=:send --mail-rcpt-allowfails --manual
	--max-filesize= --max-redirs= -m|--max-time= --metalink --mptcp --negotiate -n|--netrc:send --netrc-file=read:send --netrc-optional:send
	--next --no-alpn --no-buffer --no-clobber --no-keepalive --no-npn --no-progress-meter --no-sessionid --noproxy= --ntlm
	--ntlm-wb --oauth2-bearer= -o|--output= --output-dir= --out-null --parallel --parallel-immediate --parallel-max=
	--parallel-max-host= --pass= --path-as-is --pinnedpubkey=read --post301 --post302 --post303 --preproxy= --progress-bar
	--proto= --proto-default= --proto-redir= -x|--proxy= --proxy-anyauth --proxy-basic --proxy-ca-native
	--proxy-cacert=read --proxy-capath=read --proxy-cert=read --proxy-cert-type= --proxy-ciphers= --proxy-crlfile=read
	--proxy-digest --proxy-header= --proxy-http2 --proxy-insecure --proxy-key=read --proxy-key-type= --proxy-negotiate
	--proxy-ntlm --proxy-pass= --proxy-pinnedpubkey=read --proxy-service-name= --proxy-ssl-allow-beast
	--proxy-ssl-auto-client-cert --proxy-tls13-ciphers= --proxy-tlsauthtype= --proxy-tlspassword= --proxy-tlsuser=
	--proxy-tlsv1 -U|--proxy-user= --proxy1.0= --proxytunnel --pubkey=read -Q|--quote=:send --random-file=read -r|--range=
	--rate= --raw -e|--referer= --remote-header-name --remote-name --remote-name-all --remote-time --remove-on-error
	-X|--request= --request-target= --resolve= --retry= --retry-all-errors --retry-connrefused --retry-delay=
	--retry-max-time= --sasl-authzid= --sasl-ir --service-name= --show-error --show-headers --silent --sigalgs=
	--skip-existing --socks4= --socks4a= --socks5= --socks5-basic --socks5-gssapi --socks5-gssapi-nec
	--socks5-gssapi-service= --socks5-hostname= -Y|--speed-limit= -y|--speed-time= --ssl --ssl-allow-beast
	--ssl-auto-client-cert --ssl-no-revoke --ssl-reqd --ssl-revoke-best-effort --ssl-sessions=write --sslv2 --sslv3
	--stderr=write --styled-output --suppress-connect-headers --tcp-fastopen --tcp-nodelay -t|--telnet-option=
	--tftp-blksize= --tftp-no-options -z|--time-cond= --tls-earlydata --tls-max= --tls13-ciphers= --tlsauthtype=
	--tlspassword= --tlsuser= --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-encoding --trace=write
	--trace-ascii=write --trace-config= --trace-ids --trace-time --unix-socket=write -T|--upload-file= --url= --url-query=
	--use-ascii -u|--user= -A|--user-agent= --variable= --verbose --version --vlan-priority= -w|--write-out= --xattr`

// curl sends what its options say, with the method that follows from them.
func curl(c *call) {
	method, urls := "GET", c.Operands
	for i := range c.found {
		f := &c.found[i]
		switch f.name {
		case "-d", "--data-ascii", "--data-binary", "--json", "--data-raw", "--data-urlencode", "-F", "--form-string":
			method = "POST"
			c.upload(f)
		case "-T":
			method = "PUT"
			c.touch("read", f.value, "-T")
		case "--url":
			urls = append(urls[:len(urls):len(urls)], f.value)
		default:
			c.curlOption(f)
		}
	}
	switch w, given := c.value("-X"); {
	case given:
		method = w.Text
	case c.flag('G', "--get"):
		method = "GET"
	case c.flag('I', "--head"):
		method = "HEAD"
	}
	scheme, plain := c.value("--proto-default")
	for _, u := range urls {
		if plain && !strings.Contains(u.Text, "://") {
			u = rest(u, scheme.Text+"://"+u.Text)
		}
		c.fetch(u, method)
		if c.flag('O', "--remote-name") || c.flag(0, "--remote-name-all") {
			c.saved(u)
		}
	}
	if c.flag('J', "--remote-header-name") {
		c.touch("write", Word{Dynamic: true}, "-J")
	}
}

// curlOption takes those that neither send nor name what is fetched.
func (c *call) curlOption(f *found) {
	switch f.name {
	case "-o":
		c.output(f.value, f.as)
	case "-x", "--preproxy", "--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--proxy1.0":
		c.fetch(f.value, "PROXY")
		c.tag("net-override")
	case "--resolve", "--connect-to", "--dns-servers":
		c.tag("net-override")
		address := f.value
		if i := strings.Index(address.Text, ":"); i >= 0 && f.name == "--resolve" {
			_, address.Text, _ = strings.Cut(address.Text[i+1:], ":")
		} else if f.name == "--connect-to" {
			if parts := strings.SplitN(address.Text, ":", 3); len(parts) == 3 {
				address.Text, _, _ = strings.Cut(parts[2], ":")
			}
		}
		for _, a := range strings.Split(address.Text, ",") {
			if a != "" {
				c.fetch(rest(address, "http://"+a), "GET")
			}
		}
	case "-A", "-e", "-u", "--oauth2-bearer", "--url-query":
		c.carries(f)
	case "-H", "--proxy-header", "-w":
		c.carries(f)
		if name, ok := strings.CutPrefix(f.value.Text, "@"); ok {
			c.touch("read", rest(f.value, name), f.as)
		}
		if f.value.Dynamic && f.name != "-w" {
			c.tag("send") // a header with something from here: a token
		}
		if strings.Contains(f.value.Text, "%output{") {
			c.touch("write", Word{Dynamic: true}, f.as)
		}
	case "--variable":
		if _, name, ok := strings.Cut(f.value.Text, "@"); ok {
			c.touch("read", rest(f.value, name), f.as)
		}
	case "-b":
		c.carries(f)
		if !strings.Contains(f.value.Text, "=") && f.value.Text != "" {
			c.touch("read", f.value, f.as)
		}
	}
}

// carries: what is only known at run time leaves with the request.
func (c *call) carries(f *found) {
	if f.value.Dynamic {
		c.tag("send")
	}
	if name, ok := strings.CutPrefix(f.value.Text, "@"); ok && f.name == "--url-query" {
		c.touch("read", rest(f.value, name), f.as)
	} else if name, file, ok := strings.Cut(f.value.Text, "@"); ok && f.name == "--url-query" && !strings.Contains(name, "=") {
		c.touch("read", rest(f.value, file), f.as)
	}
}

// upload adds the file that a value names after an @.
func (c *call) upload(f *found) {
	text := f.value.Text
	i := -1
	switch f.name {
	case "-d", "--data-ascii", "--data-binary", "--json":
		if strings.HasPrefix(text, "@") {
			i = 0
		}
	case "--data-urlencode":
		if at := strings.Index(text, "@"); at >= 0 && !strings.Contains(text[:at], "=") {
			i = at
		}
	case "-F":
		if eq := strings.Index(text, "="); eq >= 0 && eq+1 < len(text) && (text[eq+1] == '@' || text[eq+1] == '<') {
			i = eq + 1
		}
	}
	if i < 0 {
		return
	}
	names, _, _ := strings.Cut(text[i+1:], ";")
	for _, name := range strings.Split(names, ",") {
		c.touch("read", rest(f.value, strings.Trim(name, `"`)), "upload")
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
	if w, ok := c.value("-O"); ok {
		c.output(w, "-O")
	}
	folder, hasFolder := c.value("-P")
	for _, u := range c.Operands {
		c.fetch(u, method)
		if _, ok := c.value("-O"); !ok && !hasFolder && !c.has("--spider") {
			c.saved(u)
		}
	}
	tree := c.has("-x", "--force-directories") || c.has("-r", "--recursive", "-m", "--mirror", "-p") && c.has("-nH", "--cut-dirs")
	if tree || c.has("--content-disposition", "--trust-server-names") {
		c.touch("write", Word{Dynamic: true}, "names of the server")
	}
	if _, ok := c.value("-i"); ok {
		c.fetch(Word{Dynamic: true}, method)
	}
	if hasFolder && folder.Text == "" && !folder.Dynamic {
		c.unsure("empty folder")
	}
	c.Recursive = c.flag('r', "--recursive") || c.flag('m', "--mirror")
}

// httpie has the method and parts of the message among its operands.
func httpie(c *call) {
	words, method := c.Operands, "GET"
	if len(words) > 0 && words[0].Text != "" && strings.ToUpper(words[0].Text) == words[0].Text && strings.Trim(words[0].Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, words = words[0].Text, words[1:]
	}
	if len(words) == 0 {
		return
	}
	u := words[0]
	for _, w := range words[1:] {
		if strings.Contains(w.Text, "=") && !strings.Contains(w.Text, "==") && method == "GET" {
			method = "POST"
		}
		if i := strings.Index(w.Text, "@"); i >= 0 {
			c.touch("read", rest(w, w.Text[i+1:]), "upload")
		}
	}
	if strings.HasPrefix(u.Text, ":") {
		u.Text = "localhost" + u.Text
	}
	c.fetch(u, method)
}
