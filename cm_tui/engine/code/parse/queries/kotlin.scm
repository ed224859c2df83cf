; --- definitions ---
(package_header (identifier) @name) @def.namespace
(class_declaration
  (type_identifier) @name
  (primary_constructor)? @params
  [(class_body) (enum_class_body)]? @body) @def.class
(class_declaration "interface" (type_identifier) @name (class_body)? @body) @def.interface
(class_declaration "enum" (type_identifier) @name (enum_class_body)? @body) @def.enum
(object_declaration (type_identifier) @name (class_body)? @body) @def.class
(function_declaration
  (simple_identifier) @name
  (function_value_parameters) @params
  (function_body)? @body) @def.function
(function_declaration receiver: (receiver_type (user_type) @owner) (simple_identifier) @name)
(function_declaration receiver: (receiver_type (nullable_type (user_type) @owner)) (simple_identifier) @name)
(secondary_constructor "constructor" @name (function_value_parameters) @params (statements)? @body) @def.constructor
(property_declaration (variable_declaration . (simple_identifier) @name)) @def.variable
(property_declaration
  receiver: (receiver_type (user_type) @owner) (variable_declaration . (simple_identifier) @name)) @def.property
((property_declaration (variable_declaration . (simple_identifier) @name)) @def.property . [(getter) (setter)] @outer)
(property_declaration
  (modifiers (property_modifier) @_const) (variable_declaration . (simple_identifier) @name)
  (#eq? @_const "const")) @def.constant
(class_parameter (binding_pattern_kind) . (simple_identifier) @name) @def.field
(enum_entry (simple_identifier) @name) @def.constant
(type_alias (type_identifier) @name) @def.type
(lambda_literal) @scope
(anonymous_function) @scope

; --- documentation ---
(line_comment) @comment
(multiline_comment) @comment

; --- references ---
(call_expression . (simple_identifier) @name (call_suffix (value_arguments) @args .)) @ref.call
(call_expression . (simple_identifier) @name (call_suffix (annotated_lambda))) @ref.call
(call_expression
  . (navigation_expression . (_) @receiver (navigation_suffix (simple_identifier) @name) .)
  (call_suffix (value_arguments) @args .)) @ref.call
(call_expression
  . (navigation_expression . (_) @receiver (navigation_suffix (simple_identifier) @name) .)
  (call_suffix (annotated_lambda))) @ref.call
(infix_expression . (_) @receiver . (simple_identifier) @name . (_)) @ref.call
(value_arguments (value_argument (spread_expression))) @args.open
(callable_reference (simple_identifier) @ref.call)
(callable_reference (type_identifier) @ref.type)
(user_type) @ref.type
(class_declaration (delegation_specifier (user_type) @ref.inherit))
(class_declaration (delegation_specifier (constructor_invocation (user_type) @ref.inherit)))
(object_declaration (delegation_specifier (user_type) @ref.inherit))
(object_declaration (delegation_specifier (constructor_invocation (user_type) @ref.inherit)))
(explicit_delegation . (user_type) @ref.inherit)
(annotation (user_type) @ref.decorate)
(annotation (constructor_invocation (user_type) @ref.decorate (value_arguments) @args))
(primary_constructor (class_parameter (user_type) @ref.inject))
(primary_constructor (class_parameter (nullable_type (user_type) @ref.inject)))
(function_value_parameters (parameter . (simple_identifier) @local))
(lambda_parameters (variable_declaration . (simple_identifier) @local))
(statements (property_declaration (variable_declaration . (simple_identifier) @local)))

; --- imports ---
(import_header (identifier) @module .) @import.path
(import_header (identifier) @module (import_alias (type_identifier) @alias)) @import.path
(import_header (identifier) @module (wildcard_import) @star) @import

; --- bindings ---
(parameter . (simple_identifier) @name [(user_type) (nullable_type)] @type) @bind.param
(class_parameter (simple_identifier) @name . [(user_type) (nullable_type)] @type) @bind.attr
(variable_declaration . (simple_identifier) @name [(user_type) (nullable_type)] @type) @bind.var
(property_declaration
  (variable_declaration . (simple_identifier) @name .)
  (call_expression . [(simple_identifier) (navigation_expression)] @call)) @bind.var
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @type) @bind.return
