; --- definitions ---
(function_definition name: (identifier) @name parameters: (parameters) @params body: (block) @body) @def.function
(class_definition name: (identifier) @name body: (block) @body) @def.class
(decorated_definition definition: (_ name: (identifier) @name)) @outer
(decorated_definition
  (decorator [(identifier) @_d (attribute attribute: (identifier) @_d)])
  definition: (function_definition name: (identifier) @name parameters: (parameters) @params body: (block) @body)
  (#any-of? @_d "property" "cached_property" "setter" "getter" "deleter" "hybrid_property")) @def.property
(type_alias_statement left: (type (identifier) @name)) @def.type
(type_alias_statement left: (type (generic_type (identifier) @name))) @def.type
(assignment left: (identifier) @name) @def.variable
(assignment left: (identifier) @name type: (type (identifier) @_t) (#eq? @_t "TypeAlias")) @def.type
(assignment left: (identifier) @name right: (lambda parameters: (lambda_parameters)? @params body: (_) @body)) @def.function
(assignment
  left: (identifier) @name
  right: (call function: (identifier) @_t) (#any-of? @_t "TypeVar" "NewType" "ParamSpec" "TypeVarTuple")) @def.type

; --- documentation ---
(function_definition body: (block . (string) @doc.inside))
(class_definition body: (block . (string) @doc.inside))
(comment) @comment

; --- references ---
(call function: (identifier) @name arguments: (_) @args) @ref.call
(call function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: (_) @args) @ref.call
(argument_list [(list_splat) (dictionary_splat)]) @args.open
(argument_list (comment) @args.extra) @args
(call arguments: (generator_expression) @args.single)
(decorator [(identifier) (attribute)] @ref.decorate)
(decorator (call function: [(identifier) (attribute)] @ref.decorate arguments: (argument_list) @args))
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @ref.inherit))
(class_definition superclasses: (argument_list (call function: [(identifier) (attribute)] @ref.inherit)))
(class_definition
  superclasses: (argument_list
    (keyword_argument name: (identifier) @_k value: [(identifier) (attribute)] @ref.inherit) (#eq? @_k "metaclass")))
(typed_parameter type: (type) @ref.types)
(typed_default_parameter type: (type) @ref.types)
(function_definition return_type: (type) @ref.types)
(assignment type: (type) @ref.types)
(type_alias_statement right: (type) @ref.types)
(except_clause value: [(identifier) (attribute)] @ref.type)
(except_clause value: (as_pattern . [(identifier) (attribute)] @ref.type))
(except_clause value: (tuple [(identifier) (attribute)] @ref.type))
(except_clause value: (as_pattern . (tuple [(identifier) (attribute)] @ref.type)))
(raise_statement . [(identifier) (attribute)] @ref.type)
(class_pattern (dotted_name) @ref.type)
(call
  function: (identifier) @_f
  arguments: (argument_list . (_) . [(identifier) (attribute)] @ref.type)
  (#any-of? @_f "isinstance" "issubclass" "cast"))
(call
  function: (identifier) @_f
  arguments: (argument_list . (_) . (tuple [(identifier) (attribute)] @ref.type))
  (#any-of? @_f "isinstance" "issubclass"))

; --- imports ---
(import_statement name: (dotted_name) @module) @import
(import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @name) @import
(import_from_statement module_name: (_) @module name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module (wildcard_import) @star) @import

; --- bindings ---
(typed_parameter . (identifier) @name type: (type) @type) @bind.param
(typed_default_parameter name: (identifier) @name type: (type) @type) @bind.param
(function_definition return_type: (type) @type) @bind.return
(assignment left: (identifier) @name type: (type) @type) @bind.var
(assignment left: (identifier) @name !type right: (call function: (_) @call)) @bind.var
(assignment left: (identifier) @name !type right: (await (call function: (_) @call))) @bind.var
(assignment left: (identifier) @name !type right: [(identifier) (attribute)] @same) @bind.var
(named_expression name: (identifier) @name value: (call function: (_) @call)) @bind.var
(as_pattern (call function: (_) @call) alias: (as_pattern_target (identifier) @name)) @bind.var
(except_clause value: (as_pattern . [(identifier) (attribute)] @type alias: (as_pattern_target (identifier) @name))) @bind.var
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) type: (type) @type
  (#any-of? @_self "self" "cls")) @bind.attr
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type right: (call function: (_) @call)
  (#any-of? @_self "self" "cls")) @bind.attr
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type right: (await (call function: (_) @call))
  (#any-of? @_self "self" "cls")) @bind.attr
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type right: [(identifier) (attribute)] @same
  (#any-of? @_self "self" "cls")) @bind.attr
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type
  right: (boolean_operator left: (identifier) @same)
  (#any-of? @_self "self" "cls")) @bind.attr
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type
  right: (boolean_operator right: (call function: (_) @call))
  (#any-of? @_self "self" "cls")) @bind.attr
; Names whose value says nothing: kept only where they hide a name of the module.
(parameters (identifier) @name) @bind.param
(parameters (default_parameter name: (identifier) @name)) @bind.param
(lambda_parameters (identifier) @name) @bind.param
(for_statement left: [(identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @bind.var
(for_in_clause left: [(identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @bind.var
(assignment left: (pattern_list (identifier) @name)) @bind.var
(assignment left: (identifier) @name !type right: [
  (string) (integer) (list) (dictionary) (tuple) (set) (list_comprehension) (dictionary_comprehension) (set_comprehension)
  (subscript) (binary_operator) (boolean_operator) (comparison_operator) (conditional_expression) (lambda) (true) (false)
]) @bind.var
