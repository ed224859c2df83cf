; --- definitions ---
(package_declaration [(scoped_identifier) (identifier)] @name) @def.namespace
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(record_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @def.class
(method_declaration name: (identifier) @name parameters: (_) @params body: (_)? @body) @def.method
(constructor_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @def.constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.constructor
(annotation_type_element_declaration name: (identifier) @name) @def.method
(enum_constant name: (identifier) @name) @def.constant
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.variable
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @def.field))
(lambda_expression) @scope
(object_creation_expression (class_body)) @scope

; --- documentation ---
(line_comment) @comment
(block_comment) @comment

; --- references ---
(method_invocation !object name: (identifier) @name arguments: (_) @args) @ref.call
(method_invocation object: (_) @receiver name: (identifier) @name arguments: (_) @args) @ref.call
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @ref.call arguments: (_) @args)
(object_creation_expression type: (generic_type . (_) @ref.call) arguments: (_) @args)
(explicit_constructor_invocation constructor: _ @name arguments: (_) @args) @ref.call
(method_reference . (_) @receiver (identifier) @name .) @ref.call
(argument_list [(line_comment) (block_comment)] @args.extra) @args
(type_identifier) @ref.type
(scoped_type_identifier) @ref.type
(superclass [(type_identifier) (scoped_type_identifier)] @ref.inherit)
(superclass (generic_type . (_) @ref.inherit))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @ref.inherit))
(super_interfaces (type_list (generic_type . (_) @ref.inherit)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @ref.inherit))
(extends_interfaces (type_list (generic_type . (_) @ref.inherit)))
(marker_annotation name: (_) @ref.decorate)
(annotation name: (_) @ref.decorate arguments: (_) @args)
(constructor_declaration
  parameters: (formal_parameters (formal_parameter type: [(type_identifier) (scoped_type_identifier)] @ref.inject)))
(constructor_declaration parameters: (formal_parameters (formal_parameter type: (generic_type . (_) @ref.inject))))
(field_declaration
  (modifiers (marker_annotation name: (identifier) @_a)) type: (type_identifier) @ref.inject
  (#any-of? @_a "Inject" "Autowired" "Resource" "EJB"))

; --- imports ---
(import_declaration [(scoped_identifier) (identifier)] @module .) @import.path
(import_declaration [(scoped_identifier) (identifier)] @module (asterisk) @star) @import

; --- bindings ---
(formal_parameter type: (_) @type name: (identifier) @name) @bind.param
(field_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name)) @bind.attr
(record_declaration
  parameters: (formal_parameters (formal_parameter type: (_) @type name: (identifier) @name))) @bind.attr
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name)) @bind.var
(local_variable_declaration
  type: (_) @_var
  declarator: (variable_declarator name: (identifier) @name value: (object_creation_expression type: (_) @type))
  (#eq? @_var "var")) @bind.var
(local_variable_declaration
  type: (_) @_var
  declarator: (variable_declarator
    name: (identifier) @name
    value: [(method_invocation !object name: (_) @call) (method_invocation !object name: (_) @call)])
  (#eq? @_var "var")) @bind.var
(enhanced_for_statement type: (_) @type name: (identifier) @name) @bind.var
(resource type: (_) @type name: (identifier) @name) @bind.var
(catch_formal_parameter (catch_type . (_) @type) name: (identifier) @name) @bind.var
(instanceof_expression right: (_) @type name: (identifier) @name) @bind.var
(method_declaration type: (_) @type) @bind.return
