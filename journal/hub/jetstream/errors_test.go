package jetstream_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

var someSession = hub.Session{Team: "team", ID: "01JD0000000000000000000000"}

// refused fails the test unless an error is a *hub.RefusedError with a text, and without a secret.
func refused(t *testing.T, err error, text string) {
	t.Helper()
	var refused *hub.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, want a refusal with %q", err, text)
	}
}

func unavailable(t *testing.T, err error) {
	t.Helper()
	if lost := (*hub.UnavailableError)(nil); !errors.As(err, &lost) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, want that the hub cannot be reached", err)
	}
}

func TestWrongCredentials(t *testing.T) {
	url := start(t, func(o *server.Options) { o.Username, o.Password = "ann", "hunter1" })
	for _, login := range []string{"", "ann:hunter2@", "hunter2@"} {
		o := jetstream.Options{URLs: []string{strings.Replace(url, "nats://", "nats://"+login, 1)}}
		_, err := jetstream.Open(t.Context(), o)
		refused(t, err, "credentials")
	}
	o := jetstream.Options{URLs: []string{strings.Replace(url, "nats://", "nats://ann:hunter1@", 1)}}
	if _, err := jetstream.Open(t.Context(), o); !errors.Is(err, hub.ErrMissing) {
		t.Errorf("with the right password: %v", err)
	}
}

