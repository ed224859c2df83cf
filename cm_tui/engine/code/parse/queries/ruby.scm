; --- definitions ---
(module name: (_) @name) @def.namespace
(class name: (_) @name) @def.class
(method name: (_) @name parameters: (method_parameters)? @params) @def.function
(singleton_method name: (_) @name parameters: (method_parameters)? @params) @def.function
(module body: (body_statement (method name: (_) @name parameters: (method_parameters)? @params) @def.method))
(assignment left: (constant) @name) @def.constant
(assignment
  left: (constant) @name
  right: (call receiver: (constant) @_class method: (identifier) @_new)
  (#any-of? @_class "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @def.class
(call
  method: (identifier) @_macro
  arguments: (argument_list (simple_symbol) @name @def.property)
  (#any-of? @_macro "attr_reader" "attr_writer" "attr_accessor" "mattr_accessor" "cattr_accessor" "class_attribute"))
(call
  method: (identifier) @_macro
  arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_macro "has_many" "has_one" "belongs_to" "has_and_belongs_to_many" "attribute")) @def.property
(call
  method: (identifier) @_macro
  arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_macro "define_method" "define_singleton_method" "scope")) @def.method
(alias name: [(identifier) (simple_symbol)] @name) @def.method
(call
  method: (identifier) @_macro
  arguments: (argument_list . (simple_symbol) @name . (simple_symbol))
  (#eq? @_macro "alias_method")) @def.method

; --- documentation ---
(comment) @comment

; --- references ---
(call receiver: (_) @receiver method: (_) @name arguments: (argument_list)? @args (#not-eq? @name "new")) @ref.call
(call
  !receiver
  method: (identifier) @name
  arguments: (argument_list)? @args
  (#not-match? @name "^(?:new|require|require_relative|load|include|extend|prepend|attr_reader|attr_writer|attr_accessor|private|public|protected|module_function|private_constant|define_method|alias_method)$")) @ref.call
(call
  receiver: [(constant) (scope_resolution)] @name
  method: (identifier) @_new
  arguments: (argument_list)? @args
  (#eq? @_new "new")) @ref.call
((identifier) @ref.call (#match? @ref.call "[?!]$"))
; A name alone is a call where it is no local one.
((body_statement (identifier) @ref.call) (#not-match? @ref.call "^(?:private|protected|public|module_function|private_class_method)$"))
(then (identifier) @ref.call)
(else (identifier) @ref.call)
(block_body (identifier) @ref.call)
(if condition: (identifier) @ref.call)
(unless condition: (identifier) @ref.call)
(if_modifier condition: (identifier) @ref.call)
(unless_modifier condition: (identifier) @ref.call)
(if_modifier body: (identifier) @ref.call)
(unless_modifier body: (identifier) @ref.call)
(argument_list (identifier) @ref.call)
(assignment right: (identifier) @ref.call)
(operator_assignment right: (identifier) @ref.call)
(call receiver: (identifier) @ref.call)
(binary (identifier) @ref.call)
(unary (identifier) @ref.call)
(interpolation (identifier) @ref.call)
(pair value: (identifier) @ref.call)
(return (argument_list (identifier) @ref.call))
(argument_list [(splat_argument) (hash_splat_argument)]) @args.open
(argument_list (block_argument) @args.extra) @args
(superclass [(constant) (scope_resolution)] @ref.inherit)
(call
  method: (identifier) @_mixin
  arguments: (argument_list [(constant) (scope_resolution)] @ref.inherit)
  (#any-of? @_mixin "include" "extend" "prepend"))
(call receiver: [(constant) (scope_resolution)] @ref.type)
(argument_list [(constant) (scope_resolution)] @ref.type)
(exceptions [(constant) (scope_resolution)] @ref.type)
(pair value: [(constant) (scope_resolution)] @ref.type)

(method_parameters) @local
(block_parameters) @local
(assignment left: (identifier) @local)
(assignment left: (left_assignment_list) @local)
(operator_assignment left: (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (_) @local)

; --- imports ---
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @module))
  (#any-of? @_require "require" "load")) @import
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @module))
  (#eq? @_require "require_relative")) @import @relative
(call
  method: (identifier) @_require
  arguments: (argument_list . (simple_symbol) @name . (string (string_content) @module))
  (#eq? @_require "autoload")) @import

; --- bindings ---
(assignment
  left: (identifier) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new (#eq? @_new "new"))) @bind.var
(assignment
  left: (instance_variable) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new (#eq? @_new "new"))) @bind.attr
