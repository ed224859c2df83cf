; What JavaScript and TypeScript share.
; --- definitions ---
(function_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @def.function
(generator_function_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @def.function
(method_definition name: (_) @name parameters: (_) @params body: (_) @body) @def.method
(method_definition ["get" "set"] name: (_) @name) @def.property
(variable_declarator name: (identifier) @name) @def.variable
((lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @def.constant))
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
    (generator_function parameters: (_) @params body: (_) @body)
  ]) @def.function
; A function handed through a wrapper: memo(() => …), forwardRef(function () {…}), debounce(…, 100).
(variable_declarator
  name: (identifier) @name
  value: (call_expression
    function: [(identifier) (member_expression)]
    arguments: (arguments . [
      (arrow_function parameters: (_)? @params parameter: (_)? @params body: (statement_block) @body)
      (function_expression parameters: (_) @params body: (_) @body)
    ])) (#match? @name "^[A-Za-z]")) @def.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @def.class
(pair
  key: [(property_identifier) (string)] @name
  value: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
  ]) @def.method
; exports.f = function …, module.exports.f = …, A.f = …
(assignment_expression
  left: (member_expression object: (_) @_o property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
  ] (#match? @_o "^(module\\.)?exports$")) @def.function
(assignment_expression
  left: (member_expression object: (_) @owner property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
  ]
  (#match? @owner "^[A-Za-z_$][A-Za-z0-9_$]*$") (#not-match? @owner "^(?:exports|module|self|window)$")) @def.method
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @owner property: (property_identifier) @_p)
    property: (property_identifier) @name)
  right: (function_expression parameters: (_) @params body: (_) @body)
  (#eq? @_p "prototype")) @def.method
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_p))
  right: (object (method_definition name: (_) @name))
  (#eq? @_p "prototype")) @owner
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_m property: (property_identifier) @_e)
    right: (function_expression name: (identifier) @name parameters: (_) @params body: (_) @body)
    (#eq? @_m "module") (#eq? @_e "exports"))) @def.function
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_m property: (property_identifier) @_e)
    right: (class name: (_) @name body: (_) @body)
    (#eq? @_m "module") (#eq? @_e "exports"))) @def.class
(export_statement "default" value: (function_expression !name "function" @name parameters: (_) @params body: (_) @body)) @def.function
(export_statement "default" value: (class !name "class" @name body: (_) @body)) @def.class
(function_expression) @scope
(arrow_function) @scope
(generator_function) @scope
(class_static_block) @scope
(export_statement decorator: (_) declaration: (_ name: (_) @name)) @outer
(lexical_declaration . (variable_declarator name: (identifier) @name) .) @outer
(variable_declaration . (variable_declarator name: (identifier) @name) .) @outer
(expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name))) @outer

; --- documentation ---
(comment) @comment

; --- references ---
(call_expression function: (identifier) @name arguments: (_) @args) @ref.call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name) arguments: (_) @args) @ref.call
(call_expression function: (super) @name arguments: (arguments) @args) @ref.call
(call_expression arguments: (template_string) @args.single)
(new_expression constructor: (identifier) @name arguments: (_)? @args) @ref.call
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @name) arguments: (_)? @args) @ref.call
(arguments (spread_element)) @args.open
(arguments (comment) @args.extra) @args
(decorator [(identifier) (member_expression)] @ref.decorate)
(decorator (call_expression function: [(identifier) (member_expression)] @ref.decorate arguments: (_) @args))
(binary_expression operator: "instanceof" right: [(identifier) (member_expression)] @ref.type)
(call_expression
  function: (identifier) @_inject arguments: (arguments . (identifier) @ref.inject) (#eq? @_inject "inject"))

; --- imports ---
(import_statement (import_clause (identifier) @alias @default) source: (string) @module) @import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @module) @import
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias))) source: (string) @module) @import
(import_statement . source: (string) @module) @import
(export_statement "*" source: (string) @module) @import @reexport @star
(export_statement (namespace_export (_) @alias) source: (string) @module) @import @reexport
(export_statement
  (export_clause (export_specifier name: (_) @name alias: (_)? @alias)) source: (string) @module) @import @reexport
(variable_declarator
  name: (identifier) @alias
  value: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
  (#eq? @_r "require")) @import
(variable_declarator
  name: (identifier) @alias
  value: (member_expression
    object: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
    property: (property_identifier) @name)
  (#eq? @_r "require")) @import
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name)
  value: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
  (#eq? @_r "require")) @import
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (identifier) @alias))
  value: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
  (#eq? @_r "require")) @import
(expression_statement
  (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .)) (#eq? @_r "require")) @import
(assignment_expression
  right: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
  (#eq? @_r "require")) @import @reexport
(pair
  value: (call_expression function: (identifier) @_r arguments: (arguments . (string) @module .))
  (#eq? @_r "require")) @import @reexport
(call_expression function: (import) arguments: (arguments . (string) @module)) @import

; --- bindings ---
(variable_declarator name: (identifier) @name value: (new_expression constructor: (_) @type)) @bind.var
(variable_declarator name: (identifier) @name value: (call_expression function: (_) @call)) @bind.var
(variable_declarator name: (identifier) @name value: (await_expression (call_expression function: (_) @call))) @bind.var
(variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @same) @bind.var
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: (new_expression constructor: (_) @type)) @bind.attr
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: (call_expression function: (_) @call)) @bind.attr
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: (identifier) @same) @bind.attr
; What a module gives away under another name: its default, `export { a as b }`, `exports.b = a`, `module.exports = a`.
(export_statement "default" @name value: (identifier) @same) @bind.var
(export_statement "default" @name declaration: (_ name: (_) @same)) @bind.var
(export_statement "default" @name value: (function_expression !name "function" @same)) @bind.var
(export_statement (export_clause (export_specifier name: (identifier) @same alias: (identifier) @name)) !source) @bind.var
(assignment_expression
  left: (member_expression object: (_) @_e property: (property_identifier) @name)
  right: (identifier) @same
  (#match? @_e "^(module\\.)?exports$")) @bind.var
(assignment_expression
  left: (member_expression object: (identifier) @_m property: (property_identifier) @name)
  right: [(identifier) @same (function_expression name: (identifier) @same) (class name: (_) @same)]
  (#eq? @_m "module") (#eq? @name "exports")) @bind.var
