// Package redact replaces secrets in text.
//
// A secret is one of three things, each of which can hardly be anything else:
//
//   - a value that the environment gives under a name with KEY, TOKEN, SECRET or PASSWORD in
//     it, wherever it stands, as it is or as JSON, URLs and base64 write it;
//   - a key whose provider gave it a shape: a prefix of its own, then so many letters and
//     digits, with nothing that could be a part of a name on either side;
//   - a private key in its armour, from BEGIN to END, or to where it was cut off.
//
// Whatever looks merely random stays: a hash, a UUID or an encoded picture is none of these,
// and code is never changed because it talks about keys.
//
// # Format
//
// A secret becomes [REDACTED:kind]. The kind is the name of the variable, or that of the
// shape. A mark is no secret itself.
//
// # Streams
//
// A [Stream] takes a text in pieces, which may cut a secret anywhere, and gives together what
// [Redactor.Text] makes of the whole: it holds back what may become a secret, which is less
// than a word of most texts. A decision depends on a few bytes before and on what comes
// behind it alone, so that pieces and the whole cannot differ.
package redact
