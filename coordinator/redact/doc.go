// Package redact replaces secrets in text.
//
// A secret is one of three things, none of which is likely to be anything else:
//
//   - the value of an environment variable whose name is one of a secret ([Secret]), anywhere in the
//     text, as it is or as JSON, URLs and base64 encode it. Ordinary words, such as postgres, are one
//     only where they are assigned to such a name;
//   - a token in the format of a provider: a distinctive prefix, then a number of characters
//     of an alphabet, with no character of a name before and after it;
//   - a PEM private key, from BEGIN to END, or to where it was cut off.
//
// Control sequences within a secret, such as colours, do not hide it.
//
// Text that merely looks random is kept: a hash, a UUID, an encoded picture. Code that is about
// keys is unchanged.
//
// # Format
//
// A secret becomes [REDACTED:kind], a mark. The kind is the name of the variable, or that of the
// format. A mark contains no secret.
//
// # Streams
//
// A [Stream] takes a text in pieces, which may be cut within a secret, and returns in total
// what [Redactor.Text] returns for the complete text. It holds back what may become a secret, which
// is less than a word of most texts. Every decision depends only on the text that follows and on a
// few preceding bytes, so that the two cannot differ.
package redact
