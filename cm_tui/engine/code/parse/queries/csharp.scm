; --- definitions ---
(namespace_declaration name: (_) @name body: (_) @body) @def.namespace
(file_scoped_namespace_declaration name: (_) @name) @def.namespace
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(class_declaration name: (identifier) @name (parameter_list) @params) @def.class
(record_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name (parameter_list) @params) @def.class
(record_declaration name: (identifier) @name body: (_) @body) @def.class
(struct_declaration name: (identifier) @name body: (_)? @body) @def.struct
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_member_declaration name: (identifier) @name) @def.constant
(delegate_declaration name: (identifier) @name parameters: (_) @params) @def.type
(method_declaration name: (identifier) @name parameters: (_) @params body: (_)? @body) @def.method
(local_function_statement name: (identifier) @name parameters: (_) @params body: (_) @body) @def.function
(constructor_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @def.constructor
(destructor_declaration "~" @name parameters: (_) @params body: (_) @body) @def.method
(property_declaration name: (identifier) @name) @def.property
(property_declaration name: (identifier) @name accessors: (_) @body) @def.property
(property_declaration name: (identifier) @name value: (_) @body) @def.property
(event_declaration name: (identifier) @name) @def.property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable
(field_declaration
  (modifier) @_const (variable_declaration (variable_declarator name: (identifier) @name)) (#eq? @_const "const")) @def.constant
(lambda_expression) @scope
(anonymous_method_expression) @scope

; --- documentation ---
(comment) @comment

; --- references ---
(invocation_expression function: (identifier) @name arguments: (_) @args) @ref.call
(invocation_expression function: (generic_name . (identifier) @name) arguments: (_) @args) @ref.call
(invocation_expression
  function: (member_access_expression expression: (_) @receiver name: (identifier) @name) arguments: (_) @args) @ref.call
(invocation_expression
  function: (member_access_expression expression: (_) @receiver name: (generic_name . (identifier) @name))
  arguments: (_) @args) @ref.call
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @receiver (member_binding_expression name: (identifier) @name)) arguments: (_) @args) @ref.call
(object_creation_expression type: [(identifier) (qualified_name)] @ref.call arguments: (_)? @args)
(object_creation_expression type: (generic_name . (identifier) @name) arguments: (_)? @args) @ref.call
(variable_declaration
  type: (identifier) @ref.call
  (variable_declarator (implicit_object_creation_expression (argument_list) @args)))
(constructor_initializer ["base" "this"] @name (argument_list) @args) @ref.call
(argument_list (comment) @args.extra) @args
(variable_declaration type: [(identifier) (qualified_name)] @ref.type)
(variable_declaration type: (nullable_type [(identifier) (qualified_name)] @ref.type))
(parameter type: [(identifier) (qualified_name)] @ref.type)
(parameter type: (nullable_type [(identifier) (qualified_name)] @ref.type))
(property_declaration type: [(identifier) (qualified_name)] @ref.type)
(property_declaration type: (nullable_type [(identifier) (qualified_name)] @ref.type))
(method_declaration returns: [(identifier) (qualified_name)] @ref.type)
(method_declaration returns: (nullable_type [(identifier) (qualified_name)] @ref.type))
(type_argument_list [(identifier) (qualified_name)] @ref.type)
(generic_name . (identifier) @ref.type)
(array_type type: (identifier) @ref.type)
(cast_expression type: (identifier) @ref.type)
(typeof_expression type: (identifier) @ref.type)
(as_expression right: (identifier) @ref.type)
(is_expression right: (identifier) @ref.type)
(declaration_pattern type: (identifier) @ref.type)
(catch_declaration type: (identifier) @ref.type)
(type_parameter_constraint type: (identifier) @ref.type)
(base_list [(identifier) (qualified_name)] @ref.inherit)
(base_list (generic_name . (identifier) @ref.inherit))
(base_list (primary_constructor_base_type type: (identifier) @ref.inherit))
(attribute name: (_) @ref.decorate (attribute_argument_list)? @args)
(constructor_declaration parameters: (parameter_list (parameter type: [(identifier) (qualified_name)] @ref.inject)))
(constructor_declaration parameters: (parameter_list (parameter type: (generic_name . (identifier) @ref.inject))))
(class_declaration (parameter_list (parameter type: [(identifier) (qualified_name)] @ref.inject)))
(class_declaration (parameter_list (parameter type: (generic_name . (identifier) @ref.inject))))
(property_declaration
  (attribute_list (attribute name: (identifier) @_a)) type: (identifier) @ref.inject (#eq? @_a "Inject"))

; --- imports ---
(using_directive . [(identifier) (qualified_name)] @module .) @import @star
(using_directive "static" [(identifier) (qualified_name)] @module) @import @star
(using_directive name: (identifier) @alias [(identifier) (qualified_name)] @module .) @import

; --- bindings ---
(parameter type: (_) @type name: (identifier) @name) @bind.param
(class_declaration (parameter_list (parameter type: (_) @type name: (identifier) @name))) @bind.attr
(record_declaration (parameter_list (parameter type: (_) @type name: (identifier) @name))) @bind.attr
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @bind.attr
(property_declaration type: (_) @type name: (identifier) @name) @bind.attr
(local_declaration_statement
  (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @bind.var
(local_declaration_statement
  (variable_declaration
    type: (implicit_type)
    (variable_declarator name: (identifier) @name (object_creation_expression type: (_) @type)))) @bind.var
(local_declaration_statement
  (variable_declaration
    type: (implicit_type)
    (variable_declarator name: (identifier) @name (invocation_expression function: (_) @call)))) @bind.var
(local_declaration_statement
  (variable_declaration
    type: (implicit_type)
    (variable_declarator
      name: (identifier) @name (await_expression (invocation_expression function: (_) @call))))) @bind.var
(using_statement
  (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @bind.var
(foreach_statement type: (_) @type left: (identifier) @name) @bind.var
(declaration_pattern type: (_) @type name: (identifier) @name) @bind.var
(method_declaration returns: (_) @type) @bind.return
(local_function_statement type: (_) @type) @bind.return
