; --- definitions ---
(function_item name: (identifier) @name parameters: (_) @params body: (_) @body) @def.function
(function_signature_item name: (identifier) @name parameters: (_) @params) @def.function
(struct_item name: (type_identifier) @name body: (field_declaration_list)? @body) @def.struct
(union_item name: (type_identifier) @name body: (_) @body) @def.struct
(enum_item name: (type_identifier) @name body: (_) @body) @def.enum
(enum_variant name: (identifier) @name) @def.constant
(trait_item name: (type_identifier) @name body: (_) @body) @def.trait
(type_item name: (type_identifier) @name) @def.type
(associated_type name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.constant
(mod_item name: (identifier) @name body: (_) @body) @def.module
(macro_definition name: (identifier) @name) @def.macro
(field_declaration name: (field_identifier) @name) @def.field
(impl_item type: (_) @name body: (_)) @within
(closure_expression) @scope
(attribute_item) @attribute

; --- documentation ---
(line_comment) @comment
(block_comment) @comment

; --- references ---
(call_expression function: (identifier) @name arguments: (_) @args) @ref.call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name) arguments: (_) @args) @ref.call
(call_expression function: (scoped_identifier path: (_)? @receiver name: (_) @name) arguments: (_) @args) @ref.call
(call_expression function: (generic_function function: (identifier) @name) arguments: (_) @args) @ref.call
(call_expression
  function: (generic_function function: (field_expression value: (_) @receiver field: (_) @name)) arguments: (_) @args) @ref.call
(call_expression
  function: (generic_function function: (scoped_identifier path: (_)? @receiver name: (_) @name)) arguments: (_) @args) @ref.call
(macro_invocation macro: (identifier) @name) @ref.call
(macro_invocation macro: (scoped_identifier path: (_)? @receiver name: (_) @name)) @ref.call
; Calls inside a macro's arguments, which are only tokens to the grammar.
(token_tree (identifier) @name . (token_tree . "(")) @ref.call
(token_tree (_) @receiver . ["." "::"] . (identifier) @name . (token_tree . "(")) @ref.call
(struct_expression name: (_) @ref.type)
(type_identifier) @ref.type
(scoped_type_identifier) @ref.type
(trait_bounds [(type_identifier) (scoped_type_identifier)] @ref.type)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @ref.inherit))
(trait_item bounds: (trait_bounds (generic_type type: (_) @ref.inherit)))
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @ref.inherit type: (_))
(impl_item trait: (generic_type type: (_) @ref.inherit) type: (_))
(attribute_item (attribute . [(identifier) (scoped_identifier)] @ref.decorate))
(attribute_item
  (attribute . (identifier) @_derive arguments: (token_tree (identifier) @ref.inherit)) (#eq? @_derive "derive"))

; --- imports ---
(use_declaration argument: (_) @import.tree)
(use_declaration (visibility_modifier) @reexport argument: (_) @import.tree)
(extern_crate_declaration name: (identifier) @module alias: (_)? @alias) @import
(mod_item name: (identifier) @module !body) @import @relative

; --- bindings ---
(parameter pattern: (identifier) @name type: (_) @type) @bind.param
(parameter pattern: (mut_pattern (identifier) @name) type: (_) @type) @bind.param
(function_item return_type: (_) @type) @bind.return
(function_signature_item return_type: (_) @type) @bind.return
(field_declaration name: (field_identifier) @name type: (_) @type) @bind.attr
(let_declaration pattern: (identifier) @name type: (_) @type) @bind.var
(let_declaration pattern: (identifier) @name !type value: (call_expression function: (_) @call)) @bind.var
(let_declaration pattern: (identifier) @name !type value: (try_expression (call_expression function: (_) @call))) @bind.var
(let_declaration
  pattern: (identifier) @name !type value: (await_expression (call_expression function: (_) @call))) @bind.var
(let_declaration
  pattern: (identifier) @name !type
  value: (try_expression (await_expression (call_expression function: (_) @call)))) @bind.var
(let_declaration pattern: (identifier) @name !type value: (struct_expression name: (_) @type)) @bind.var
(let_declaration pattern: (identifier) @name !type value: [(identifier) (field_expression)] @same) @bind.var
(const_item name: (identifier) @name type: (_) @type) @bind.var
(static_item name: (identifier) @name type: (_) @type) @bind.var
