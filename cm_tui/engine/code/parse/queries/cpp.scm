; What C++ adds; `c.scm` comes first.
; --- definitions ---
(namespace_definition name: (_) @name body: (_) @body) @def.namespace
(class_specifier name: [(type_identifier) (qualified_identifier)] @name body: (_) @body) @def.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.class
(struct_specifier name: (qualified_identifier) @name body: (_) @body) @def.struct
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.struct
(enum_specifier name: (qualified_identifier) @name body: (_) @body) @def.enum
(function_definition
  declarator: (function_declarator
    declarator: [(field_identifier) (operator_name) (destructor_name) (qualified_identifier)] @name
    parameters: (_) @params)) @def.function
(function_definition
  declarator: (_ (function_declarator
    declarator: [(field_identifier) (operator_name) (qualified_identifier)] @name parameters: (_) @params))) @def.function
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @name) body: (_) @body) @def.function
(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body) @def.function
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name parameters: (_) @params)) body: (_) @body) @def.function
(function_definition
  declarator: (function_declarator declarator: (template_function name: (identifier) @name) parameters: (_) @params)
  body: (_) @body) @def.function
(function_definition declarator: (operator_cast) @name body: (_) @body) @def.function
(function_definition declarator: (qualified_identifier name: (operator_cast)) @name body: (_) @body) @def.function
(function_definition declarator: (operator_cast) @name) @def.function
(declaration declarator: (operator_cast) @name) @def.function
(field_declaration
  declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (_) @params)) @def.method
(field_declaration
  declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (_) @params))) @def.method
(declaration declarator: (function_declarator declarator: (destructor_name) @name parameters: (_) @params)) @def.method
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @def.field
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(template_declaration (class_specifier name: (type_identifier) @name)) @outer
(template_declaration (struct_specifier name: (type_identifier) @name)) @outer
(template_declaration (class_specifier name: (template_type name: (type_identifier) @name))) @outer
(template_declaration (struct_specifier name: (template_type name: (type_identifier) @name))) @outer
(template_declaration (function_definition declarator: (function_declarator declarator: (_) @name))) @outer
(template_declaration (function_definition declarator: (_ (function_declarator declarator: (_) @name)))) @outer
(template_declaration (function_definition declarator: (operator_cast) @name)) @outer
(template_declaration (concept_definition name: (identifier) @name)) @outer
(lambda_expression) @scope

; --- references ---
(call_expression function: (qualified_identifier) @ref.call arguments: (_) @args)
(call_expression function: (template_function name: (identifier) @name) arguments: (_) @args) @ref.call
(call_expression
  function: (field_expression argument: (_) @receiver field: (template_method name: (_) @name)) arguments: (_) @args) @ref.call
(new_expression type: [(type_identifier) (qualified_identifier)] @ref.call arguments: (_)? @args)
(new_expression type: (template_type name: (_) @ref.call) arguments: (_)? @args)
(declaration type: (type_identifier) @ref.call declarator: (init_declarator value: [(argument_list) (initializer_list)] @args))
(argument_list (parameter_pack_expansion)) @args.open
(base_class_clause [(type_identifier) (qualified_identifier)] @ref.inherit)
(base_class_clause (template_type name: (_) @ref.inherit))
(qualified_identifier name: (type_identifier)) @ref.type
(field_initializer_list (field_initializer . (template_method name: (_) @ref.call)))
(attribute name: (identifier) @ref.decorate)

; --- imports ---
(using_declaration "namespace" [(identifier) (qualified_identifier)] @module) @import @star
(using_declaration . "using" . (qualified_identifier) @module) @import.path

; --- bindings ---
(parameter_declaration type: (_) @type declarator: (reference_declarator (identifier) @name)) @bind.param
(field_declaration type: (_) @type declarator: (reference_declarator (field_identifier) @name)) @bind.attr
(declaration type: (_) @type declarator: (init_declarator declarator: (reference_declarator (identifier) @name))) @bind.var
(declaration
  type: (placeholder_type_specifier)
  declarator: (init_declarator declarator: (identifier) @name value: (call_expression function: (_) @call))) @bind.var
(declaration
  type: (placeholder_type_specifier)
  declarator: (init_declarator declarator: (identifier) @name value: (new_expression type: (_) @type))) @bind.var
