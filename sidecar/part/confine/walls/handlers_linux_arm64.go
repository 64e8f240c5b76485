package walls

// addLegacyHandlers adds the calls that newer architectures lack.
func addLegacyHandlers(map[int]func(*caller) callResult) {}
