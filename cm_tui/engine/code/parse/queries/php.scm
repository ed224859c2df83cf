; --- definitions ---
(namespace_definition name: (namespace_name) @name) @def.namespace
(class_declaration name: (name) @name body: (_) @body) @def.class
(interface_declaration name: (name) @name body: (_) @body) @def.interface
(trait_declaration name: (name) @name body: (_) @body) @def.trait
(enum_declaration name: (name) @name body: (_) @body) @def.enum
(function_definition name: (name) @name parameters: (_) @params body: (_) @body) @def.function
(method_declaration name: (name) @name parameters: (_) @params body: (_)? @body) @def.method
(enum_case name: (name) @name) @def.constant
(const_declaration (const_element . (name) @name)) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.field
(property_promotion_parameter name: (variable_name (name) @name)) @def.field
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @def.constant
(expression_statement
  (assignment_expression
    left: (variable_name (name) @name)
    right: (anonymous_function parameters: (_) @params body: (_) @body))) @def.function
(expression_statement
  (assignment_expression
    left: (variable_name (name) @name)
    right: (arrow_function parameters: (_) @params body: (_) @body))) @def.function
(anonymous_function) @scope
(arrow_function) @scope

; --- documentation ---
(comment) @comment

; --- references ---
(function_call_expression function: [(name) (qualified_name)] @name arguments: (_) @args) @ref.call
(member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @args) @ref.call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @args) @ref.call
(scoped_call_expression scope: (_) @receiver name: (name) @name arguments: (_) @args) @ref.call
(object_creation_expression [(name) (qualified_name)] @name (arguments)? @args) @ref.call
(arguments (argument (variadic_unpacking))) @args.open
(scoped_call_expression scope: [(name) (qualified_name)] @ref.type)
(class_constant_access_expression . [(name) (qualified_name)] @ref.type)
(scoped_property_access_expression scope: [(name) (qualified_name)] @ref.type)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @ref.type)
(named_type [(name) (qualified_name)] @ref.type)
(catch_clause type: (type_list (named_type [(name) (qualified_name)] @ref.type)))
(base_clause [(name) (qualified_name)] @ref.inherit)
(class_interface_clause [(name) (qualified_name)] @ref.inherit)
(use_declaration [(name) (qualified_name)] @ref.inherit)
(attribute [(name) (qualified_name)] @ref.decorate parameters: (arguments)? @args)
(method_declaration
  name: (name) @_name
  parameters: (formal_parameters
    [
      (property_promotion_parameter type: (named_type [(name) (qualified_name)] @ref.inject))
      (property_promotion_parameter type: (optional_type (named_type [(name) (qualified_name)] @ref.inject)))
      (property_promotion_parameter type: (union_type (named_type [(name) (qualified_name)] @ref.inject)))
      (simple_parameter type: (named_type [(name) (qualified_name)] @ref.inject))
      (simple_parameter type: (optional_type (named_type [(name) (qualified_name)] @ref.inject)))
      (simple_parameter type: (union_type (named_type [(name) (qualified_name)] @ref.inject)))
    ])
  (#eq? @_name "__construct"))

; --- imports ---
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @module alias: (name)? @alias)) @import.path
(namespace_use_declaration
  (namespace_name) @module
  body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @name alias: (name)? @alias))) @import
(include_expression (string (string_content) @module)) @import @relative
(include_once_expression (string (string_content) @module)) @import @relative
(require_expression (string (string_content) @module)) @import @relative
(require_once_expression (string (string_content) @module)) @import @relative
; `__DIR__ . '/x.php'`: the folder of the file itself.
([
  (require_once_expression (binary_expression left: (name) @_dir right: (string (string_content) @module)))
  (require_expression (binary_expression left: (name) @_dir right: (string (string_content) @module)))
  (include_once_expression (binary_expression left: (name) @_dir right: (string (string_content) @module)))
  (include_expression (binary_expression left: (name) @_dir right: (string (string_content) @module)))
] @import @tail (#eq? @_dir "__DIR__"))

; --- bindings ---
(simple_parameter type: (_) @type name: (variable_name (name) @name)) @bind.param
(property_promotion_parameter type: (_) @type name: (variable_name (name) @name)) @bind.attr
(property_declaration type: (_) @type (property_element name: (variable_name (name) @name))) @bind.attr
(method_declaration return_type: (_) @type) @bind.return
(function_definition return_type: (_) @type) @bind.return
(assignment_expression
  left: (variable_name (name) @name)
  right: (object_creation_expression [(name) (qualified_name)] @type)) @bind.var
(assignment_expression
  left: (member_access_expression object: (variable_name) @_this name: (name) @name)
  right: (object_creation_expression [(name) (qualified_name)] @type)
  (#eq? @_this "$this")) @bind.attr
(catch_clause type: (_) @type name: (variable_name (name) @name)) @bind.var