func TestInvalidAddressIsNotPrinted(t *testing.T) {
	for _, address := range []string{"nats://ann:hunter2@hub host:4222", "nats://ann:hun/ter2@hub", "nats://", ""} {
		_, err := jetstream.Open(t.Context(), jetstream.Options{URLs: []string{"nats://127.0.0.1:1", address}})
		unavailable(t, err)
		if text := fmt.Sprint(err); !strings.Contains(text, "address 2 of 2") || strings.Contains(text, "ann:") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestServerThatCannotBeReachedIsNamed(t *testing.T) {
	ports, err := natstest.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	_, err = jetstream.Open(t.Context(), jetstream.Options{URLs: []string{"nats://ann:hunter2@" + address}})
	unavailable(t, err)
	if text := fmt.Sprint(err); !strings.Contains(text, address) || strings.Contains(text, "ann:") {
		t.Errorf("%v, want %s", err, address)
	}
}

// TestConnectingEndsWithTheContext connects to a server that accepts connections and does not answer.
func TestConnectingEndsWithTheContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := jetstream.Options{URLs: []string{"nats://" + l.Addr().String()}, Timeout: 5 * time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			cancel()
			<-t.Context().Done()
		}
	}()
	if _, err := jetstream.Open(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = jetstream.Open(ctx, o)
	unavailable(t, err)
	if text := fmt.Sprint(err); !strings.Contains(text, "no answer in time from "+l.Addr().String()) {
		t.Error(err)
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	url := start(t, nil)
	missing := filepath.Join(t.TempDir(), "missing")
	for _, o := range []jetstream.Options{{Credentials: missing}, {CA: missing}, {Cert: missing, Key: missing}} {
		o.URLs = []string{url}
		if _, err := jetstream.Open(t.Context(), o); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
			t.Errorf("%v", err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []jetstream.Options{{Credentials: empty}, {CA: empty}, {Cert: empty, Key: empty}} {
		o.URLs = []string{url}
		if e, err := jetstream.Open(t.Context(), o); err == nil || errors.Is(err, hub.ErrMissing) && o.Credentials == "" {
			t.Errorf("%+v: %v, %v", o, e, err)
		}
	}
}

// certificate creates a certificate that ends at a time, signed by a parent, or by itself.
func certificate(t *testing.T, dir, name string, until time.Time, parent *tls.Certificate) (tls.Certificate, string, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: parent == nil,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signer, signerKey := template, any(key)
	if parent != nil {
		if signer, err = x509.ParseCertificate(parent.Certificate[0]); err != nil {
			t.Fatal(err)
		}
		signerKey = parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signerKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	certPath, keyPath := filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	if err := errors.Join(os.WriteFile(certPath, cert, 0o600), os.WriteFile(keyPath, private, 0o600)); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	return pair, certPath, keyPath
}

func TestCertificates(t *testing.T) {
	dir, later := t.TempDir(), time.Now().Add(24*time.Hour)
	ca, caPath, _ := certificate(t, dir, "ca", later, nil)
	good, goodPath, goodKey := certificate(t, dir, "good", later, &ca)
	expired, expiredPath, expiredKey := certificate(t, dir, "expired", time.Now().Add(-time.Hour), &ca)
	roots := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(ca.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(parsed)
	serve := func(cert tls.Certificate, verify bool) string {
		return start(t, func(o *server.Options) {
			o.TLSConfig, o.TLSTimeout = &tls.Config{Certificates: []tls.Certificate{cert}}, 10
			if verify {
				o.TLSConfig.ClientAuth, o.TLSConfig.ClientCAs = tls.RequireAndVerifyClientCert, roots
				o.TLSVerify = true
			}
		})
	}
	plain, private := serve(good, false), serve(good, true)
	for name, tt := range map[string]struct {
		o    jetstream.Options
		want string // "": it is accepted
	}{
		"of an unknown authority": {jetstream.Options{URLs: []string{plain}}, "certificate"},
		"of a known authority":    {jetstream.Options{URLs: []string{plain}, CA: caPath}, ""},
		"expired, of the server":  {jetstream.Options{URLs: []string{serve(expired, false)}, CA: caPath}, "expired"},
		"expired, of the client":  {jetstream.Options{URLs: []string{private}, CA: caPath, Cert: expiredPath, Key: expiredKey}, ""},
		"of the client":           {jetstream.Options{URLs: []string{private}, CA: caPath, Cert: goodPath, Key: goodKey}, ""},
		"none of the client":      {jetstream.Options{URLs: []string{private}, CA: caPath}, ""},
	} {
		_, err := jetstream.Open(t.Context(), tt.o)
		switch {
		case name == "expired, of the client" || name == "none of the client":
			// TLS 1.3 reports it only after the handshake, as an alert or a closed connection.
			if err == nil || errors.Is(err, hub.ErrMissing) {
				t.Errorf("%s: %v", name, err)
			}
		case tt.want != "":
			refused(t, err, tt.want)
		case !errors.Is(err, hub.ErrMissing):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMissingPermission denies one subject after the other. The server does not answer a request without permission.
func TestMissingPermission(t *testing.T) {
	for name, tt := range map[string]struct {
		deny string
		do   func(context.Context, hub.Engine) error
	}{
		"publish": {"agent-chatter.>", func(ctx context.Context, e hub.Engine) error {
			_, err := e.Publish(ctx, someSession, 1, hub.Message{Head: []byte("{}")})
			return err
		}},
		"read": {"$JS.API.CONSUMER.CREATE.>", func(ctx context.Context, e hub.Engine) error {
			for _, err := range e.Read(ctx, someSession, 0) {
				return err
			}
			return nil
		}},
		"last": {"$JS.API.STREAM.MSG.GET.>", func(ctx context.Context, e hub.Engine) error {
			_, err := e.Last(ctx, someSession)
			return err
		}},
		"watch": {"$JS.API.CONSUMER.CREATE.>", func(ctx context.Context, e hub.Engine) error {
			return e.Watch(ctx, someSession.Team, func(hub.Stored) {})
		}},
		"pull": {"$JS.API.CONSUMER.MSG.NEXT.>", func(ctx context.Context, e hub.Engine) error {
			for _, err := range e.Read(ctx, someSession, 0) {
				return err
			}
			return nil
		}},
		"purge": {"$JS.API.STREAM.PURGE.>", func(ctx context.Context, e hub.Engine) error {
			return e.Purge(ctx, someSession, 1)
		}},
		"purge of a hub": {"$JS.API.STREAM.PURGE.>", func(ctx context.Context, e hub.Engine) error {
			h := hub.New(e, hub.Options{})
			err := h.Purge(ctx, someSession)
			if row, rowErr := h.Row(ctx, someSession); row.Purged {
				t.Errorf("the session has a tombstone: %v", rowErr)
			}
			return err
		}},
		"open": {"$JS.API.STREAM.NAMES", nil},
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t, func(o *server.Options) {
				all := &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{tt.deny}}}
				o.Users = []*server.User{{Username: "admin", Password: "a"}, {Username: "ann", Password: "b", Permissions: all}}
			})
			admin := jetstream.Options{URLs: []string{strings.Replace(url, "nats://", "nats://admin:a@", 1)}}
			e := open(t, admin, 1)(t)
			if _, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			ann := jetstream.Options{URLs: []string{strings.Replace(url, "nats://", "nats://ann:b@", 1)}, Timeout: time.Minute}
			e2, err := jetstream.Open(t.Context(), ann)
			if tt.do == nil {
				refused(t, err, "permission")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e2.Close()
			refused(t, tt.do(t.Context(), e2), `permission is missing: publish to "`)
		})
	}
}

// TestLargeMessages reads a message that is larger than what is requested at once by default.
func TestLargeMessages(t *testing.T) {
	url := start(t, func(o *server.Options) { o.MaxPayload = 32 << 20 })
	e := open(t, jetstream.Options{URLs: []string{url}, Timeout: 20 * time.Second}, 1)(t)
	if n := e.MaxBody(); n > 4<<20 || n < 1<<20 {
		t.Errorf("the largest body has %d bytes", n)
	}
	revision, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}"), Body: make([]byte, 10<<20)})
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range e.Read(t.Context(), someSession, 0) {
		if err != nil || m.Revision != revision || len(m.Body) != 10<<20 {
			t.Errorf("message %d with %d bytes: %v", m.Revision, len(m.Body), err)
		}
	}
}

func TestJetStreamOff(t *testing.T) {
	url := start(t, func(o *server.Options) { o.JetStream = false })
	_, err := jetstream.Open(t.Context(), jetstream.Options{URLs: []string{url}})
	refused(t, err, "JetStream is off")
	_, _, err = jetstream.Init(t.Context(), jetstream.Options{URLs: []string{url}}, 1)
	refused(t, err, "JetStream is off")
}

// TestOldServer plays a server that knows no JetStream.
func TestOldServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				fmt.Fprint(conn, `INFO {"server_id":"old","version":"2.1.9","proto":1,"max_payload":1048576}`+"\r\n")
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "PING") {
						fmt.Fprint(conn, "PONG\r\n")
					}
				}
			}()
		}
	}()
	_, err = jetstream.Open(t.Context(), jetstream.Options{URLs: []string{"nats://" + l.Addr().String()}})
	refused(t, err, "2.1.9")
}

