package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archive writes a directory, with its name, into a new archive. The order is that of the names.
func archive(output, dir string, at time.Time) error {
	f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	write := writeTar
	if strings.HasSuffix(output, ".zip") {
		write = writeZip
	}
	if err := write(f, dir, at); err != nil {
		return err
	}
	return f.Close()
}

func writeTar(out io.Writer, dir string, at time.Time) error {
	zw, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	err = eachFile(dir, func(name string, mode fs.FileMode, data []byte) error {
		h := &tar.Header{Name: name, Mode: int64(mode.Perm()), Size: int64(len(data)), ModTime: at, Format: tar.FormatUSTAR}
		h.Typeflag = tar.TypeReg
		if mode.IsDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		_, err := tw.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return zw.Close()
}

func writeZip(out io.Writer, dir string, at time.Time) error {
	zw := zip.NewWriter(out)
	err := eachFile(dir, func(name string, mode fs.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: name, Modified: at, Method: zip.Deflate}
		if mode.IsDir() {
			h.Method = zip.Store
		}
		h.SetMode(mode)
		w, err := zw.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return zw.Close()
}

// eachFile calls add for a directory and all in it. A name of a directory ends with a slash. The permissions are 0755
// of directories and programs and 0644 of others, whatever the umask was.
func eachFile(dir string, add func(name string, mode fs.FileMode, data []byte) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(filepath.Dir(dir), path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(below)
		if entry.IsDir() {
			return add(name+"/", fs.ModeDir|0o755, nil)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return add(name, mode, data)
	})
}
