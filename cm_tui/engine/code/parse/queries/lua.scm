; --- definitions ---
; What `require` gives is an import.
(chunk
  (variable_declaration
    (assignment_statement (variable_list . name: (identifier) @name) (expression_list . (_) @_value)))
    @def.variable
  (#not-match? @_value "^require\\b"))
(chunk
  (assignment_statement (variable_list . name: (identifier) @name) (expression_list . (_) @_value)) @def.variable
  (#not-match? @_value "^require\\b"))
(chunk
  (assignment_statement
    (variable_list . name: (dot_index_expression table: (identifier) @owner field: (identifier) @name (#not-match? @name "^__")))) @def.field)
(function_declaration name: (identifier) @name parameters: (_) @params body: (_)? @body) @def.function
(function_declaration
  name: (dot_index_expression table: (_) @owner field: (identifier) @name) parameters: (_) @params body: (_)? @body) @def.function
(function_declaration
  name: (method_index_expression table: (_) @owner method: (identifier) @name) parameters: (_) @params body: (_)? @body) @def.method
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition parameters: (_) @params body: (_)? @body))) @def.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @owner field: (identifier) @name))
  (expression_list . value: (function_definition parameters: (_) @params body: (_)? @body))) @def.function
(assignment_statement
  (variable_list . name: (bracket_index_expression table: (_) @owner field: (string (string_content) @name)))
  (expression_list . value: (function_definition parameters: (_) @params body: (_)? @body))) @def.function
(field name: (identifier) @name value: (function_definition parameters: (_) @params body: (_)? @body)) @def.function
; The table that the file gives back is its module.
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list . name: (identifier) @name) (expression_list . value: (table_constructor)))) @def.namespace
  (return_statement (expression_list . (identifier) @_returned))
  (#eq? @name @_returned))
; A table that methods are added to is what Lua has for a class.
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list . name: (identifier) @name) (expression_list . value: (table_constructor)))
    (#match? @name "^[A-Z][A-Za-z0-9]*[a-z]")) @def.class)
(chunk
  (assignment_statement
    (variable_list . name: (identifier) @name) (expression_list . value: (function_call name: (_) @_class)))
    @def.class
    (#match? @_class "([Cc]lass|:extend)$"))
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list . name: (identifier) @name) (expression_list . value: (function_call name: (_) @_class)))
    (#match? @_class "([Cc]lass|:extend)$")) @def.class)
(function_definition) @scope

; --- documentation ---
(comment) @comment

; --- references ---
(function_call
  name: (identifier) @name arguments: (_) @args
  (#not-match? @name "^(?:require|dofile|setmetatable|loadfile)$")) @ref.call
(function_call name: (dot_index_expression table: (_) @receiver field: (identifier) @name) arguments: (_) @args) @ref.call
(function_call name: (method_index_expression table: (_) @receiver method: (identifier) @name) arguments: (_) @args) @ref.call
; A function handed to `pcall` is called by it.
(function_call
  name: (identifier) @_pcall
  arguments: (arguments . (dot_index_expression table: (_) @receiver field: (identifier) @name))
  (#any-of? @_pcall "pcall" "xpcall")) @ref.call
(function_call
  name: (identifier) @_pcall arguments: (arguments . (identifier) @ref.call) (#any-of? @_pcall "pcall" "xpcall"))
(arguments (vararg_expression)) @args.open
(function_call
  name: (identifier) @_set
  arguments: (arguments
    . (identifier) . (table_constructor (field name: (identifier) @_index value: [(identifier) (dot_index_expression)] @ref.inherit)))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
(parameters) @local

; --- imports ---
(function_call
  name: (identifier) @_require arguments: (arguments . (string (string_content) @module))
  (#any-of? @_require "require" "dofile" "loadfile")) @import
(assignment_statement
  (variable_list . name: (identifier) @alias)
  (expression_list
    . value: (function_call name: (identifier) @_require arguments: (arguments . (string (string_content) @module))))
  (#eq? @_require "require")) @import
(assignment_statement
  (variable_list . name: (identifier) @alias)
  (expression_list
    . value: (dot_index_expression
      table: (function_call name: (identifier) @_require arguments: (arguments . (string (string_content) @module)))
      field: (identifier) @name))
  (#eq? @_require "require")) @import

; --- bindings ---
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list
    . value: (function_call name: (dot_index_expression table: (identifier) @type field: (identifier) @_new)))
  (#eq? @_new "new")) @bind.var
