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

// locked is the content of the locked folder, which belongs to a security team. Its files have the same
// names, say less, and only tighten: the stricter value is in force. A looser rule of the operator is a
// warning, not an error, since a tightening must take effect at once.
type locked struct {
	limits reflect.Value   // ceilings, as Loader.limits has them; zero if not set
	kinds  *[]parse.Kind   // kinds of strategies that may be enabled; nil: all
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

// readLock reads the locked folder, before the files that it tightens.
func (l *loader) readLock() {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		in, isLocked := strings.CutPrefix(name, rulefile.PolicyFolder+"/")
		if isLocked && path.Dir(in) != rulefile.TestFolder && !isPrograms(in) &&
			!slices.Contains(lockable, in) {
			l.reportFile(name, rulefile.CodeFile, "a locked folder cannot hold this file",
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

// orderLimits keeps dependent limits in order after the locked folder has lowered some.
func (l *loader) orderLimits(f *Limits) {
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

// lowerLimits lowers limits to those of the locked folder; least is the smallest valid value.
func (l *loader) lowerLimits(v, most reflect.Value, least string, keys ...string) {
	if v.Kind() == reflect.Struct {
		for _, f := range rulefile.Keys(v.Type()) {
			if key, _ := rulefile.KeyOf(f); key != "version" {
				l.lowerLimits(v.FieldByIndex(f.Index), most.FieldByIndex(f.Index), f.Tag.Get("min"),
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
	value := quantity(v)
	if absent {
		value = "left out"
	}
	if absent || l.trees[limitsFile].Says(keys...) { // no warning about a default
		at, by := l.placeOf(limitsFile, keys...), l.placeOf(lockedName(limitsFile), keys...)
		l.warnLooser(at, by, fmt.Sprintf("%s is %s, and the locked folder allows %s", strings.Join(keys, "."),
			value, quantity(most)))
	}
	v.SetInt(most.Int())
}

// warnLooser warns that a rule is looser than the locked folder, which is in force. Included rules of the
// program are not the operator's to change.
func (l *loader) warnLooser(at, by rulefile.Place, msg string) {
	if at.Known() && by.Known() && !strings.HasPrefix(at.File(), rulefile.BuiltinFolder+"/") {
		l.warn(at, rulefile.CodeLocked, msg, "what stands at "+by.String()+" is in force")
	}
}

// placeOf returns the place of a key of a rule file.
func (l *loader) placeOf(file string, keys ...string) rulefile.Place {
	return l.trees[file].At(keys...)
}

// quantity returns a limit as it is written.
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

// warnUnusedLocks warns of strategies in the locked folder that do not exist.
func (l *loader) warnUnusedLocks(ids []string) {
	for _, id := range l.locked.off {
		if id.At.Known() && !slices.Contains(ids, id.Value) {
			l.warn(id.All(), rulefile.CodeLocked, "there is no strategy "+id.Value+", so this locks nothing",
				rulefile.DidYouMean(id.Value, ids))
		}
	}
}

// lockedOff returns where and why the locked folder keeps a strategy off; why is empty if it does not.
func (l *loader) lockedOff(r strategyRule) (by rulefile.Place, why string) {
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
