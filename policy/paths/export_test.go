package paths

// Effect is what the developer profile makes of a use.
var Effect = effect