// admin returns a connection to the API of JetStream.
func admin(t *testing.T, url string) natsjs.JetStream {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestForeignAndNewerStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		config natsjs.StreamConfig
		check  func(error)
	}{
		"foreign": {natsjs.StreamConfig{Name: "ALL", Subjects: []string{"agent-chatter.>"}}, func(err error) {
			refused(t, err, "is not one")
		}},
		"direct": {natsjs.StreamConfig{
			Name: "AGENT_CHATTER_X", Subjects: []string{"agent-chatter.*.*"}, AllowDirect: true,
			Metadata: map[string]string{"agent-chatter-format": "1"},
		}, func(err error) {
			refused(t, err, "allow_direct")
		}},
		"newer": {natsjs.StreamConfig{
			Name: "AGENT_CHATTER_X", Subjects: []string{"agent-chatter.*.*"},
			Metadata: map[string]string{"agent-chatter-format": "2"},
		}, func(err error) {
			if !errors.Is(err, hub.ErrNewer) {
				t.Errorf("a newer stream: %v", err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t, nil)
			if _, err := admin(t, url).CreateStream(t.Context(), tt.config); err != nil {
				t.Fatal(err)
			}
			_, err := jetstream.Open(t.Context(), jetstream.Options{URLs: []string{url}})
			tt.check(err)
			_, _, err = jetstream.Init(t.Context(), jetstream.Options{URLs: []string{url}}, 1)
			tt.check(err)
		})
	}
}

