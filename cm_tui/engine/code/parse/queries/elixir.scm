; --- definitions ---
(call
  target: (identifier) @_def
  (arguments . (alias) @name)
  (do_block) @body
  (#any-of? @_def "defmodule")) @def.class
(call
  target: (identifier) @_def
  (arguments . (alias) @name)
  (do_block) @body
  (#eq? @_def "defprotocol")) @def.interface
(call
  target: (identifier) @_def
  (arguments . (alias) (keywords (pair key: (keyword) @_for value: (alias) @name)))
  (#eq? @_def "defimpl") (#match? @_for "^for:")) @within
(call
  target: (identifier) @_def
  (arguments . (call target: (identifier) @name (arguments)? @params))
  (do_block)? @body
  (#any-of? @_def "def" "defp" "defdelegate" "defguard" "defguardp")) @def.function
(call
  target: (identifier) @_def
  (arguments . (identifier) @name)
  (do_block)? @body
  (#any-of? @_def "def" "defp" "defdelegate")) @def.function
(call
  target: (identifier) @_def
  (arguments . (binary_operator left: (call target: (identifier) @name (arguments)? @params) operator: "when"))
  (do_block)? @body
  (#any-of? @_def "def" "defp" "defguard" "defguardp")) @def.function
(call
  target: (identifier) @_def
  (arguments . [
    (call target: (identifier) @name (arguments)? @params)
    (binary_operator left: (call target: (identifier) @name (arguments)? @params) operator: "when")
    (identifier) @name
  ])
  (do_block)? @body
  (#any-of? @_def "defmacro" "defmacrop")) @def.macro
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_type
    (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_type "type" "typep" "opaque")) @def.type
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_callback
    (arguments . (binary_operator left: (call target: (identifier) @name (arguments)? @params) operator: "::")))
  (#any-of? @_callback "callback" "macrocallback")) @def.method
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @name
    (arguments)
    (#not-match? @name "^(?:moduledoc|doc|typedoc|spec|type|typep|opaque|callback|macrocallback|optional_callbacks|impl|behaviour|derive|enforce_keys|deprecated|since|tag|moduletag|describetag|dialyzer|compile|before_compile|after_compile|on_load|on_definition|external_resource|inline)$"))) @def.constant
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_spec) @quiet
  (#any-of? @_spec "spec" "type" "typep" "opaque" "callback" "macrocallback" "doc" "typedoc"))
(anonymous_function) @scope

; --- documentation ---
(comment) @comment
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_doc (arguments . [(string (quoted_content) @doc.inside) (sigil (quoted_content) @doc.inside)]))
  (#eq? @_doc "moduledoc"))
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_doc (arguments . [(string (quoted_content) @doc.before) (sigil (quoted_content) @doc.before)]))
  (#any-of? @_doc "doc" "typedoc"))
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute)
  (#any-of? @_attribute "spec" "impl" "doc" "deprecated" "since" "typedoc")) @attribute

; --- references ---
(call
  target: (identifier) @name
  (arguments)? @args
  (#not-match? @name "^(?:def|defp|defmacro|defmacrop|defmodule|defprotocol|defimpl|defdelegate|defguard|defguardp|defstruct|defexception|alias|import|require|use|if|unless|case|cond|with|for|quote|unquote|raise|throw|try|receive|fn|moduledoc|doc|typedoc|spec|type|typep|opaque|callback|impl|behaviour|is_nil|is_list|is_binary|is_atom|is_map|is_integer|is_function|super)$")) @ref.call
(call target: (dot left: (_) @receiver right: (identifier) @name) (arguments) @args) @ref.call
; `x |> f(y)` gives f one argument more than it shows.
(binary_operator operator: "|>" right: (call target: (_) (arguments) @args.piped))
(binary_operator operator: "|>" right: (identifier) @ref.call)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @ref.call operator: "/"))
(unary_operator
  operator: "&"
  operand: (binary_operator
    left: (call target: (dot left: (_) @receiver right: (identifier) @name)) operator: "/")) @ref.call
(alias) @ref.type
(call
  target: (identifier) @_use
  (arguments . (alias) @ref.inherit)
  (#eq? @_use "use"))
(unary_operator
  operator: "@"
  operand: (call target: (identifier) @_behaviour (arguments . (alias) @ref.inherit))
  (#any-of? @_behaviour "behaviour" "derive"))
(call target: (identifier) @_def (arguments . (alias) @ref.inherit) (#eq? @_def "defimpl"))

(call
  target: (identifier) @_def
  (arguments . [(call (arguments) @local) (binary_operator left: (call (arguments) @local) operator: "when")])
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop"))
(stab_clause left: (_) @local)
(binary_operator left: (_) @local operator: ["=" "<-"])

; --- imports ---
(call target: (identifier) @_import (arguments . (alias) @module .) (#any-of? @_import "alias" "require" "use")) @import.path
(call
  target: (identifier) @_import
  (arguments . (alias) @module (keywords (pair key: (keyword) @_as value: (alias) @alias)))
  (#any-of? @_import "alias" "require") (#match? @_as "^as:")) @import.path
(call
  target: (identifier) @_import
  (arguments . (dot left: (alias) @module right: (tuple (alias) @name)))
  (#eq? @_import "alias")) @import
(call target: (identifier) @_import (arguments . (alias) @module @star) (#eq? @_import "import")) @import

; --- bindings ---
(binary_operator
  left: (map (struct (alias) @type)) operator: "=" right: (identifier) @name) @bind.param
(binary_operator left: (identifier) @name operator: "=" right: (map (struct (alias) @type))) @bind.var
