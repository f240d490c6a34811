// Package schema completes the schemas of tools, and explains the errors of calls whose arguments do not fit them.
package schema
