// Package storetest has the tests that every [store.Store] passes.
//
//	func TestMyStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store { return NewMyStore(t.TempDir()) })
//	}
//
// Each subtest checks what a doc comment of package store promises. Failures that only one
// implementation can have, such as a full disk, are tested in that implementation's package.
package storetest
