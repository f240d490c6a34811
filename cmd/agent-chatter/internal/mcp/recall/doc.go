// Package recall serves saved sessions to models, as tools, resources and a prompt of the Model Context Protocol.
//
// A Recall reads the sessions of one team or of all. It writes nothing but the index, which is a cache, and asks a hub
// only how many sessions are not here. What it returns of a session has no secrets, is quoted (see Quotations) and
// is cited as ID#seq: the id of the session and the number of the event.
//
// # Bounds
//
// A result has at most maxResult bytes of quotations, and a cursor for the rest. A cursor is a position: it holds
// nothing that the client could not ask for. A call ends after MaxTime, and few calls run at once, however many clients
// there are. A call that is cancelled stops reading.
//
// # Quotations
//
// Each line of a quotation begins with quotePrefix, and nothing else that the program writes does, so that a language
// model can tell what was said from what the program says. A quotation has no end mark that its text could contain:
// whatever the text is, none of it is on a line without the prefix. Characters that are not visible, or that could end
// a line or change the order of what is shown, are replaced.
package recall
