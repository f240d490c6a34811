package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// intro is how a file of age begins.
const intro = "age-encryption.org/v1\n"

// sealedWriter returns a function that writes what write writes, encrypted for recipients such as age1….
func sealedWriter(recipients []string, write func(io.Writer) error) (func(io.Writer) error, error) {
	keys, err := home.ParseRecipients(recipients)
	if err != nil {
		return nil, app.UsageError("--encrypt-to: %s.", tty.SafeLine(err.Error()))
	}
	return func(w io.Writer) error {
		sealed, err := age.Encrypt(w, keys...)
		if err != nil {
			return err
		}
		if err := write(sealed); err != nil {
			return err
		}
		return sealed.Close()
	}, nil
}

// sealedFile is a file to import.
type sealedFile struct {
	Path string // of what can be read: the file itself, or what was decrypted of it

	temporary string // "": the file is not encrypted
}

// Close removes what was decrypted.
func (o sealedFile) Close() {
	if o.temporary != "" {
		os.RemoveAll(o.temporary)
	}
}

// openSealed decrypts a file with the identities of the home, whole and verified, into a private directory of the home.
// A file that is not encrypted is returned as it is.
func openSealed(a *app.App, path string) (o sealedFile, err error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return sealedFile{Path: path}, nil // the import reports it
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var source io.Reader = in
	switch start, _ := in.Peek(len(armor.Header)); {
	case strings.HasPrefix(string(start), armor.Header):
		source = armor.NewReader(in)
	case !strings.HasPrefix(string(start), intro):
		return sealedFile{Path: path}, nil
	}
	keys, err := home.LoadIdentities(home.IdentitiesDir(a.Home))
	if err != nil {
		return o, err
	}
	if len(keys) == 0 {
		keys = append(keys, noIdentity{})
	}
	plain, err := age.Decrypt(source, keys...)
	if err != nil {
		return o, app.Exit(app.ExitFailed, notOpenedText(path, err))
	}
	return decrypt(a.Home, path, plain)
}

// decrypt copies to a temporary file. Crash here leaves a directory with a part of what the home has or would have.
func decrypt(home, path string, plain io.Reader) (o sealedFile, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return o, err
	}
	if o.temporary, err = os.MkdirTemp(home, "import-*.tmp"); err != nil { // with mode 0700
		return o, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".age")
	o.Path = filepath.Join(o.temporary, name)
	file, err := os.OpenFile(o.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(file, plain)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		o.Close()
		var disk *fs.PathError
		if !errors.As(err, &disk) {
			err = app.Exit(app.ExitFailed, alteredText(path))
		}
		return sealedFile{}, err
	}
	return o, nil
}

// noIdentity opens nothing.
type noIdentity struct{}

func (noIdentity) Unwrap([]*age.Stanza) ([]byte, error) { return nil, age.ErrIncorrectIdentity }

// notOpenedText is for a file that no identity of the home opens.
func notOpenedText(path string, err error) app.Message {
	var none *age.NoIdentityMatchError
	if !errors.As(err, &none) {
		return app.Text("%s is not a valid file of age: %s", tty.SafeLine(path), tty.SafeLine(err.Error()))
	}
	return app.Text("%s is encrypted, and no identity of the home opens it.\n"+
		"Put the identity of a recipient into the directory identities of the home, or "+
		"ask for a file that is encrypted to a recipient of yours.", tty.SafeLine(path)).
		With(app.To("list the recipients of yours", "identities"))
}

// alteredText is for a file that was changed or cut after it was encrypted.
func alteredText(path string) app.Message {
	return app.Message{Text: fmt.Sprintf("%s was changed or cut after it was encrypted: nothing was imported.",
		tty.SafeLine(path))}
}
