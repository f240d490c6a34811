package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

// Fingerprint returns a hash with a secret key of what the redactor replaces, in hex; "" for the nil *Redactor. Equal
// ones replace the same.
func (r *Redactor) Fingerprint(key []byte) string {
	if r == nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	for _, f := range formats {
		fmt.Fprintf(mac, "%q ", f.prefix)
	}
	for _, v := range r.values {
		fmt.Fprintf(mac, "%q ", v.text)
	}
	return fmt.Sprintf("%x", mac.Sum(nil)[:8])
}
