package workspace

import "golang.org/x/sys/unix"

// folderFlags open a folder only to go on from it, which needs no right to list it.
const folderFlags = unix.O_PATH | unix.O_DIRECTORY
