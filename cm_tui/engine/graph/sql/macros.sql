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
