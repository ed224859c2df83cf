; --- definitions ---
(class_declaration declaration_kind: "class" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @def.enum
(class_declaration declaration_kind: "extension" name: (user_type) @name) @within
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(function_declaration name: [(simple_identifier) (custom_operator)] @name body: (_)? @body) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(init_declaration name: "init" @name body: (_)? @body) @def.constructor
(deinit_declaration "deinit" @name body: (_) @body) @def.method
(subscript_declaration "subscript" @name) @def.method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @def.property
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property
(enum_entry name: (simple_identifier) @name @def.constant)
(enum_entry . name: (simple_identifier) @name . data_contents: (_) .) @def.constant
(typealias_declaration name: (type_identifier) @name) @def.type
(associatedtype_declaration name: (type_identifier) @name) @def.type
(macro_declaration (simple_identifier) @name) @def.macro
(lambda_literal) @scope

; --- documentation ---
(comment) @comment
(multiline_comment) @comment

; --- references ---
(call_expression . (simple_identifier) @name (call_suffix . (value_arguments "(") @args .)) @ref.call
(call_expression . (simple_identifier) @name (call_suffix (lambda_literal))) @ref.call
(call_expression
  . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix . (value_arguments "(") @args .)) @ref.call
(call_expression
  . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))
  (call_suffix (lambda_literal))) @ref.call
(constructor_expression constructed_type: (user_type) @name (constructor_suffix (value_arguments)? @args)) @ref.call
(user_type) @ref.type
(navigation_expression target: (simple_identifier) @ref.type (#match? @ref.type "^[A-Z]"))
(inheritance_specifier inherits_from: (user_type) @ref.inherit)
(attribute (user_type) @ref.decorate)
(parameter name: (simple_identifier) @local)
(lambda_function_type_parameters) @local
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @local)))

; --- imports ---
((import_declaration (identifier) @module) @import (#not-match? @import "@_exported"))
(import_declaration
  (modifiers (attribute (user_type) @_exported)) @reexport (identifier) @module
  (#eq? @_exported "_exported")) @import

; --- bindings ---
(parameter name: (simple_identifier) @name (_) @type .) @bind.param
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  (type_annotation (_) @type)) @bind.var
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  value: (call_expression . [(simple_identifier) (navigation_expression)] @call)) @bind.var
(function_declaration [(user_type) (optional_type)] @type) @bind.return
