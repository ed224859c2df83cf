; Shared with C++, whose own file comes after it.
; --- definitions ---
(function_definition
  declarator: (function_declarator declarator: (identifier) @name parameters: (_) @params) body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (_) @params))
  body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator
    (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (_) @params)))
  body: (_) @body) @def.function
; `TEST(name) { … }`: what the macro makes of it is a function.
(function_definition
  type: (type_identifier) @name declarator: (parenthesized_declarator (identifier)) @params body: (_) @body) @def.function
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(enumerator name: (identifier) @name) @def.constant
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (pointer_declarator (type_identifier) @name)) @def.type
(type_definition declarator: (function_declarator (parenthesized_declarator (pointer_declarator (type_identifier) @name)))) @def.type
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.enum
(field_declaration declarator: (field_identifier) @name) @def.field
(field_declaration declarator: (pointer_declarator (field_identifier) @name)) @def.field
(field_declaration declarator: (array_declarator (field_identifier) @name)) @def.field
(field_declaration
  declarator: (function_declarator (parenthesized_declarator (pointer_declarator (field_identifier) @name)))) @def.field
(preproc_def name: (identifier) @name value: (_)) @def.constant
(preproc_function_def name: (identifier) @name parameters: (_) @params value: (_)? @body) @def.macro
(declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (init_declarator declarator: (pointer_declarator (identifier) @name))) @def.variable
(declaration declarator: (init_declarator declarator: (array_declarator (identifier) @name))) @def.variable
(declaration
  declarator: (function_declarator declarator: (identifier) @name parameters: (_) @params)) @def.function
(declaration
  declarator: (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (_) @params))) @def.function

; --- documentation ---
(comment) @comment

; --- references ---
(call_expression function: (identifier) @name arguments: (_) @args) @ref.call
(call_expression function: (field_expression argument: (_) @receiver field: (_) @name) arguments: (_) @args) @ref.call
(argument_list (comment) @args.extra) @args
(type_identifier) @ref.type

; --- imports ---
(preproc_include path: (string_literal) @module) @import @relative @star
(preproc_include path: (system_lib_string) @module) @import @star

; --- bindings ---
(parameter_declaration type: (_) @type declarator: (identifier) @name) @bind.param
(parameter_declaration type: (_) @type declarator: (pointer_declarator (identifier) @name)) @bind.param
(field_declaration type: (_) @type declarator: (field_identifier) @name) @bind.attr
(field_declaration type: (_) @type declarator: (pointer_declarator (field_identifier) @name)) @bind.attr
(declaration type: (_) @type declarator: (identifier) @name) @bind.var
(declaration type: (_) @type declarator: (pointer_declarator (identifier) @name)) @bind.var
(declaration type: (_) @type declarator: (init_declarator declarator: (identifier) @name)) @bind.var
(declaration type: (_) @type declarator: (init_declarator declarator: (pointer_declarator (identifier) @name))) @bind.var
(function_definition type: (_) @type) @bind.return
