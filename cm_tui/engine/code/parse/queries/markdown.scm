; What a heading holds, and where a section ends, is worked out in `markdown.py`: the grammar's own sections know
; nothing of underlined headings.
(atx_heading heading_content: (_) @name) @def.section
(setext_heading heading_content: (_) @name) @def.section
(fenced_code_block) @scope
(indented_code_block) @scope
(html_block) @scope
(minus_metadata) @scope
(plus_metadata) @scope
