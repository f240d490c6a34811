package view

import "strings"

// A language says how its tokens look. Lists are separated by blanks.
type language struct {
	names    string // in info strings, in lower case
	comment  string // the beginnings of comments that end with the line
	block    string // pairs of the beginning and the end of comments
	strings  string // quotes of strings that end with the line
	raw      string // quotes of strings that may have several lines
	variable string // the characters that begin a variable
	keywords string
	flags    flags
}

type flags int

const (
	anyCase   flags = 1 << iota // keywords in any case
	keys                        // what precedes ":" or "=" is a key
	sigils                      // a comment begins at the start of a word only
	lifetimes                   // ' may also begin a name
	dashes                      // names contain "-"
	tags                        // "<" begins a tag
	changes                     // the first character of a line says what the line is
)

const (
	cTypes = "bool char double float int long short signed unsigned void "
	cWords = cTypes + "auto break case const continue default do else enum extern for goto if inline register " +
		"restrict return sizeof static struct switch typedef union volatile while NULL true false "
	jsWords = "async await break case catch class const continue debugger default delete do else export extends " +
		"false finally for from function if import in instanceof let new null of return static super switch " +
		"this throw true try typeof undefined var void while yield "
)

// languages are the 24 usual ones.
var languages = [...]language{
	{names: "go golang", comment: "//", block: "/* */", strings: `" '`, raw: "`",
		keywords: "break case chan const continue default defer else fallthrough for func go goto if import " +
			"interface map package range return select struct switch type var true false nil iota any bool byte " +
			"error float32 float64 int int32 int64 rune string uint uint64 uint8"},
	{names: "python py pyi python3", comment: "#", strings: `" '`, raw: `""" '''`, variable: "@",
		keywords: "and as assert async await break class continue def del elif else except finally for from " +
			"global if import in is lambda nonlocal not or pass raise return try while with yield match case " +
			"True False None self"},
	{names: "javascript js jsx mjs cjs node", comment: "//", block: "/* */", strings: `" '`, raw: "`",
		keywords: jsWords},
	{names: "typescript ts tsx mts cts", comment: "//", block: "/* */", strings: `" '`, raw: "`", variable: "@",
		keywords: jsWords + "abstract any as boolean declare enum implements interface is keyof never number " +
			"private protected public readonly string type unknown"},
	{names: "java", comment: "//", block: "/* */", strings: `" '`, raw: `"""`, variable: "@",
		keywords: "abstract assert boolean break byte case catch char class const continue default do double " +
			"else enum extends final finally float for if implements import instanceof int interface long " +
			"native new null package private protected public record return short static super switch " +
			"synchronized this throw throws transient true false try var void volatile while"},
	{names: "kotlin kt kts", comment: "//", block: "/* */", strings: `" '`, raw: `"""`, variable: "@",
		keywords: "abstract as break by class companion const continue data do else enum false final for fun if " +
			"import in interface internal is lateinit null object open override package private protected " +
			"public return sealed super suspend this throw true try typealias val var when while"},
	{names: "swift", comment: "//", block: "/* */", strings: `"`, raw: `"""`, variable: "@",
		keywords: "as async await break case catch class continue default defer do else enum extension false " +
			"final for func guard if import in init inout internal is let nil open override private protocol " +
			"public repeat return self static struct super switch throw throws true try var weak where while"},
	{names: "c h", comment: "//", block: "/* */", strings: `" '`, variable: "#", keywords: cWords},
	{names: "cpp c++ cc cxx hpp hh hxx", comment: "//", block: "/* */", strings: `" '`, variable: "#",
		keywords: cWords + "catch class concept constexpr decltype delete explicit final friend mutable " +
			"namespace new noexcept nullptr operator override private protected public requires template this " +
			"throw try typename using virtual"},
	{names: "csharp cs c#", comment: "//", block: "/* */", strings: `" '`, variable: "#",
		keywords: cWords + "abstract as async await base byte catch checked class decimal delegate event " +
			"explicit finally foreach get in interface internal is lock namespace new null object operator out " +
			"override params private protected public readonly record ref sealed set string this throw try " +
			"typeof using var virtual yield"},
	{names: "rust rs", comment: "//", block: "/* */", strings: `" '`, variable: "#", flags: lifetimes,
		keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let " +
			"loop match mod move mut pub ref return self Self static struct super trait true type unsafe use " +
			"where while bool char f32 f64 i32 i64 str u32 u64 u8 usize"},
	{names: "ruby rb", comment: "#", block: "=begin =end", strings: `" '`, variable: "@ $ :",
		keywords: "alias and begin break case class def defined? do else elsif end ensure false for if in " +
			"module next nil not or redo rescue retry return self super then true undef unless until when while " +
			"yield require attr_accessor"},
	{names: "php", comment: "// #", block: "/* */", raw: `" '`, variable: "$",
		keywords: "abstract and array as break case catch class const continue declare default do echo else " +
			"elseif extends false final finally fn for foreach function global if implements interface match " +
			"namespace new null or private protected public readonly require require_once return static switch " +
			"this throw trait true try use var while"},
	{names: "lua", comment: "--", block: "--[[ ]]", strings: `" '`,
		keywords: "and break do else elseif end false for function goto if in local nil not or repeat return " +
			"then true until while"},
	{names: "bash sh shell zsh console shell-session shellscript", comment: "#", strings: `" '`, variable: "$",
		flags: sigils | dashes,
		keywords: "if then else elif fi for while until do done case esac in function return local export " +
			"readonly set unset shift exit cd echo source alias sudo"},
	{names: "sql postgresql mysql sqlite", comment: "--", block: "/* */", strings: `" '`, flags: anyCase,
		keywords: "add all alter and as asc begin between by case check column commit constraint create default " +
			"delete desc distinct drop else end exists foreign from full group having if in index inner insert " +
			"into is join key left like limit not null offset on or order outer primary references returning " +
			"right rollback select set table then transaction union unique update using values view when where " +
			"with bigint boolean int integer numeric text timestamp varchar"},
	{names: "json jsonc json5 jsonl", comment: "//", strings: `"`, flags: keys, keywords: "true false null"},
	{names: "yaml yml", comment: "#", strings: `" '`, variable: "& *", flags: keys | sigils | dashes,
		keywords: "true false null yes no on off"},
	{names: "toml ini cfg conf properties env", comment: "# ;", strings: `" '`, raw: `""" '''`,
		flags:    keys | sigils | dashes,
		keywords: "true false"},
	{names: "html htm xml svg vue svelte xhtml", block: "<!-- -->", flags: tags},
	{names: "css scss less", block: "/* */", strings: `" '`, variable: "@ $ #", flags: keys | dashes,
		keywords: "and not only important inherit initial unset none auto"},
	{names: "dockerfile docker", comment: "#", strings: `" '`, variable: "$", flags: sigils,
		keywords: "FROM AS RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD " +
			"STOPSIGNAL HEALTHCHECK SHELL"},
	{names: "makefile make mk", comment: "#", strings: `" '`, variable: "$", flags: keys | sigils | dashes,
		keywords: "ifeq ifneq ifdef ifndef else endif include define endef export override"},
	{names: "diff patch", flags: changes},
}

// find returns the language with a name; nil if it is unknown.
func find(name string) *language {
	name = strings.ToLower(name)
	if name == "" || strings.ContainsRune(name, ' ') {
		return nil
	}
	for i := range languages {
		if contains(languages[i].names, name) {
			return &languages[i]
		}
	}
	return nil
}

// contains reports whether a list has a word.
func contains(list, word string) bool {
	for at := 0; ; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		if (begin == 0 || list[begin-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		at = end
	}
}
