package replica

// RowOf returns the row of a session.
var RowOf = rowOf
