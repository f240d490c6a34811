// Package identities keeps the age identities of the home: the secret keys that open what was sealed for their
// recipients, on the hub and in encrypted bundles.
//
// An identity is a file of the directory identities, in the format of age-keygen (https://age-encryption.org/v1):
// lines with a secret key, empty lines, and comments that start with #.
package identities
