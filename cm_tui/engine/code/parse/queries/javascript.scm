; What JavaScript says in its own way; `ecma.scm` comes first.
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(field_definition property: (_) @name) @def.field
(field_definition
  property: (_) @name
  value: [
    (arrow_function parameters: (_)? @params parameter: (_)? @params body: (_) @body)
    (function_expression parameters: (_) @params body: (_) @body)
  ]) @def.method
(class_heritage [(identifier) (member_expression)] @ref.inherit)
(class_heritage (call_expression arguments: (arguments [(identifier) (member_expression)] @ref.inherit)))
(field_definition property: (_) @name value: (new_expression constructor: (_) @type)) @bind.attr
(field_definition property: (_) @name value: (call_expression function: (_) @call)) @bind.attr
