#include "textflag.h"

// func clone(flags, stack uintptr, b *brood, who uintptr) (pidOrErrno int)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-40
	MOVD flags+0(FP), R0
	MOVD stack+8(FP), R1
	MOVD b+16(FP), R19
	MOVD who+24(FP), R20
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $220, R8 // clone
	SVC
	CBZ  R0, new
	MOVD R0, pidOrErrno+32(FP)
	RET

new: // on the new stack
	MOVD ZR, R29
	MOVD R19, 8(RSP)
	MOVD R20, 16(RSP)
	MOVD $·born(SB), R9 // the linker takes a direct call for endless recursion
	CALL (R9)
	BRK  $0
