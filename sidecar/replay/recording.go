package replay

import (
	"cmp"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Recording reads a reply as Explain does, and gives what a test of it must hold.
func Recording(set *ruleset.Set, in guard.World, profile, name string,
	rec *Record) (ruleset.Recording, error) {
	out := ruleset.Recording{Name: name, Profile: profile}
	var err error
	if out.Tools, err = rec.Offered(); err != nil {
		return out, err
	}
	read, err := rec.read(set, in, profile, false)
	if err != nil {
		return out, err
	}
	for _, d := range read.deltas {
		out.Reply.Content += d.Content
		out.Reply.Reasoning += d.Reasoning
		out.Reply.Calls = append(out.Reply.Calls, d.Calls...)
	}
	out.Finish, out.Reading = cmp.Or(read.finish, rec.Finish), read.reading
	for _, d := range read.decided {
		if d.Effect == policy.Deny {
			out.Denied = append(out.Denied, cmp.Or(d.Rule, "default"))
		}
	}
	return out, nil
}
