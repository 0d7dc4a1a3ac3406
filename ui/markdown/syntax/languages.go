package syntax

import "strings"

// Marks that many languages share.
var (
	slashes    = []string{"//"}
	hashes     = []string{"#"}
	dashes     = []string{"--"}
	cComment   = quote{open: "/*", close: "*/", class: Comment, lines: true}
	double     = quote{open: `"`, close: `"`, class: String, escape: '\\'}
	single     = quote{open: `'`, close: `'`, class: String, escape: '\\'}
	character  = quote{open: `'`, close: `'`, class: String, escape: '\\', char: true}
	backtick   = quote{open: "`", close: "`", class: String, escape: '\\', lines: true}
	tripled    = quote{open: `"""`, close: `"""`, class: String, escape: '\\', lines: true}
	tripledOne = quote{open: `'''`, close: `'''`, class: String, escape: '\\', lines: true}
	rawDouble  = quote{open: `"`, close: `"`, class: String}
	rawSingle  = quote{open: `'`, close: `'`, class: String}
	cQuotes    = []quote{cComment, double, character}
	scripts    = []quote{tripled, tripledOne, double, single}
)

const (
	cKeywords = "break case continue default do else enum extern for goto if inline register return sizeof static struct switch typedef union volatile while const"
	cTypes    = "auto bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t FILE"
	jsWords   = "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super switch throw try typeof var void while with yield"
	jsBuiltin = "true false null undefined this NaN Infinity console window document globalThis"
	shWords   = "if then else elif fi for while until do done case esac in function select time return break continue local export readonly declare unset shift exit set trap source alias"
	shBuiltin = "echo printf cd pwd read test eval exec sudo ls cp mv rm mkdir cat grep sed awk find xargs curl tar git make docker pip npm python go"
	sqlWords  = "select from where insert into values update set delete create table index view drop alter add column primary key foreign references unique not null default and or in is like between exists join left right inner outer full cross on using group by order asc desc having limit offset union all distinct as case when then else end begin commit rollback transaction if with recursive returning constraint check cascade explain grant revoke trigger"
	sqlTypes  = "int integer bigint smallint serial text varchar char boolean bool real float double decimal numeric date time timestamp timestamptz blob json jsonb uuid"
)

var jsQuotes = []quote{cComment, backtick, double, single}

