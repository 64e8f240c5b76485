package programs

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// File is a file in the folder programs.
type File struct {
	rulefile.Head
	Programs []rulefile.Pair[Row] `rule:"programs,required" doc:"What programs do with their arguments, by name. Names with blanks between share a row. python:NAME is a module of python -m." eg:"{mytool: {letters: v, options: {'-o|--output': write}, operands: 'read*'}}"`
}

// Row describes a program, or one of its subcommands.
type Row struct {
	At          rulefile.Place
	About       string                         `rule:"about" doc:"What the program is, or why the row is as it is. Operators read it."`
	Also        rulefile.Text                  `rule:"also" doc:"Other programs or subcommands that share the row." eg:"egrep fgrep"`
	Letters     rulefile.Text                  `rule:"letters" doc:"Options of one letter that have no value and change nothing that matters." eg:"afv"`
	Flags       rulefile.Text                  `rule:"flags" doc:"Other options of this kind. Other spellings of one follow a bar. -NUMBER stands for -5." eg:"--quiet|--silent --color -NUMBER"`
	Values      rulefile.Text                  `rule:"values" doc:"Options with a value that changes nothing that matters. With a question mark the value only counts behind an equals sign." eg:"-n|--lines --color?"`
	Options     []rulefile.Pair[rulefile.Text] `rule:"options" doc:"Options that mean something: the kind of the value, or effects, or both." eg:"{'-o|--output': write, '-C|--directory': folder, --push: publish}"`
	Operands    rulefile.Text                  `rule:"operands" doc:"What the arguments are that are no options, with commas between. One with a star repeats." eg:"read*, target"`
	Effects     rulefile.Text                  `rule:"effects" doc:"What it does beside its files." eg:"remote publish"`
	Enough      int                            `rule:"enough" min:"1" max:"9" doc:"How many operands it needs. If left out, it is 1." eg:"2"`
	Alone       rulefile.Text                  `rule:"alone" doc:"What it does with fewer operands than that." eg:"stdin"`
	Style       rulefile.Text                  `rule:"style" doc:"How options are written, if not as most programs have it. first: options end at the first operand. operands: there are none. words: -name value, with one dash or two. bundle: the first word may lack its dash, as in tar xf." eg:"first"`
	Reader      rulefile.Text                  `rule:"reader" doc:"What reads the arguments, where a row cannot say enough." eg:"find"`
	OwnOptions  bool                           `rule:"own_options" doc:"Its options stand before a subcommand, and not behind it."`
	StartsShell bool                           `rule:"starts_shell" doc:"Without a program to run it starts a shell."`
	Versioned   bool                           `rule:"versioned" doc:"A version may follow the name, as in python3.11."`
	Prints      []rulefile.Pair[rulefile.Text] `rule:"prints" doc:"What its output is, and a regular expression of its words in full, the name first, for which it is so. A blank in it stands between two words." eg:"{numbers: 'wc -[lw]'}"`
	Usual       rulefile.Text                  `rule:"usual" doc:"A regular expression of values that are no question, in full: of a variable, whose name begins with a dollar sign, or of an option of kind setting, code or sql." eg:"'(off|local)'"`
	Subcommands []rulefile.Pair[Row]           `rule:"subcommands" doc:"Rows for subcommands. Other spellings of one follow a bar. A star at the end stands for any ending. Options and effects of the program hold for them, too." eg:"{push: {effects: publish}, 'list|ls status': {}}"`
	Hit         []rulefile.Text                `rule:"hit" doc:"Commands that are understood. Every load tries them." eg:"[mytool -v a.txt]"`
	Miss        []rulefile.Text                `rule:"miss" doc:"Commands that are not understood, so that a person is asked. Every load tries them." eg:"[mytool --frob]"`
	Gives       []rulefile.Pair[rulefile.Text] `rule:"gives" doc:"Commands, and all that they do. Every load tries them." eg:"{'mytool -o b a': 'read a, write b'}"`
}

// row returns the row for the table.
func (r Row) row() program.Row {
	out := program.Row{
		Letters: r.Letters.Value, Flags: r.Flags.Value, Values: r.Values.Value, Operands: r.Operands.Value,
		Effects: r.Effects.Value, Enough: r.Enough,
		Alone: r.Alone.Value, Style: r.Style.Value, Reader: r.Reader.Value, OwnOptions: r.OwnOptions,
		StartsShell: r.StartsShell, Versioned: r.Versioned, Usual: r.Usual.Value,
	}
	for _, o := range r.Options {
		out.Options = append(out.Options, program.Option{Names: o.Key.Value, Means: o.Value.Value})
	}
	for _, p := range r.Prints {
		out.Prints = append(out.Prints, program.Option{Names: p.Key.Value, Means: p.Value.Value})
	}
	for _, s := range r.Subcommands {
		out.Subcommands = append(out.Subcommands, program.Named{Names: s.Key.Value + " " + s.Value.Also.Value,
			Row: s.Value.row()})
	}
	return out
}

// find returns the place of a flaw.
func (r Row) find(f program.Flaw) rulefile.Place {
	texts := map[string][]rulefile.Text{
		"letters": {r.Letters}, "flags": {r.Flags}, "values": {r.Values}, "operands": {r.Operands}, "effects": {r.Effects}, "alone": {r.Alone},
		"style": {r.Style}, "reader": {r.Reader}, "usual": {r.Usual},
	}[f.Key]
	pairs := map[string][]rulefile.Pair[rulefile.Text]{"options": r.Options, "prints": r.Prints}[f.Key]
	if pairs != nil {
		texts = []rulefile.Text{pairs[f.Entry].Key, pairs[f.Entry].Value}
	}
	for _, t := range texts {
		if before, _, found := strings.Cut(t.Value, f.Word); found && f.Word != "" {
			from := len([]rune(before))
			return t.Span(from, from+len([]rune(f.Word)))
		}
	}
	return rulefile.Place{}
}
