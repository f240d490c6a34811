// Package storetest is the suite that every store.Store passes.
//
// A store is tested by a function that opens an empty one:
//
//	func TestMyStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store { return NewMyStore(t.TempDir()) })
//	}
//
// Each subtest is named after what the comments of store.Store promise.
// What only one kind of store can do, such as losing its disk, is tested beside
// that store.
package storetest