func TestWarningsOfAChangedStream(t *testing.T) {
	o := jetstream.Options{URLs: []string{start(t, nil)}}
	if got := open(t, o, 1)(t).Warnings(); len(got) > 0 {
		t.Errorf("warnings of a new hub: %q", got)
	}
	js := admin(t, o.URLs[0])
	stream, err := js.Stream(t.Context(), open(t, o, 1)(t).Name())
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxAge, config.MaxBytes, config.MaxMsgs, config.MaxMsgsPerSubject = time.Hour, 1<<30, 1000, 100
	if _, err := js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(open(t, o, 1)(t).Warnings(), "\n")
	for _, setting := range []string{"max_age", "1h0m0s", "max_bytes", "max_msgs", "max_msgs_per_subject"} {
		if !strings.Contains(got, setting) {
			t.Errorf("%s is missing in %q", setting, got)
		}
	}
	if strings.Contains(got, "deny_delete") {
		t.Error(got)
	}
}

func TestStreamThatWasCreatedAgain(t *testing.T) {
	url := start(t, nil)
	o := jetstream.Options{URLs: []string{url}}
	e := open(t, o, 1)(t)
	first := e.Name()
	revision, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin(t, url).DeleteStream(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Publish(t.Context(), someSession, revision, hub.Message{Head: []byte("{}")}); err == nil {
		t.Error("a message was stored in a stream that does not exist")
	}
	before := e.Connections()
	other, created, err := jetstream.Init(t.Context(), o, 1)
	if err != nil || !created {
		t.Fatalf("created: %v, %v", created, err)
	}
	defer other.Close()
	if _, err := e.Publish(t.Context(), someSession, revision, hub.Message{Head: []byte("{}")}); err == nil {
		t.Error("a message for the stream that was deleted was stored in the new one")
	}
	if e.Name() == first || e.Connections() == before {
		t.Errorf("the engine does not notice the new stream: %s, %d connections", e.Name(), e.Connections())
	}
	if _, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")}); err != nil {
		t.Errorf("in the new stream: %v", err)
	}
}

func TestWatchFindsAStreamThatWasCreatedAgain(t *testing.T) {
	url := start(t, nil)
	e := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
	js := admin(t, url)
	publish := func(e hub.Engine) {
		if _, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")}); err != nil {
			t.Error(err)
		}
	}
	publish(e)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changes := 0
	err := e.Watch(ctx, "", func(hub.Stored) {
		if changes++; changes == 2 {
			stop()
			return
		}
		if err := js.DeleteStream(t.Context(), e.Name()); err != nil {
			t.Error(err)
		}
		publish(open(t, jetstream.Options{URLs: []string{url}}, 1)(t))
	})
	if changes != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d changes: %v", changes, err)
	}
}