// languages are those that code in chats is mostly written in; chroma knows the
// others.
var languages = []Language{
	{
		names: "go golang", capitals: true, comments: slashes,
		quotes: []quote{cComment, {open: "`", close: "`", class: String, lines: true}, double, character},
		words: set(Keyword, "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			set(Type, "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr"),
			set(Builtin, "append cap clear close copy delete len make max min new panic print println recover true false nil iota")),
	},
	{
		names: "c h", comments: slashes, quotes: cQuotes, sigils: "#",
		words: set(Keyword, cKeywords, set(Type, cTypes), set(Builtin, "NULL true false printf malloc free")),
	},
	{
		names: "cpp c++ cc cxx hpp cuda cu hip", capitals: true, comments: slashes, quotes: cQuotes, sigils: "#",
		words: set(Keyword, cKeywords+" alignas alignof catch class concept consteval constexpr constinit co_await co_return co_yield decltype delete explicit export final friend import module mutable namespace new noexcept operator override private protected public requires static_assert template this throw try typeid typename using virtual __global__ __device__ __host__ __shared__",
			set(Type, cTypes+" wchar_t half"), set(Builtin, "nullptr NULL true false std")),
	},
	{
		names: "java", capitals: true, comments: slashes, quotes: []quote{cComment, tripled, double, character}, sigils: "@",
		words: set(Keyword, "abstract assert break case catch class continue default do else enum extends final finally for if implements import instanceof interface native new package private protected public record return static strictfp super switch synchronized this throw throws transient try var volatile while yield sealed permits",
			set(Type, "boolean byte char double float int long short void"), set(Builtin, "true false null")),
	},
	{
		names: "kotlin kt kts", capitals: true, comments: slashes, quotes: []quote{cComment, tripled, double, character}, sigils: "@",
		words: set(Keyword, "as break by catch class companion constructor continue data do else enum finally for fun get if import in init interface internal is lateinit object open operator override package private protected public return sealed set super suspend this throw try typealias val var vararg when where while",
			set(Builtin, "true false null it")),
	},
	{
		names: "csharp c# cs", capitals: true, comments: slashes, quotes: []quote{cComment, double, character}, sigils: "#",
		words: set(Keyword, "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock namespace new operator out override params partial private protected public readonly record ref return sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var virtual when where while yield",
			set(Type, "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void"), set(Builtin, "true false null")),
	},
	{
		names: "rust rs", capitals: true, comments: slashes, quotes: []quote{cComment, {open: `"`, close: `"`, class: String, escape: '\\', lines: true}, character}, sigils: "#",
		words: set(Keyword, "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while",
			set(Type, "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self"), set(Builtin, "true false self None Some Ok Err")),
	},
	{
		names: "swift", capitals: true, comments: slashes, quotes: []quote{cComment, tripled, double}, sigils: "@#",
		words: set(Keyword, "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate for func guard if import in init inout internal is let mutating open operator override private protocol public repeat rethrows return some static struct subscript super switch throw throws try typealias var where while",
			set(Builtin, "true false nil self Self")),
	},
	{
		names: "javascript js jsx mjs cjs node", capitals: true, comments: slashes, quotes: jsQuotes, letters: "$", sigils: "@",
		words: set(Keyword, jsWords, set(Builtin, jsBuiltin)),
	},
	{
		names: "typescript ts tsx", capitals: true, comments: slashes, quotes: jsQuotes, letters: "$", sigils: "@",
		words: set(Keyword, jsWords+" abstract as asserts declare enum implements infer interface is keyof namespace private protected public readonly satisfies type",
			set(Type, "any bigint boolean never number object string symbol unknown"), set(Builtin, jsBuiltin)),
	},
	{
		names: "python py python3 ipython pycon", capitals: true, comments: hashes, quotes: scripts, sigils: "@",
		words: set(Keyword, "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			set(Type, "bool bytes bytearray complex dict float frozenset int list object set str tuple type"),
			set(Builtin, "True False None self cls print len range enumerate zip map filter open sorted sum min max abs any all isinstance super input")),
	},
	{
		names: "ruby rb", capitals: true, comments: hashes, quotes: []quote{{open: "=begin", close: "=end", class: Comment, lines: true}, double, single}, letters: "?!", sigils: "@$",
		words: set(Keyword, "alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo rescue retry return super then undef unless until when while yield require require_relative attr_accessor attr_reader",
			set(Builtin, "true false nil self puts print p")),
	},
	{
		names: "php", capitals: true, comments: []string{"//", "#"}, quotes: []quote{cComment, double, single}, sigils: "$",
		words: set(Keyword, "abstract and as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include instanceof interface match namespace new or private protected public readonly require require_once return static switch throw trait try use var while yield",
			set(Builtin, "true false null TRUE FALSE NULL this")),
	},
	{
		names: "lua", comments: dashes, quotes: []quote{{open: "--[[", close: "]]", class: Comment, lines: true}, {open: "[[", close: "]]", class: String, lines: true}, double, single},
		words: set(Keyword, "and break do else elseif end for function goto if in local not or repeat return then until while", set(Builtin, "true false nil self print pairs ipairs require")),
	},
	{
		names: "bash sh shell zsh console shellsession fish", comments: hashes, hashAtWord: true, letters: "-", sigils: "$",
		quotes: []quote{{open: `"`, close: `"`, class: String, escape: '\\', lines: true}, {open: `'`, close: `'`, class: String, lines: true}},
		words:  set(Keyword, shWords, set(Builtin, shBuiltin)),
	},
	{
		names: "sql mysql postgres postgresql sqlite plsql", fold: true, comments: dashes, quotes: []quote{cComment, rawDouble, {open: `'`, close: `'`, class: String, lines: true}},
		words: set(Keyword, sqlWords, set(Type, sqlTypes), set(Builtin, "count sum avg min max coalesce now true false")),
	},
	{names: "json jsonc json5 jsonl", comments: slashes, quotes: []quote{cComment, double}, key: ':', words: set(Builtin, "true false null")},
	{names: "yaml yml", comments: hashes, hashAtWord: true, quotes: []quote{double, rawSingle}, letters: "-./", key: ':', words: set(Builtin, "true false null yes no on off")},
	{names: "toml ini cfg conf properties env dotenv", comments: []string{"#", ";"}, hashAtWord: true, quotes: scripts, letters: "-.", key: '=', words: set(Builtin, "true false"), line: section},
	{names: "css scss sass less", comments: slashes, quotes: []quote{cComment, double, single}, letters: "-", sigils: "@$#", key: ':', words: set(Builtin, "none auto inherit initial unset solid bold block flex grid absolute relative fixed")},
	{names: "html xml svg xhtml vue htm", quotes: []quote{{open: "<!--", close: "-->", class: Comment, lines: true}, double}, letters: "-", key: '=', sigils: "<"},
	{names: "makefile make mk", comments: hashes, quotes: []quote{double, single}, letters: "-.%/", sigils: "$", key: ':', words: set(Keyword, "ifeq ifneq ifdef ifndef else endif include define endef export override .PHONY")},
	{
		names: "dockerfile docker containerfile", comments: hashes, hashAtWord: true, quotes: []quote{double, single}, letters: "-./", sigils: "$",
		words: set(Keyword, "FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS"),
	},
	{names: "diff patch", line: diffLine},
	{names: "markdown md", quotes: []quote{{open: "`", close: "`", class: String}}, line: markdownLine},
}

// section colours the headings of configuration files.
func section(line string) (Class, bool) {
	return Heading, strings.HasPrefix(strings.TrimLeft(line, " \t"), "[")
}

func diffLine(line string) (Class, bool) {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Heading, true
	case strings.HasPrefix(line, "+"):
		return Inserted, true
	case strings.HasPrefix(line, "-"):
		return Deleted, true
	case strings.HasPrefix(line, "@@"):
		return Keyword, true
	}
	return Code, true
}

func markdownLine(line string) (Class, bool) {
	return Heading, strings.HasPrefix(line, "#")
}
