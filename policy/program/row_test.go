package program

import "testing"

// TestRowLanguage reads rows that are made up, one for each thing that a row can say.
func TestRowLanguage(t *testing.T) {
	own := compile(family{
		"tool":   {opts: "-[ab] -[lt]:looks -o|--output=write -v|--verbose? -w:edits -q:!admin -r:recursive,stdin --pair+read +=", operands: "read write*", tags: "admin"},
		"closed": {opts: "-l:!admin,looks -x=exec", operands: "write:disk*", tags: "admin"},
		"open":   {opts: "-x=exec", operands: "skip*", open: true},
		"subs":   {opts: "-g=dir", bare: "pager", subs: []sub{{"show|s list*", row{}}, {"drop", row{tags: "discard", operands: "delete*"}}, {"*", row{tags: "admin", operands: "skip:discard*"}}}},
		"few":    {subs: []sub{{"show", row{}}}},
		"globe":  {opts: "-C=dir", own: true, subs: []sub{{"run", row{opts: "-C=", operands: "run"}}}},
		"stops":  {opts: "-n=", operands: "skip run", tags: "wrapper"},
		"says":   {opts: "-e=inline -f=main! -v:!code", operands: "main skip*", bare: "code"},
		"shells": {opts: "-c=sh -l:looks", shell: true},
		"words":  {opts: "-out=write -debug --plain?", operands: "read*", style: words},
		"bundle": {opts: "-[xv] -f=read -C=dir", operands: "write*", style: bundle},
		"ends":   {operands: "read* write"},
		"stars":  {opts: "-t=target", operands: "read* target", stdin: 1},
	})
	for _, c := range []effectCase{
		{"tool a b c", "read(a) write(b) write(c) #admin"},
		{"tool -abo x a", "write(x) read(a) #admin"}, {"tool -ox a", "write(x) read(a) #admin"}, {"tool --out=x a", "write(x) read(a) #admin"}, {"tool a --output x", "write(x) read(a) #admin"},
		{"tool -l a b", "read(a) #admin"}, {"tool -at a b", "read(a) #admin"}, {"tool -w a b", "read(a) write(a) write(b) #admin"}, {"tool -q a", "read(a)"}, {"tool -ra", "#admin stdin recursive"},
		{"tool -v a", "read(a) #admin"}, {"tool -vx a", "read(a) #admin"}, {"tool --verb=x a", "read(a) #admin"}, {"tool --pair n f a", "read(f) read(a) #admin"}, {"tool +x a", "read(a) #admin"},
		{"tool -- -l a", "read(-l) write(a) #admin"}, {"tool - a", "write(a) #admin stdin"}, {"tool -5 a", "read(a) #admin"}, {"tool --unheard a", "read(a) #admin ?unknown_option_--unheard"}, {"tool -lZ a b", "read(a) write(b) #admin ?unknown_option_-Z"},
		{"closed -l a", ""}, {"closed -lZ a", "write(a) #admin #disk ?unknown_option_-Z"}, {"closed a", "write(a) #admin #disk"}, {"closed -x 'y z'", "closed_-x{y z} #admin exec:-x"},
		{"open --unheard -Z a", ""}, {"open <?>", "?an_argument_that_may_turn_out_to_be_an_option"}, {"open --<?>", "?dynamic_option_--"}, {"open ./<?>", ""},
		{"subs", "#pager"}, {"subs show x", "sub:show"}, {"subs s", "sub:show"}, {"subs listing", "sub:listing"}, {"subs -g d drop a", "sub:drop read(d) delete(d/a) #discard"},
		{"subs other", "sub:other #admin"}, {"subs other x", "sub:other #admin #discard"}, {"subs drop -g d a", "sub:drop read(d) delete(d/a) #discard"}, {"subs <?>", "#admin ?an_argument_that_may_turn_out_to_be_an_option ?dynamic_subcommand"},
		{"few show", "sub:show"}, {"few other x", "sub:other #unlisted-sub"}, {"few -- show", "sub:show"},
		{"globe -C d run -C x a -C y", "sub:run read(d) globe{in d: a -C y}"},
		{"stops -n 1 x a -n b", "stops{a -n b} #wrapper"}, {"stops x", "#wrapper"}, {"stops -Z x a", "stops{a} #wrapper ?unknown_option_-Z"},
		{"says", "code:- stdin"}, {"says -", "code:- stdin"}, {"says x y", "read(x) #workspace-code code:x"}, {"says -e 1 x", "read(x) inline"}, {"says -f x y", "read(x) #workspace-code code:x"}, {"says -v", ""}, {"says --help", ""},
		{"says <?>", "read(<?>) #workspace-code code:<?> ?an_argument_that_may_turn_out_to_be_an_option"},
		{"says -e 1 https://a/b", "GET(https://a/b) inline"}, {"says https://a/b", "GET(https://a/b) #opaque-exec #workspace-code code:https://a/b"},
		{"shells", "shells{ shell} stdin"}, {"shells -l", ""}, {"shells -c x", "shells_-c{`x`} exec:-c"},
		{"words -out x -debug a", "write(x) read(a)"}, {"words --out=x a", "write(x) read(a)"}, {"words -outx a", "read(a) ?unknown_option_-outx"}, {"words -plain=a b", "read(b)"}, {"words -plain:a b", "read(b)"},
		{"bundle xfC a d b", "read(d) read(d/a) write(d/b)"}, {"bundle -xf a b", "read(a) write(b)"}, {"bundle xZ b", "write(b) ?unknown_option_-Z"},
		{"ends a b c", "read(a) read(b) write(c)"}, {"ends a", "write(a)"},
		{"stars a d", "read(a) write(d)"}, {"stars a b d", "read(a) read(b) write(d) write(d/a) write(d/b)"}, {"stars -t d a", "write(d) read(a) write(d/a)"}, {"stars", "stdin"},
	} {
		list := effectWords(c.command)
		if got := describe(of(own, list[0].Text, list[1:])); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.command, got, c.want)
		}
	}
}
