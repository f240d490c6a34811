// Package sealed encrypts bundles for recipients, and decrypts the files that are imported, in the format of age
// (https://age-encryption.org/v1).
package sealed
