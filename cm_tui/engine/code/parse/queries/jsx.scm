; Components in JSX are called by being named; lower-case names are HTML.
(jsx_opening_element name: (identifier) @name (#match? @name "^[A-Z]")) @ref.call
(jsx_self_closing_element name: (identifier) @name (#match? @name "^[A-Z]")) @ref.call
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @name)) @ref.call
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @name)) @ref.call
