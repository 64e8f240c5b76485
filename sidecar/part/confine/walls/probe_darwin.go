package walls

// untried is why nothing runs confined here unless the operator says so.
const untried = "the profiles for macOS were written without a Mac; confine --probe tries them on this one"

// Probe tries what this machine enforces, in a scratch folder.
func Probe() Offer {
	o := Offer{Parts: Parts(), Untried: untried}
	missing, err := runTrials(Run)
	for i, g := range o.Parts {
		switch {
		case err != nil:
			o.Parts[i].Missing = err.Error()
		case missing[g.Part] != "":
			o.Parts[i].Missing = missing[g.Part]
		case g.Part == partProc:
			o.Parts[i].Missing = "the profile refuses it, and nothing here tries that"
		case g.Part == partLimits:
			o.Parts[i].Missing = "memory and processes are not counted, and what leaves the group of processes outlives the command"
		default:
			o.Parts[i].By = "Seatbelt"
		}
	}
	return o
}
