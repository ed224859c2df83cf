; --- definitions ---
(class_definition name: (identifier) @name body: (_) @body) @def.class
(class_definition (interface) name: (identifier) @name body: (_) @body) @def.interface
(class_definition (mixin_application_class . (identifier) @name)) @def.class
(mixin_declaration (identifier) @name (class_body) @body) @def.trait
(extension_declaration name: (identifier) @name body: (_) @body) @def.class
(extension_type_declaration name: (identifier) @name body: (_) @body) @def.class
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name) @def.constant
(type_alias . (type_identifier) @name) @def.type
(program (function_signature name: (identifier) @name (formal_parameter_list) @params) @def.function)
(program (getter_signature name: (identifier) @name) @def.property)
(method_signature (function_signature name: (identifier) @name (formal_parameter_list) @params)) @def.method
(declaration (function_signature name: (identifier) @name (formal_parameter_list) @params)) @def.method
(method_signature (getter_signature name: (identifier) @name)) @def.property
(declaration (getter_signature name: (identifier) @name)) @def.property
(method_signature (setter_signature name: (identifier) @name)) @def.property
(method_signature (operator_signature (binary_operator) @name (formal_parameter_list) @params)) @def.method
(method_signature (constructor_signature . name: (identifier) @name . parameters: (_) @params)) @def.constructor
(declaration (constructor_signature . name: (identifier) @name . parameters: (_) @params)) @def.constructor
(constructor_signature name: (identifier) "." name: (identifier) @name parameters: (_) @params) @def.constructor
(constant_constructor_signature . (const_builtin) . (identifier) @name . (formal_parameter_list) @params) @def.constructor
(constant_constructor_signature
  . (const_builtin) . (identifier) . (identifier) @name . (formal_parameter_list) @params) @def.constructor
(factory_constructor_signature (identifier) (identifier) @name (formal_parameter_list) @params) @def.constructor
; A body stands beside its signature, not inside it.
((function_signature name: (identifier) @name) @def.function . (function_body) @outer @body)
((getter_signature name: (identifier) @name) @def.property . (function_body) @outer @body)
((method_signature (function_signature name: (identifier) @name)) @def.method . (function_body) @outer @body)
((method_signature (getter_signature name: (identifier) @name)) @def.property . (function_body) @outer @body)
((method_signature (setter_signature name: (identifier) @name)) @def.property . (function_body) @outer @body)
((method_signature (operator_signature (binary_operator) @name)) @def.method . (function_body) @outer @body)
((method_signature (constructor_signature name: (identifier) @name . parameters: (_))) @def.constructor
  . (function_body) @outer @body)
((method_signature (factory_constructor_signature (identifier) (identifier) @name)) @def.constructor
  . (function_body) @outer @body)
(declaration (constructor_signature name: (identifier) @name . parameters: (_))) @outer
(static_final_declaration . (identifier) @name) @def.variable
(declaration (const_builtin) (static_final_declaration_list (static_final_declaration . (identifier) @name))) @def.constant
(program (const_builtin) . (_) . (static_final_declaration_list (static_final_declaration . (identifier) @name) @def.constant))
(program (const_builtin) . (static_final_declaration_list (static_final_declaration . (identifier) @name) @def.constant))
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @def.field
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @def.variable))
(function_expression) @scope
(annotation) @attribute

; --- documentation ---
(comment) @comment
(documentation_comment) @comment

; --- references ---
((identifier) @name . (selector (argument_part (arguments) @args))) @ref.call
([(identifier) (this)] @receiver
  . (selector [
      (unconditional_assignable_selector (identifier) @name)
      (conditional_assignable_selector (identifier) @name)
    ])
  . (selector (argument_part (arguments) @args))) @ref.call
((super) @receiver
  . (unconditional_assignable_selector (identifier) @name)
  . (selector (argument_part (arguments) @args))) @ref.call
([(identifier) (this)] @receiver
  . (selector)+ @receiver
  . (selector [
      (unconditional_assignable_selector (identifier) @name)
      (conditional_assignable_selector (identifier) @name)
    ])
  . (selector (argument_part (arguments) @args))) @ref.call
([(identifier) (this)] @receiver
  . (cascade_section)*
  . (cascade_section (cascade_selector (identifier) @name) (argument_part (arguments) @args))) @ref.call
(cascade_section (cascade_selector (identifier) @name) (argument_part (arguments) @args)) @ref.call
(new_expression (type_identifier) @name (arguments) @args) @ref.call
(const_object_expression (type_identifier) @name (arguments) @args) @ref.call
(type_identifier) @ref.type
((identifier) @ref.type . (selector (unconditional_assignable_selector)) (#match? @ref.type "^[A-Z]"))
(superclass (type_identifier) @ref.inherit)
(mixins (type_identifier) @ref.inherit)
(interfaces (type_identifier) @ref.inherit)
(mixin_declaration (type_identifier) @ref.inherit)
(mixin_application (type_identifier) @ref.inherit)
(extension_declaration class: (type_identifier) @ref.type)
(annotation name: (_) @ref.decorate)
(annotation name: (_) @ref.decorate (arguments) @args)
(constructor_signature
  parameters: (formal_parameter_list (formal_parameter (type_identifier) @ref.inject)))
(constructor_param (identifier) @same) @ref.inject
(constructor_signature
  parameters: (formal_parameter_list (optional_formal_parameters (formal_parameter (type_identifier) @ref.inject))))
(formal_parameter name: (identifier) @local)
(initialized_variable_definition name: (identifier) @local)
(for_loop_parts name: (identifier) @local)

; --- imports ---
(import_specification (configurable_uri) @module .) @import @relative @star
(import_specification (configurable_uri) @module (identifier) @alias) @import @relative
(import_specification
  (configurable_uri) @module (combinator "show" (identifier) @name)) @import @relative
(library_export (configurable_uri) @module @star .) @import @relative @reexport
(library_export (configurable_uri) @module @star (combinator "hide")) @import @relative @reexport
(library_export (configurable_uri) @module (combinator "show" (identifier) @name)) @import @relative @reexport
(part_directive (uri) @module) @import @relative @star
(part_of_directive (uri) @module) @import @relative @star

; --- bindings ---
(formal_parameter (type_identifier) @type name: (identifier) @name) @bind.param
(declaration (type_identifier) @type . (initialized_identifier_list (initialized_identifier . (identifier) @name))) @bind.attr
(declaration
  (type_identifier) @type . (static_final_declaration_list (static_final_declaration . (identifier) @name))) @bind.attr
(initialized_variable_definition (type_identifier) @type name: (identifier) @name) @bind.var
(initialized_variable_definition
  name: (identifier) @name
  value: (identifier) @call
  . value: (selector (argument_part)) .) @bind.var
(function_signature (type_identifier) @type name: (identifier) (#not-match? @type "^Future")) @bind.return
(function_signature
  (type_identifier) @_future . (type_arguments . (type_identifier) @type .) . name: (identifier)
  (#match? @_future "^Future")) @bind.return
