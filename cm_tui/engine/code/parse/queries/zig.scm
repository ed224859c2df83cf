; --- definitions ---
(Decl (FnProto function: (IDENTIFIER) @name (ParamDeclList) @params) (Block)? @body) @def.function
(Decl (VarDecl "var" variable_type_function: (IDENTIFIER) @name)) @def.variable
(Decl
  (VarDecl "const" variable_type_function: (IDENTIFIER) @name (_) @_value .)
  (#not-match? @_value "^@(import|This|cImport)")) @def.constant
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType "struct")))))) @def.struct
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType "opaque")))))) @def.struct
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType "enum")))))) @def.enum
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType "union")))))) @def.struct
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . (ErrorSetDecl))))) @def.enum
; `const Allocator = std.mem.Allocator;`: another name for a type.
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr . (SuffixExpr . variable_type_function: (IDENTIFIER) (FieldOrFnCall field_access: (IDENTIFIER) @_last) .))
    (#match? @name "^[A-Z]")) ) @def.type
(ContainerField field_member: (IDENTIFIER) @name) @def.field
(ContainerDecl
  (ContainerDeclType "enum")
  (ContainerField
    . (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @name .))) @def.constant)
; A function that gives a type is Zig's generic type.
(Decl
  (FnProto
    function: (IDENTIFIER) @name (ParamDeclList) @params
    (ErrorUnionExpr (SuffixExpr (BuildinTypeExpr) @_type)) .)
  (Block) @body
  (#eq? @_type "type")) @def.struct
(TestDecl [(STRINGLITERALSINGLE) (IDENTIFIER)] @name (Block) @body) @def.function

; --- documentation ---
(doc_comment) @comment
(line_comment) @comment

(ContainerField (doc_comment) @doc.before)

; --- references ---
(SuffixExpr . variable_type_function: (IDENTIFIER) @name . (FnCallArguments) @args) @ref.call
(SuffixExpr
  . (_)+ @receiver
  . (FieldOrFnCall function_call: (IDENTIFIER) @name (FnCallArguments) @args)) @ref.call
(ParamType (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @ref.type)))
(FnProto (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @ref.type)))
(ContainerField field_member: (_) (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @ref.type)))
(SuffixExpr . variable_type_function: (IDENTIFIER) @ref.type (#match? @ref.type "^[A-Z]"))

; --- imports ---
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @alias
    (ErrorUnionExpr (SuffixExpr
      . (BUILTINIDENTIFIER) @_import
      . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @module)))
      .)))
  (#eq? @_import "@import")) @import
(Decl
  (VarDecl variable_type_function: (IDENTIFIER) @alias
    (ErrorUnionExpr (SuffixExpr
      . (BUILTINIDENTIFIER) @_import
      . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @module)))
      . (FieldOrFnCall field_access: (IDENTIFIER) @name) .)))
  (#eq? @_import "@import")) @import
(Decl
  "usingnamespace" @star @reexport
  (ErrorUnionExpr (SuffixExpr
    . (BUILTINIDENTIFIER) @_import
    . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @module)))))
  (#eq? @_import "@import")) @import
(SuffixExpr
  . (BUILTINIDENTIFIER) @_import
  . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @module)))
  (#eq? @_import "@import")) @import

; --- bindings ---
(ParamDecl
  parameter: (IDENTIFIER) @name
  (ParamType (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @type)))) @bind.param
(ContainerField
  field_member: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @type))) @bind.attr
(VarDecl
  variable_type_function: (IDENTIFIER) @name
  . (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @type .)) . (_)) @bind.var
(VarDecl
  variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @type .)) . (InitList)) @bind.var
(FnProto (ErrorUnionExpr (SuffixExpr . variable_type_function: (IDENTIFIER) @type))) @bind.return
