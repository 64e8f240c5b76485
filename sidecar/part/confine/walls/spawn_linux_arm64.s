#include "textflag.h"

// func clone(flags, stack, function uintptr, b *childState, who uintptr) (pidOrErrno int)
TEXT ·clone(SB), NOSPLIT|NOFRAME, $0-48
	MOVD flags+0(FP), R0
	MOVD stack+8(FP), R1
	MOVD function+16(FP), R9
	MOVD b+24(FP), R19
	MOVD who+32(FP), R20
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $220, R8 // clone
	SVC
	CBZ  R0, new
	MOVD R0, pidOrErrno+40(FP)
	RET

new: // on the new stack, with arguments where Go functions take them
	MOVD ZR, R29
	MOVD R19, R0
	MOVD R20, R1
	CALL (R9)
	BRK  $0

// func syscall6(nr, a1, a2, a3, a4, a5, a6 uintptr) int
TEXT ·syscall6(SB), NOSPLIT, $0-64
	MOVD nr+0(FP), R8
	MOVD a1+8(FP), R0
	MOVD a2+16(FP), R1
	MOVD a3+24(FP), R2
	MOVD a4+32(FP), R3
	MOVD a5+40(FP), R4
	MOVD a6+48(FP), R5
	SVC
	MOVD R0, ret+56(FP)
	RET
