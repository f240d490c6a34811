package regularfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag of OpenFile: a name that is a symbolic link is refused.
const NoFollow = windows.FILE_FLAG_OPEN_REPARSE_POINT

// open opens a file as package os does, except that it can be renamed and removed
// while it is open.
func open(name string, flag int, _ fs.FileMode) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	access := map[int]uint32{
		os.O_RDONLY: windows.GENERIC_READ,
		os.O_WRONLY: windows.GENERIC_WRITE,
		os.O_RDWR:   windows.GENERIC_READ | windows.GENERIC_WRITE,
	}[flag&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR)]
	if flag&os.O_APPEND != 0 {
		access = access&^windows.GENERIC_WRITE | windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES |
			windows.STANDARD_RIGHTS_WRITE | windows.SYNCHRONIZE
	}
	var creation uint32 = windows.OPEN_EXISTING
	switch flag & (os.O_CREATE | os.O_EXCL) {
	case os.O_CREATE:
		creation = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_EXCL:
		creation = windows.CREATE_NEW
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	attributes := windows.FILE_ATTRIBUTE_NORMAL | uint32(flag)&NoFollow
	h, err := windows.CreateFile(path, access, share, nil, creation, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
