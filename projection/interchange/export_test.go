package interchange

type LineError = lineError
