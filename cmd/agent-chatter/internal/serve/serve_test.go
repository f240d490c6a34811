package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

func TestTexts(t *testing.T) {
	render := (&app.App{}).Render
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "servedText", Shown: servedText(false, nil)},
		{Function: "servedText", Sample: "chat", Shown: servedText(false, []string{"/home/ann/work", apptest.Hostile})},
		{Function: "servedText", Sample: "other machines", Shown: servedText(true, []string{"/home/ann/work"})},
		{Function: "authorityText", Shown: authorityText("https://mill.local:8443", "AB:CD")},
		{Function: "pairText", Shown: pairText("answer")},
		{Function: "reachableText", Shown: render(reachableText(":8443" + apptest.Hostile))},
		{Function: "noHostText", Shown: render(noHostText([]string{"192.168.1.20", "2001:db8::1"}))},
		{Function: "notListeningText", Shown: render(notListeningText(apptest.Hostile+":1", errors.New("in use")))},
		{Function: "noHostText", Sample: "no network", Shown: render(noHostText(nil))},
		{Function: "sharedKeyText", Shown: render(sharedKeyText("/home/" + apptest.Hostile))},
		{Function: "noDirectoryText", Shown: render(noDirectoryText(apptest.Hostile))},
		{Function: "fullText", Shown: render(fullText(100))},
		{Function: "pairedText", Shown: render(pairedText(
			devices.Device{ID: "k7qmz2ab", Name: apptest.Hostile, Role: web.RoleAll}))},
		{Function: "tunnelText", Shown: render(tunnelText("8765"))},
		{Function: "goneText", Shown: render(goneText(apptest.Hostile))},
		{Function: "notOpenedText", Shown: notOpenedText(errors.New("exec: " + apptest.Hostile))},
	})
}

// written writes a file and returns its path.
func written(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

const secret = "0123456789abcdefghij"

func TestListenRefuses(t *testing.T) {
	cert, key := certificate(t, "chat.example")
	token := written(t, "token", secret, 0o600)
	for name, cmd := range map[string]Command{
		"no port":               {Addr: "127.0.0.1"},
		"other hosts":           {Addr: ":0"},
		"a foreign address":     {Addr: "192.0.2.1:0"},
		"a name":                {Addr: "chat.example:0"},
		"no certificate":        {Addr: ":0", TokenFile: token},
		"no token":              {Addr: ":0", TLSCert: cert, TLSKey: key},
		"no token, own TLS":     {Addr: "192.0.2.1:0", TLSOwn: true},
		"chat without TLS":      {Addr: ":0", Chat: true},
		"pairing without TLS":   {Addr: "192.0.2.1:0", Pair: true, TokenFile: token},
		"own TLS for all":       {Addr: ":0", Chat: true, TLSOwn: true},
		"own TLS for all IPv6":  {Addr: "[::]:0", Chat: true, TLSOwn: true},
		"own TLS for no name":   {Addr: "a_b:0", Chat: true, TLSOwn: true},
		"own TLS and another":   {Addr: "127.0.0.1:0", TLSOwn: true, TLSCert: cert, TLSKey: key},
		"no key":                {Addr: "127.0.0.1:0", TLSCert: cert},
		"no certificate, a key": {Addr: "127.0.0.1:0", TLSKey: key},
		"a wrong key":           {Addr: "127.0.0.1:0", TLSCert: cert, TLSKey: cert},
		"a short token":         {Addr: "127.0.0.1:0", TokenFile: written(t, "token", secret[1:], 0o600)},
		"an odd token":          {Addr: "127.0.0.1:0", TokenFile: written(t, "token", secret+"&", 0o600)},
		"words":                 {Addr: "127.0.0.1:0", TokenFile: written(t, "token", secret+" "+secret, 0o600)},
		"a shared token":        {Addr: "127.0.0.1:0", TokenFile: written(t, "token", secret, 0o640)},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := cmd.listen(t.TempDir())
			if err == nil {
				s.Close()
			}
			if app.CodeOf(err) != app.ExitUsage {
				t.Errorf("%v", err)
			}
		})
	}
	for name, path := range map[string]string{
		"a directory": t.TempDir(), "no file": filepath.Join(t.TempDir(), "none"),
		"a long token": written(t, "token", strings.Repeat("a", 1001), 0o600),
	} {
		if s, err := (&Command{Addr: "127.0.0.1:0", TokenFile: path}).listen(t.TempDir()); err == nil {
			s.Close()
			t.Errorf("the token is in %s", name)
		}
	}
}

