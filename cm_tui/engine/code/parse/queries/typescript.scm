; What TypeScript adds; `ecma.scm` comes first.
; --- definitions ---
(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(interface_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_body name: (property_identifier) @name @def.constant)
(enum_assignment name: (property_identifier) @name) @def.constant
(type_alias_declaration name: (type_identifier) @name) @def.type
(internal_module name: [(identifier) (nested_identifier)] @name body: (_) @body) @def.namespace
(module name: [(identifier) (string)] @name body: (_) @body) @def.module
(function_signature name: (identifier) @name parameters: (_) @params) @def.function
(method_signature name: (_) @name parameters: (_) @params) @def.method
(abstract_method_signature name: (_) @name parameters: (_) @params) @def.method
(property_signature name: (_) @name) @def.field
(public_field_definition name: (_) @name) @def.field
(public_field_definition
  name: (_) @name
  value: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
  ]) @def.method
(decorator) @attribute

; --- references ---
(type_identifier) @ref.type
(nested_type_identifier) @ref.type
(type_query (identifier) @ref.type)
(class_heritage (extends_clause value: [(identifier) (member_expression)] @ref.inherit))
(class_heritage
  (extends_clause value: (call_expression arguments: (arguments [(identifier) (member_expression)] @ref.inherit))))
(implements_clause [(type_identifier) (nested_type_identifier)] @ref.inherit)
(implements_clause (generic_type name: (_) @ref.inherit))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @ref.inherit)
(extends_type_clause type: (generic_type name: (_) @ref.inherit))
(method_definition
  name: (property_identifier) @_c
  parameters: (formal_parameters
    (_ type: (type_annotation [
      (type_identifier) @ref.inject (nested_type_identifier) @ref.inject (generic_type name: (_) @ref.inject)])))
  (#eq? @_c "constructor"))

; --- imports ---
(import_statement (import_require_clause (identifier) @alias source: (string) @module)) @import

; --- bindings ---
(required_parameter pattern: (identifier) @name type: (type_annotation) @type) @bind.param
(optional_parameter pattern: (identifier) @name type: (type_annotation) @type) @bind.param
(required_parameter (accessibility_modifier) pattern: (identifier) @name type: (type_annotation) @type) @bind.attr
(required_parameter "readonly" pattern: (identifier) @name type: (type_annotation) @type) @bind.attr
(variable_declarator name: (identifier) @name type: (type_annotation) @type) @bind.var
(variable_declarator name: (identifier) @name value: (as_expression (_) (_) @type)) @bind.var
(public_field_definition name: (_) @name type: (type_annotation) @type) @bind.attr
(public_field_definition name: (_) @name !type value: (new_expression constructor: (_) @type)) @bind.attr
(public_field_definition
  name: (_) @name !type
  value: (call_expression function: (identifier) @_inject arguments: (arguments . (identifier) @type))
  (#eq? @_inject "inject")) @bind.attr
(public_field_definition
  name: (_) @name !type value: (call_expression function: (_) @call) (#not-eq? @call "inject")) @bind.attr
(property_signature name: (_) @name type: (type_annotation) @type) @bind.attr
(function_declaration return_type: (type_annotation) @type) @bind.return
(function_signature return_type: (type_annotation) @type) @bind.return
(method_definition return_type: (type_annotation) @type) @bind.return
(method_signature return_type: (type_annotation) @type) @bind.return
(abstract_method_signature return_type: (type_annotation) @type) @bind.return
(variable_declarator value: (arrow_function return_type: (type_annotation) @type)) @bind.return
(public_field_definition value: (arrow_function return_type: (type_annotation) @type)) @bind.return
