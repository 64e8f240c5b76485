package walls

// addOld has nothing to add here.
func addOld(map[int]func(*caller) verdict) {}
