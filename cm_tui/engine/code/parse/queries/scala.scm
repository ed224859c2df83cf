; --- definitions ---
(package_clause name: (package_identifier) @name) @def.namespace
(class_definition name: (identifier) @name body: (_)? @body) @def.class
(class_definition name: (identifier) @name . class_parameters: (class_parameters) @params) @def.class
(trait_definition name: (identifier) @name body: (_)? @body) @def.trait
(object_definition name: (identifier) @name body: (_)? @body) @def.class
(package_object name: (_) @name body: (_)? @body) @def.namespace
(enum_definition name: (identifier) @name body: (_) @body) @def.enum
(simple_enum_case name: (identifier) @name) @def.constant
(full_enum_case name: (identifier) @name) @def.class
(function_definition name: (_) @name body: (_) @body) @def.function
(function_definition name: (_) @name . parameters: (parameters) @params) @def.function
(function_definition name: (_) @name . type_parameters: (_) . parameters: (parameters) @params) @def.function
(function_declaration name: (_) @name) @def.function
(function_declaration name: (_) @name . parameters: (parameters) @params) @def.function
(function_declaration name: (_) @name . type_parameters: (_) . parameters: (parameters) @params) @def.function
(given_definition name: (identifier) @name body: (_)? @body) @def.class
(type_definition name: (type_identifier) @name) @def.type
(val_definition pattern: (identifier) @name) @def.variable
(var_definition pattern: (identifier) @name) @def.variable
(val_declaration name: (identifier) @name) @def.variable
(var_declaration name: (identifier) @name) @def.variable
(class_parameter name: (identifier) @name) @def.field
; A value in an object that begins with a capital is a constant by convention.
(object_definition
  body: (template_body (val_definition pattern: (identifier) @name (#match? @name "^[A-Z]")) @def.constant))
(extension_definition parameters: (parameters (parameter type: (_) @name))) @within
(lambda_expression) @scope
(case_block) @scope

; --- documentation ---
(comment) @comment
(block_comment) @comment

; --- references ---
(call_expression function: (identifier) @name arguments: (arguments) @args (#not-eq? @name "this")) @ref.call
(call_expression function: (identifier) @name arguments: [(block) (case_block)]) @ref.call
(call_expression
  function: (field_expression value: (_) @receiver field: (identifier) @name) arguments: (arguments) @args) @ref.call
(call_expression
  function: (field_expression value: (_) @receiver field: (identifier) @name) arguments: [(block) (case_block)]) @ref.call
(call_expression
  function: (generic_function function: (identifier) @name) arguments: (arguments) @args) @ref.call
(call_expression
  function: (generic_function function: (field_expression value: (_) @receiver field: (identifier) @name))
  arguments: (arguments) @args) @ref.call
; A second parameter list: the inner call is the one that counts.
(infix_expression left: (_) @receiver operator: (identifier) @name) @ref.call
(instance_expression . [(type_identifier) (stable_type_identifier) (generic_type)] @name arguments: (arguments)? @args) @ref.call
(type_identifier) @ref.type
(stable_type_identifier) @ref.type
(field_expression value: (identifier) @ref.type (#match? @ref.type "^[A-Z]"))
(extends_clause [(type_identifier) (stable_type_identifier) (generic_type)] @ref.inherit)
(derives_clause (type_identifier) @ref.inherit)
(given_definition return_type: [(type_identifier) (generic_type)] @ref.inherit)
(annotation name: [(type_identifier) (stable_type_identifier)] @ref.decorate)
(annotation name: (generic_type type: (type_identifier) @ref.decorate))
(class_parameter type: [(type_identifier) (stable_type_identifier)] @ref.inject)
(class_parameter type: (generic_type type: [(type_identifier) (stable_type_identifier)] @ref.inject))
; `@Inject() (…)`: the grammar takes the parameters for arguments of the annotation.
(class_definition (annotation arguments: (arguments (ascription_expression (_) . (type_identifier) @ref.inject))))
(parameter name: (identifier) @local)
(lambda_expression parameters: (_) @local)
(block (val_definition pattern: (identifier) @local))

; --- imports ---
(import_declaration) @import.tree
(export_declaration) @import.tree @reexport

; --- bindings ---
(parameter name: (identifier) @name type: (_) @type) @bind.param
(class_parameter name: (identifier) @name type: (_) @type) @bind.attr
(val_definition pattern: (identifier) @name type: (_) @type) @bind.var
(var_definition pattern: (identifier) @name type: (_) @type) @bind.var
(val_definition pattern: (identifier) @name !type value: (instance_expression . (_) @type)) @bind.var
(val_definition pattern: (identifier) @name !type value: (call_expression function: [(identifier) (field_expression)] @call)) @bind.var
(function_definition return_type: (_) @type) @bind.return
(function_declaration return_type: (_) @type) @bind.return