// TestListEndsWhileMessagesAreStored stores a message of another session for each one that is listed.
func TestListEndsWhileMessagesAreStored(t *testing.T) {
	e := open(t, jetstream.Options{URLs: []string{start(t, nil)}}, 1)(t)
	publish := func(i int) {
		s := hub.Session{Team: "team", ID: fmt.Sprintf("01JD%022d", i)}
		if _, err := e.Publish(t.Context(), s, 0, hub.Message{Head: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	const before, most = 3, 100
	for i := range before {
		publish(i)
	}
	listed := 0
	for _, err := range e.List(t.Context(), "") {
		if listed++; err != nil || listed == most {
			break
		}
		publish(before + listed)
	}
	if listed < before || listed == most {
		t.Errorf("listed %d sessions", listed)
	}
}

func TestServerThatIsStoppedAndStarted(t *testing.T) {
	dir := t.TempDir()
	url, stop, err := natstest.Start(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, jetstream.Options{URLs: []string{url}, Timeout: time.Second}, 1)(t)
	revision, err := e.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	_, err = e.Publish(t.Context(), someSession, revision, hub.Message{Head: []byte("{}")})
	unavailable(t, err)
	_, err = e.Last(t.Context(), someSession)
	unavailable(t, err)
	for _, err := range e.Read(t.Context(), someSession, 0) {
		unavailable(t, err)
	}
	before := e.Connections()
	port := 0
	if _, err := fmt.Sscanf(url[strings.LastIndexByte(url, ':')+1:], "%d", &port); err != nil {
		t.Fatal(err)
	}
	_, stop, err = natstest.Start(dir, func(o *server.Options) { o.Port = port })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for e.Connections() == before { // it connects again in the background
		if _, err := e.Last(t.Context(), someSession); err != nil {
			unavailable(t, err)
		}
	}
	if last, err := e.Last(t.Context(), someSession); err != nil || last.Revision != revision {
		t.Errorf("after the restart: revision %d, %v", last.Revision, err)
	}
}

func TestFullServer(t *testing.T) {
	url := start(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	e := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
	body := make([]byte, 100<<10)
	var last hub.Revision
	var err error
	for range 20 {
		var revision hub.Revision
		if revision, err = e.Publish(t.Context(), someSession, last, hub.Message{Head: []byte("{}"), Body: body}); err != nil {
			break
		}
		last = revision
	}
	if last == 0 {
		t.Error("nothing was stored")
	}
	refused(t, err, "resource")
	if stored, err := e.Last(t.Context(), someSession); err != nil || stored.Revision != last {
		t.Errorf("the last message is %d, want %d: %v", stored.Revision, last, err)
	}
}

// TestStalledServer stops forwarding after the connection was made.
func TestStalledServer(t *testing.T) {
	url := start(t, nil)
	direct := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
	if _, err := direct.Publish(t.Context(), someSession, 0, hub.Message{Head: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	proxy, err := natstest.NewProxy(strings.TrimPrefix(url, "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	o := jetstream.Options{URLs: []string{"nats://" + proxy.Address()}, Timeout: 200 * time.Millisecond}
	e, err := jetstream.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	reading := 0
	for m, err := range e.Read(t.Context(), someSession, 0) {
		if reading++; err != nil || m.Revision != 1 {
			t.Fatal(m, err)
		}
	}
	for range 5 {
		last, err := direct.Last(t.Context(), someSession)
		if err == nil {
			_, err = direct.Publish(t.Context(), someSession, last.Revision, hub.Message{Head: []byte("{}")})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reading = 0
	for _, err := range e.Read(t.Context(), someSession, 0) {
		if reading++; reading == 1 {
			proxy.Stall(true) // what has arrived is still read
		}
		if err != nil {
			unavailable(t, err)
		}
	}
	_, err = e.Publish(t.Context(), someSession, 1, hub.Message{Head: []byte("{}")})
	unavailable(t, err)
	_, err = e.Last(t.Context(), someSession)
	unavailable(t, err)
	for _, err := range e.List(t.Context(), "") {
		unavailable(t, err)
	}
	_, err = jetstream.Open(t.Context(), o)
	unavailable(t, err)
	proxy.Stall(false)
}

func TestMessagesOfOthersAreHarmless(t *testing.T) {
	url := start(t, nil)
	e := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
	js := admin(t, url)
	subject := "agent-chatter." + someSession.Team + "." + someSession.ID
	for _, m := range []*nats.Msg{
		{Subject: subject, Data: make([]byte, 1<<20-100)},
		{Subject: subject, Header: nats.Header{"X": {strings.Repeat("x", 60<<10)}}},
		{Subject: subject, Header: nats.Header{"Agent-Chatter": {`{"v":1,"kind":"lines"}`, "second"}}, Data: []byte("hello\n")},
		{Subject: "agent-chatter.a.b"},
	} {
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	h := hub.New(e, hub.Options{Home: "/home/ann", Host: "ann"})
	c, err := h.Compare(t.Context(), someSession, nil, hub.Mark{})
	if err != nil || c.Hub.Seq != 0 || c.Damage != nil {
		t.Errorf("compared %+v: %v", c, err)
	}
	rows := 0
	if err := h.Rows(t.Context(), "", func(r hub.Row) { rows++ }); err != nil || rows != 1 { // that of a.b is not valid
		t.Errorf("%d rows: %v", rows, err)
	}
}
