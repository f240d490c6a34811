package team

type ElsewhereError = elsewhereError