// certificate writes a certificate of a host and its key.
func certificate(t *testing.T, host string) (certPath, keyPath string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, data []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
	}
	return written(t, "cert.pem", block("CERTIFICATE", der), 0o600),
		written(t, "key.pem", block("PRIVATE KEY", private), 0o600)
}

// started runs a server until the test ends, or until stop is called. ended has the error of its end.
func started(t *testing.T, cmd Command) (s *server, stop func(), ended <-chan error) {
	t.Helper()
	return startedWith(t, cmd, requestTime)
}

// startedWith is started with another time for a request.
func startedWith(t *testing.T, cmd Command, wait time.Duration) (s *server, stop func(), ended <-chan error) {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard},
		app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err = cmd.listen(a.Home)
	if err != nil {
		t.Fatal(err)
	}
	s.wait = wait
	stop, ended = run(t, a, s, newPairing(a, s))
	return s, stop, ended
}

// run runs a server until the test ends, or until stop is called.
func run(t *testing.T, a *app.App, s *server, p *pairing) (stop func(), ended <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() {
		end <- s.serve(ctx, api.New(a, nil, ctx.Done()), p)
		close(end)
	}()
	t.Cleanup(func() {
		stop()
		<-end
		s.Close()
	})
	return stop, end
}

// get sends a request with the token to a server.
func get(t *testing.T, client *http.Client, url, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestASignalEndsTheServerDuringAStream(t *testing.T) {
	s, stop, ended := started(t, Command{Addr: "127.0.0.1:0"})
	client := &http.Client{Transport: &http.Transport{}}
	if page := get(t, client, s.origin, ""); page.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", page.Status)
	}
	if list := get(t, client, s.origin+"/api/sessions", "wrong"); list.StatusCode != http.StatusUnauthorized {
		t.Errorf("the list without the token: %s", list.Status)
	}
	stream := get(t, client, s.origin+"/api/stream?list=1", s.token)
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || stream.StatusCode != http.StatusOK {
		t.Errorf("the stream: %s, %q, %v", stream.Status, line, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("the server still listens")
	}
}

func TestOtherHostsAreServedByTheNameOfTheCertificate(t *testing.T) {
	cert, key := certificate(t, "chat.example")
	s, _, _ := started(t, Command{
		Addr: ":0", TLSCert: cert, TLSKey: key, TokenFile: written(t, "token", secret+"\n", 0o600),
	})
	_, port, _ := net.SplitHostPort(s.Addr().String())
	if want := "https://chat.example:" + port; s.origin != want || s.token != secret {
		t.Errorf("%s, token %s", s.origin, s.token)
	}
	roots := x509.NewCertPool()
	text, _ := os.ReadFile(cert)
	roots.AppendCertsFromPEM(text)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "chat.example"},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}}
	if list := get(t, client, s.origin+"/api/sessions", secret); list.StatusCode != http.StatusOK {
		t.Errorf("by the name of the certificate: %s", list.Status)
	}
	foreign := "https://other.example:" + port + "/api/sessions"
	if list := get(t, client, foreign, secret); list.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("by another name: %s", list.Status)
	}
}

func TestKnownHosts(t *testing.T) {
	s, _, _ := started(t, Command{Addr: "127.0.0.1:0"})
	_, port, _ := net.SplitHostPort(s.Addr().String())
	for host, want := range map[string]bool{
		"127.0.0.1:" + port: true, "localhost:" + port: true, "[::1]:" + port: true,
		"127.0.0.1": false, "127.0.0.1:1": false, "": false, "evil.example:" + port: false,
		"127.0.0.1.evil.example:" + port: false, "localhost:" + port + ":1": false,
	} {
		if got := s.knows(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
