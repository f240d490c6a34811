package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// The lives of certificates.
const (
	authorityLife = 5 * 365 * 24 * time.Hour
	spareLife     = 90 * 24 * time.Hour // before its end, an authority is replaced
	serverLife    = 7 * 24 * time.Hour
	clockSkew     = 24 * time.Hour // by which the clock of a device may be behind
)

const maxFile = 16 << 10 // bytes

// dir is the directory of the authorities in the home.
const dir = "tls"

// An Authority signs the certificates of a server at one host. Its methods may be called concurrently.
type Authority struct {
	host string // a name, or an address
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  func() time.Time

	mu     sync.Mutex
	server *tls.Certificate // the newest
}

// A HostError is the error of a host for which no certificate can be made.
type HostError struct{ Host string }

func (e *HostError) Error() string {
	return fmt.Sprintf("%q is no name or address of one host", e.Host)
}

// A SharedError is the error of a file with a key that other users can read.
type SharedError struct{ Path string }

func (e *SharedError) Error() string { return "other users can read the key in " + e.Path }

// name matches a name of a host.
var name = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// Open returns the authority of a host, and makes it if there is none in the home, or its life nearly ends. created
// reports whether it is new: devices have to trust it then. A host that is no name or address of one host is a
// *HostError. A file that others can change or read is refused with a *home.OthersError or a *SharedError.
func Open(homeDir, host string) (a *Authority, created bool, err error) {
	return open(homeDir, host, time.Now)
}

func open(homeDir, host string, now func() time.Time) (a *Authority, created bool, err error) {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	if ip == nil && (len(host) > 253 || !name.MatchString(host)) || ip != nil && ip.IsUnspecified() {
		return nil, false, &HostError{host}
	}
	path := filepath.Join(homeDir, dir, "ca-"+strings.ReplaceAll(host, ":", "_")+".pem")
	a, err = read(homeDir, path, host, now)
	switch {
	case err == nil && a.cert.NotAfter.Sub(now()) > spareLife:
		return a, false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("certificate authority %s: %w", path, err)
	}
	text, err := create(host, ip, now())
	if err == nil {
		_, err = vfs.MkdirAll(vfs.OS, filepath.Dir(path))
	}
	if err == nil {
		err = vfs.Replace(vfs.OS, path, 0o600, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return nil, false, err
	}
	// If another process has made one at the same time, that of the file counts.
	a, err = read(homeDir, path, host, now)
	return a, true, err
}

// read reads the file of an authority: its certificate and its key.
func read(homeDir, path, host string, now func() time.Time) (*Authority, error) {
	for _, name := range []string{homeDir, filepath.Dir(path), path} {
		if err := home.CheckFileOwner(homeDir, name); err != nil {
			return nil, err
		}
	}
	f, err := regularfile.OpenFile(path, os.O_RDONLY|regularfile.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && othersRead(info) {
		return nil, &SharedError{path}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("it has no certificate authority")
	}
	return &Authority{host: host, cert: pair.Leaf, key: key, now: now}, nil
}

// create returns the file of a new authority.
func create(host string, ip net.IP, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "agent-chatter at " + host},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		PermittedDNSDomainsCritical: true,
	}
	everyAddress := []*net.IPNet{
		{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
	}
	// A kind of name without a constraint would be allowed whatever it is.
	switch four := ip.To4(); {
	case ip == nil:
		template.PermittedDNSDomains, template.ExcludedIPRanges = []string{host}, everyAddress
	case four != nil:
		template.PermittedIPRanges = []*net.IPNet{{IP: four, Mask: net.CIDRMask(32, 32)}}
	default:
		template.PermittedIPRanges = []*net.IPNet{{IP: ip, Mask: net.CIDRMask(128, 128)}}
	}
	if ip != nil {
		template.PermittedDNSDomains = []string{"agent-chatter.invalid"} // which no host has
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}

// serial returns a random serial number.
func serial() *big.Int {
	number := make([]byte, 16)
	_, _ = rand.Read(number)       // never fails
	number[0] = number[0]&0x7f | 1 // positive
	return new(big.Int).SetBytes(number)
}

// Certificate returns a certificate for the host with at least half of its life left.
func (a *Authority) Certificate() (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.server != nil && a.server.Leaf.NotAfter.Sub(now) > serverLife/2 && now.After(a.server.Leaf.NotBefore) {
		return a.server, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		// OpenSSL takes a common name with a dot for a name of the host, which the constraint forbids.
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "agent-chatter"},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(serverLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(a.host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{a.host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a.server = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	return a.server, nil
}

// DER returns the certificate of the authority, which a device has to trust.
func (a *Authority) DER() []byte { return a.cert.Raw }

// Fingerprint returns the SHA-256 of DER as devices show it: bytes in hex with colons between them.
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.cert.Raw)
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}
