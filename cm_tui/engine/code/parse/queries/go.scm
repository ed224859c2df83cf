; --- definitions ---
(function_declaration name: (identifier) @name parameters: (_) @params body: (_)? @body) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner (generic_type type: (_) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])]))
  name: (field_identifier) @name parameters: (_) @params body: (_)? @body) @def.method
(type_spec name: (type_identifier) @name) @def.type
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_alias name: (type_identifier) @name) @def.type
(type_declaration . (type_spec name: (type_identifier) @name) .) @outer
(method_elem name: (field_identifier) @name parameters: (_) @params) @def.method
(struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @def.field))
(const_spec name: (identifier) @name) @def.constant
(var_spec name: (identifier) @name) @def.variable
(const_declaration . (const_spec name: (identifier) @name) .) @outer
(var_declaration . (var_spec name: (identifier) @name) .) @outer
(var_spec name: (identifier) @name value: (expression_list . (func_literal parameters: (_) @params body: (_) @body) .)) @def.function
(func_literal) @scope

; --- documentation ---
(comment) @comment

; --- references ---
(call_expression function: (identifier) @name arguments: (_) @args) @ref.call
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @name) arguments: (_) @args) @ref.call
(call_expression function: (type_instantiation_expression type: (_) @ref.call) arguments: (_) @args)
; `F[int](x)` reads as a conversion.
(type_conversion_expression type: (generic_type type: (_) @ref.call))
(argument_list (variadic_argument)) @args.open
(argument_list (comment) @args.extra) @args
(type_identifier) @ref.type
(qualified_type) @ref.type
(field_declaration !name type: [(type_identifier) (qualified_type)] @ref.inherit)
(field_declaration !name type: (pointer_type [(type_identifier) (qualified_type)] @ref.inherit))
(field_declaration !name type: (generic_type type: (_) @ref.inherit))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @ref.inherit .))

; --- imports ---
(import_spec !name path: (_) @module) @import
(import_spec name: (package_identifier) @alias path: (_) @module) @import
(import_spec name: (blank_identifier) @alias path: (_) @module) @import
(import_spec name: (dot) @star path: (_) @module) @import

; --- bindings ---
(parameter_declaration name: (identifier) @name type: (_) @type) @bind.param
(function_declaration result: [(type_identifier) (pointer_type) (qualified_type) (generic_type)] @type) @bind.return
(method_declaration result: [(type_identifier) (pointer_type) (qualified_type) (generic_type)] @type) @bind.return
(method_elem result: [(type_identifier) (pointer_type) (qualified_type) (generic_type)] @type) @bind.return
(function_declaration result: (parameter_list . (parameter_declaration type: (_) @type))) @bind.return
(method_declaration result: (parameter_list . (parameter_declaration type: (_) @type))) @bind.return
(field_declaration name: (field_identifier) @name type: (_) @type) @bind.attr
(field_declaration !name type: (type_identifier) @name @type) @bind.attr
(field_declaration !name type: (pointer_type (type_identifier) @name @type)) @bind.attr
(field_declaration !name type: (qualified_type name: (_) @name) @type) @bind.attr
(field_declaration !name type: (pointer_type (qualified_type name: (_) @name) @type)) @bind.attr
(var_spec name: (identifier) @name type: (_) @type) @bind.var
(var_spec name: (identifier) @name !type value: (expression_list . (call_expression function: (_) @call))) @bind.var
(var_spec
  name: (identifier) @name !type
  value: (expression_list . [(composite_literal type: (_) @type) (unary_expression operand: (composite_literal type: (_) @type))])) @bind.var
(short_var_declaration
  left: (expression_list . (identifier) @name) right: (expression_list . (call_expression function: (_) @call))) @bind.var
(short_var_declaration
  left: (expression_list . (identifier) @name)
  right: (expression_list . [
    (composite_literal type: (_) @type)
    (unary_expression operand: (composite_literal type: (_) @type))
    (type_assertion_expression type: (_) @type)])) @bind.var
(short_var_declaration
  left: (expression_list . (identifier) @name .) right: (expression_list . [(identifier) (selector_expression)] @same .)) @bind.var
