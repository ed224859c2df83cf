; --- definitions ---
(header module: (module) @name) @def.namespace
(declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @def.function)
(declarations (function name: [(variable) @name (prefix_id (_) @name)] patterns: (_)? @params) @def.function)
(declarations (bind name: (variable) @name) @def.function)
(declarations (function (infix operator: (_) @name)) @def.function)
(foreign_import signature: (signature name: (variable) @name)) @def.function
(data_type name: (_) @name) @def.type
(newtype name: (_) @name) @def.type
(type_synomym name: (_) @name) @def.type
(type_family name: (_) @name) @def.type
(data_family name: (_) @name) @def.type
(class name: (_) @name) @def.interface
(instance name: (_) patterns: (type_patterns . [(name) (qualified)] @name)) @within
(instance name: (_) patterns: (type_patterns . (parens (apply constructor: [(name) (qualified)] @name)))) @within
(data_constructor constructor: (_ name: (constructor) @name)) @def.constructor
(newtype_constructor name: (constructor) @name) @def.constructor
(gadt_constructor name: (constructor) @name) @def.constructor
(field name: (field_name (variable) @name)) @def.field
(class_declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @def.method)
(class_declarations (function name: [(variable) @name (prefix_id (_) @name)]) @def.method)
(class_declarations (bind name: (variable) @name) @def.method)
(instance_declarations (function name: [(variable) @name (prefix_id (_) @name)]) @def.method)
(instance_declarations (bind name: (variable) @name) @def.method)

; --- documentation ---
(comment) @comment
(haddock) @comment

; --- references ---
(apply function: (variable) @ref.call)
(apply function: (constructor) @ref.call)
(apply function: (qualified module: (_) @receiver id: [(variable) (constructor)] @name)) @ref.call
; An operand of `.`, `$`, `<$>`, `>>=` and their like is a function that runs.
(infix left_operand: (variable) @ref.call)
(infix right_operand: (variable) @ref.call)
(infix left_operand: (qualified module: (_) @receiver id: (variable) @name)) @ref.call
(infix right_operand: (qualified module: (_) @receiver id: (variable) @name)) @ref.call
(infix left_operand: (constructor) @ref.call)
(infix operator: (infix_id (variable) @ref.call))
(apply function: (_) argument: (variable) @ref.call)
(apply function: (_) argument: (qualified module: (_) @receiver id: (variable) @name)) @ref.call
(exp (variable) @ref.call)
(bind expression: (variable) @ref.call)
(match expression: (variable) @ref.call)
(record constructor: (constructor) @ref.call)
(name) @ref.type
(instance name: (name) @ref.inherit)
(instance name: (qualified id: (name) @ref.inherit))
(deriving classes: (name) @ref.inherit)
(deriving classes: (tuple (name) @ref.inherit))
(class context: (context (apply constructor: (name) @ref.inherit)))

(function patterns: (_) @local)
(function (infix) @local)
(lambda patterns: (_) @local)
(alternative pattern: (_) @local)
(bind pattern: (_) @local)
(pattern_guard pattern: (_) @local)
(local_binds (_ name: (_) @local))
(generator pattern: (_) @local)

; --- imports ---
(import module: (module) @module !names alias: (module)? @alias) @import @star
((import module: (module) @module names: (import_list name: (import_name [(variable) (name)] @name))) @import
  (#not-match? @import "\\bhiding\\b"))
(import module: (module) @module "hiding") @import @star

; --- bindings ---
(signature name: (variable) @name type: (name) @type) @bind.var
