; --- definitions ---
(namespace name: (long_identifier) @name) @def.namespace
(named_module name: (long_identifier) @name @def.namespace) @outer
(module_defn (identifier) @name) @def.namespace
(function_or_value_defn
  (function_declaration_left [(identifier) (op_identifier)] @name (argument_patterns) @params) body: (_) @body) @def.function
(function_or_value_defn
  (value_declaration_left (identifier_pattern . (long_identifier_or_op . (identifier) @name .) .))) @def.variable
(declaration_expression
  (attributes (attribute (simple_type) @_literal))
  (function_or_value_defn
    (value_declaration_left (identifier_pattern . (long_identifier_or_op . (identifier) @name .) .)))
  (#eq? @_literal "Literal")) @def.constant
(type_definition (record_type_defn (type_name type_name: (_) @name))) @def.struct
(type_definition (union_type_defn (type_name type_name: (_) @name))) @def.enum
; `type Id = string` looks like a union of one bare case.
(type_definition
  (union_type_defn
    (type_name type_name: (_) @name) block: (union_type_cases . (union_type_case . (identifier) .) .))) @def.type
(type_definition (enum_type_defn (type_name type_name: (_) @name))) @def.enum
(type_definition (type_abbrev_defn (type_name type_name: (_) @name))) @def.type
(type_definition (delegate_type_defn (type_name type_name: (_) @name))) @def.type
(type_definition (anon_type_defn (type_name type_name: (_) @name)) @def.class) @outer
; A type of abstract members only is an interface.
(type_definition
  (anon_type_defn
    . (type_name type_name: (_) @name) . (line_comment)* . (type_extension_elements (member_defn (member_signature))))) @def.interface
(type_definition (interface_type_defn (type_name type_name: (_) @name))) @def.interface
(type_definition (type_extension (type_name type_name: (_) @name))) @within
(exception_definition exception_name: (_) @name) @def.class
(union_type_case . (identifier) @name (union_type_fields)) @def.constructor
(union_type_cases (union_type_case . (identifier) @name .) @def.constructor (union_type_case))
(union_type_cases (union_type_case) (union_type_case . (identifier) @name .) @def.constructor)
(record_field . (identifier) @name) @def.field
(enum_type_case . (identifier) @name) @def.constant
(member_defn (method_or_prop_defn name: (property_or_ident method: (_) @name) args: (_)) @def.method) @outer
(member_defn (method_or_prop_defn name: (property_or_ident . (identifier) @name .) args: (_)) @def.method) @outer
(member_defn (method_or_prop_defn name: (property_or_ident method: (_) @name) !args) @def.property) @outer
(member_defn (member_signature (identifier) @name)) @def.method
(additional_constr_defn "new" @name (_)) @def.constructor
(fun_expression) @scope

; --- documentation ---
(line_comment) @comment
(block_comment) @comment

; --- references ---
(application_expression . (long_identifier_or_op . (identifier) @name .)) @ref.call
(application_expression . (long_identifier_or_op . (long_identifier) @ref.call .))
(application_expression . (typed_expression . (long_identifier_or_op) @ref.call))
(application_expression . (dot_expression base: (_) @receiver field: (long_identifier_or_op (_) @name))) @ref.call
(infix_expression (infix_op) @_pipe . (long_identifier_or_op) @ref.call (#any-of? @_pipe "|>" ">>" "<|" "||>"))
(infix_expression . (long_identifier_or_op) @ref.call . (infix_op) @_pipe (#any-of? @_pipe "<|" ">>" "<<"))
(simple_type) @ref.type
(class_inherits_decl (simple_type) @ref.inherit)
(interface_implementation (simple_type) @ref.inherit)
(attribute (simple_type) @ref.decorate)
(argument_patterns) @local

; --- imports ---
(import_decl (long_identifier) @module) @import @star
((fsi_directive_decl (string) @module) @import @relative (#match? @import "^#load"))

; --- bindings ---
(typed_pattern (identifier_pattern (long_identifier_or_op . (identifier) @name .)) (simple_type) @type) @bind.param
(record_field . (identifier) @name (simple_type) @type) @bind.attr
