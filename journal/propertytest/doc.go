// Package propertytest checks properties. It is no part of package sizetest: the initialisation of rapid takes longer
// than that of all other packages of a test binary that is also the program or an agent, and is started often.
package propertytest
