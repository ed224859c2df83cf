-- An expression as written, cut into the steps of reading it: 'self.get(a.b).items[0]' → self, get, (), items, [].
-- A literal becomes one step '"', which is known to come from outside the project.
CREATE OR REPLACE MACRO graph.without_arguments(t) AS
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(t,
        '\([^()]*\)', '§', 'g'), '\([^()]*\)', '§', 'g'), '\([^()]*\)', '§', 'g'), '\[[^\[\]]*\]', '¶', 'g');

CREATE OR REPLACE MACRO graph.without_signs(t) AS
    regexp_replace(regexp_replace(regexp_replace(t,
        '^\s*(await |new |typeof |[*&!]+)|<[^<>]*>|[\s$]', '', 'g'),
        '\?\.|!\.|!!\.|::|->|&\.|\\', '.', 'g'),
        '^@+', 'self.');

CREATE OR REPLACE MACRO graph.segments(t) AS
    CASE WHEN regexp_full_match(t, '[\w.]+') AND NOT regexp_matches(t, '^[\d.]') THEN string_split(t, '.')
         WHEN regexp_matches(t, '^(await |\s)*[bfru]{0,2}["''`\d\[{]') THEN ['"']
         ELSE string_split(trim(replace(replace(graph.without_signs(graph.without_arguments(t)), '§', '.()'), '¶', '.[]'),
              '.'), '.')
    END;

-- Whether a function of C or C++ is none, but what the grammar made of code between macros that it cannot expand: a body, a
-- return type, an assignment or a member's initialiser stands before its name, or it is a member that has lost its
-- class, or one without a return type that is no constructor of its class.
CREATE OR REPLACE MACRO graph.is_misread(name, signature, class) AS
    CASE WHEN strpos(signature, name || '(') > 1
         THEN regexp_matches(split_part(signature, name || '(', 1), '[{;]|->|\)\s*:[^:]|\b(return|throw|new|delete|else)\b|=\s*[\w:]*$')
              OR (NOT starts_with(signature, 'template')
                  AND regexp_matches(split_part(signature, name || '(', 1), '[^=!<>]=[^=].*\('))
              OR (class IS NULL AND strpos(signature, '::' || name || '(') = 0
                  AND regexp_matches(substr(signature, strpos(signature, name || '(')), '\)\s*(const|override)\b'))
         WHEN starts_with(signature, name || '(')
         THEN coalesce(name <> regexp_extract(class, '[\w~]+') AND NOT starts_with(name, 'operator') AND NOT starts_with(name, '~'), false)
         ELSE strpos(signature, '{') > 0 AND right(signature, 1) = '…' END;
