package ruleset

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The locked folder belongs to a security team. It holds files of the same names
// that say less, and what they say only tightens: of the two, the stricter is in
// force. A rule of the operator that is looser is no error, since a tightening must
// take effect at once; it is a warning.

// locked is what the locked folder says.
type locked struct {
	limits reflect.Value   // ceilings, as Loader.limits has them; zero where nothing is said
	kinds  *[]parse.Kind   // of strategies that may be enabled; nil: all
	off    []rulefile.Text // strategies that stay off

	examples []func() // of its exec.yaml
}

// lockedStrategies is strategies.yaml of the locked folder.
type lockedStrategies struct {
	rulefile.Head
	Kinds *[]parse.Kind   `rule:"kinds" one:"native harmony json lines frame drop phrases block pattern" doc:"The only kinds of strategies that may be on. If left out, all may be." eg:"[native, harmony]"`
	Off   []rulefile.Text `rule:"off" doc:"Ids of strategies that stay off in every profile." eg:"[fuzzy]"`
}

// lockedArguments is arguments.yaml of the locked folder.
type lockedArguments struct {
	rulefile.Head
	Classes rulefile.Lists `rule:"classes,required" doc:"By class (read, write, exec): a tool with one of these words in its name is at least of this class." eg:"{exec: [deploy]}"`
}

var lockable = []string{limitsFile, strategiesFile, argumentsFile, editsFile, execFilename, pathsFilename,
	urlsFilename}

// lock reads the locked folder. It comes before the files that it tightens.
func (l *loader) lock() {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		in, isLocked := strings.CutPrefix(name, rulefile.PolicyFolder+"/")
		if isLocked && path.Dir(in) != rulefile.TestFolder && !isPrograms(in) &&
			!slices.Contains(lockable, in) {
			l.file(name, rulefile.CodeFile, "a locked folder cannot hold this file",
				"it may hold "+strings.Join(lockable, ", ")+", programs/*.yaml and tests/*.yaml")
		}
	}
	l.locked.limits = reflect.New(l.limits(Limits{}).Type()).Elem()
	l.decode(lockedName(limitsFile), l.locked.limits.Addr().Interface(), true)
	strategies := decodeFile[lockedStrategies](l, lockedName(strategiesFile))
	l.locked.kinds, l.locked.off = strategies.Kinds, strategies.Off
	l.set.Tools.Floors = l.classes(decodeFile[lockedArguments](l, lockedName(argumentsFile)).Classes)
}

func lockedName(name string) string { return rulefile.PolicyFolder + "/" + name }

// ordered keeps limits in order that the locked folder has lowered, and that depend on each other.
func (l *loader) ordered(f *Limits) {
	f.LineBytes = min(f.LineBytes, f.ReplyBytes)
	f.RetryMin = min(f.RetryMin, f.RetryMax)
	if f.Keepalive >= f.Idle {
		f.Keepalive = f.Idle / 2
	}
	locked := coreOf(l.locked.limits)
	for key, most := range map[string]time.Duration{"first_byte": locked.FirstByte, "idle": locked.Idle} {
		if l.trees[lockedName(limitsFile)].Says("time", key) {
			f.CallerWait = min(f.CallerWait, most) // or a caller could wait past the lock
		}
	}
}

// ceiling lowers limits to what the locked folder allows; least is the smallest value that one may have.
func (l *loader) ceiling(v, most reflect.Value, least string, keys ...string) {
	if v.Kind() == reflect.Struct {
		for _, f := range rulefile.Keys(v.Type()) {
			if key, _ := rulefile.KeyOf(f); key != "version" {
				l.ceiling(v.FieldByIndex(f.Index), most.FieldByIndex(f.Index), f.Tag.Get("min"),
					append(slices.Clip(keys), key)...)
			}
		}
		return
	}
	if !v.CanInt() || !l.trees[lockedName(limitsFile)].Says(keys...) {
		return
	}
	absent := v.Int() == 0 && least != "" && least != "0" // there is no limit
	if v.Int() <= most.Int() && !absent {
		return
	}
	said := quantity(v)
	if absent {
		said = "left out"
	}
	if absent || l.trees[limitsFile].Says(keys...) { // no warning about a default
		at, by := l.placeOf(limitsFile, keys...), l.placeOf(lockedName(limitsFile), keys...)
		l.loosened(at, by, fmt.Sprintf("%s is %s, and the locked folder allows %s", strings.Join(keys, "."),
			said, quantity(most)))
	}
	v.SetInt(most.Int())
}

// loosened warns that a rule is looser than the locked folder, which is in force. What
// the operator has only included is not theirs to change.
func (l *loader) loosened(at, by rulefile.Place, msg string) {
	if at.Known() && by.Known() && !strings.HasPrefix(at.File(), rulefile.BuiltinFolder+"/") {
		l.warn(at, rulefile.CodeLocked, msg, "what stands at "+by.String()+" is in force")
	}
}

// placeOf is where a key of a rule file stands.
func (l *loader) placeOf(file string, keys ...string) rulefile.Place {
	return l.trees[file].At(keys...)
}

// quantity is a limit as it is written.
func quantity(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case rulefile.Size:
		for i, unit := range []string{"GiB", "MiB", "KiB"} {
			if shift := 10 * (3 - i); x > 0 && x%(1<<shift) == 0 {
				return strconv.Itoa(int(x>>shift)) + unit
			}
		}
	}
	return strconv.FormatInt(v.Int(), 10)
}

// strayLocks warns of names in the locked folder that lock nothing.
func (l *loader) strayLocks(ids []string) {
	for _, id := range l.locked.off {
		if id.At.Known() && !slices.Contains(ids, id.Value) {
			l.warn(id.All(), rulefile.CodeLocked, "there is no strategy "+id.Value+", so this locks nothing",
				rulefile.DidYouMean(id.Value, ids))
		}
	}
}

// bars reports whether the locked folder keeps a strategy off, and by which place.
func (l *loader) bars(r strategyRule) (by rulefile.Place, why string) {
	for _, id := range l.locked.off {
		if id.Value == r.ID.Value {
			return id.All(), r.ID.Value + " is off in the locked folder"
		}
	}
	allows := func(k parse.Kind) bool { // a folder of an earlier version calls frames blocks
		return k == r.Kind || r.Kind == parse.Frames && (k == blockKind || k == patternKind)
	}
	if kinds := l.locked.kinds; kinds != nil && !slices.ContainsFunc(*kinds, allows) {
		return l.placeOf(lockedName(strategiesFile), "kinds"),
			"the locked folder allows no strategy of kind " + string(r.Kind)
	}
	return rulefile.Place{}, ""
}
