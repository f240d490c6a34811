package hint

var Quote = quote
