package authority

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// opened opens the authority of a host at a time.
func opened(t *testing.T, home, host string, now *time.Time) (a *Authority, created bool) {
	t.Helper()
	a, created, err := open(home, host, func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	return a, created
}

// trusts reports whether a device that trusts the authority accepts a certificate for a host.
func trusts(a *Authority, leaf *x509.Certificate, host string, now time.Time) error {
	roots := x509.NewCertPool()
	root, err := x509.ParseCertificate(a.DER())
	if err != nil {
		return err
	}
	roots.AddCert(root)
	_, err = leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now})
	return err
}

func TestCertificatesAreForTheHost(t *testing.T) {
	for _, host := range []string{"192.168.1.20", "2001:db8::1", "mill.local", "localhost"} {
		now := time.Now()
		a, created := opened(t, t.TempDir(), host, &now)
		server, err := a.Certificate()
		if err != nil || !created {
			t.Fatal(err)
		}
		if err := trusts(a, server.Leaf, host, now); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		for _, other := range []string{"192.168.1.21", "2001:db8::2", "bank.example", "example.mill.local", "mill.localx"} {
			if err := trusts(a, server.Leaf, other, now); err == nil {
				t.Errorf("the certificate of %s is good for %s", host, other)
			}
		}
	}
}

// Who gets the key of an authority can pretend to be its host only.
func TestAuthorityIsConstrained(t *testing.T) {
	for _, host := range []string{"192.168.1.20", "2001:db8::1", "mill.local"} {
		now := time.Now()
		a, _ := opened(t, t.TempDir(), host, &now)
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		forged := func(template x509.Certificate) *x509.Certificate {
			template.SerialNumber = serial()
			template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(time.Hour)
			der, err := x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key)
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			return leaf
		}
		for name, template := range map[string]x509.Certificate{
			"bank.example": {DNSNames: []string{"bank.example"}}, "example": {DNSNames: []string{"example"}},
			"192.168.1.21": {IPAddresses: []net.IP{net.IPv4(192, 168, 1, 21)}},
			"2001:db8::2":  {IPAddresses: []net.IP{net.ParseIP("2001:db8::2")}},
			"127.0.0.1":    {IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}},
		} {
			if err := trusts(a, forged(template), name, now); err == nil {
				t.Errorf("the authority of %s signs for %s", host, name)
			}
		}
		between := forged(x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
		if a.cert.MaxPathLen != 0 || !a.cert.MaxPathLenZero || !between.IsCA {
			t.Errorf("the authority of %s allows others below it", host)
		}
		if !a.cert.PermittedDNSDomainsCritical {
			t.Error("the constraint may be ignored")
		}
	}
}

func TestAuthorityIsKept(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	first, created := opened(t, home, "mill.local", &now)
	if !created {
		t.Error("the first is not new")
	}
	again, created := opened(t, home, "MILL.local", &now)
	if created || !bytes.Equal(again.DER(), first.DER()) {
		t.Error("it was made again")
	}
	if other, created := opened(t, home, "mill.lan", &now); !created || bytes.Equal(other.DER(), first.DER()) {
		t.Error("another host has the same")
	}
	server, err := again.Certificate()
	if err != nil || trusts(first, server.Leaf, "mill.local", now) != nil {
		t.Errorf("a device that trusted it: %v", err)
	}
	if !regexp.MustCompile(`^([0-9A-F]{2}:){31}[0-9A-F]{2}$`).MatchString(first.Fingerprint()) {
		t.Error(first.Fingerprint())
	}
	now = now.Add(authorityLife - spareLife)
	if late, created := opened(t, home, "mill.local", &now); !created || bytes.Equal(late.DER(), first.DER()) {
		t.Error("it is kept to its end")
	}
}

func TestCertificatesAreRenewed(t *testing.T) {
	now := time.Now()
	a, _ := opened(t, t.TempDir(), "mill.local", &now)
	get := func() *tls.Certificate {
		c, err := a.Certificate()
		if err != nil || trusts(a, c.Leaf, "mill.local", now) != nil {
			t.Errorf("%v, %v", err, trusts(a, c.Leaf, "mill.local", now))
		}
		return c
	}
	first := get()
	if now = now.Add(serverLife/2 - time.Hour); get() != first {
		t.Error("it was renewed early")
	}
	if now = now.Add(2 * time.Hour); get() == first {
		t.Error("it was not renewed")
	}
	now = first.Leaf.NotBefore.Add(-time.Hour) // the clock was set back
	if c, err := a.Certificate(); err != nil || c == first || now.Before(c.Leaf.NotBefore) {
		t.Errorf("before its time: %v", err)
	}
}

func TestHostsAreNamesOrAddresses(t *testing.T) {
	home := t.TempDir()
	for _, host := range []string{
		"", "0.0.0.0", "::", "*.example", "../x", "a/b", "a_b", "a b", "-a", "a-", "a..b", "fe80::1%eth0", "é.example",
		strings.Repeat("a.", 130) + "a", "a\x00",
	} {
		var refused *HostError
		if _, _, err := Open(home, host); !errors.As(err, &refused) {
			t.Errorf("%q: %v", host, err)
		}
	}
	if all, err := os.ReadDir(home); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	now := time.Now()
	for name, spoil := range map[string]func(text []byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"no key":  func(text []byte) []byte { return text[:bytes.Index(text, []byte("-----BEGIN PRIVATE"))] },
		"no cert": func(text []byte) []byte { return text[bytes.Index(text, []byte("-----BEGIN PRIVATE")):] },
		"cut off": func(text []byte) []byte { return text[:len(text)-100] },
	} {
		home := t.TempDir()
		opened(t, home, "mill.local", &now)
		path := filepath.Join(home, "tls", "ca-mill.local.pem")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = spoil(text)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(home, "mill.local"); err == nil {
			t.Errorf("%s: it was used", name)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
			t.Errorf("%s: it was changed", name)
		}
	}
}
