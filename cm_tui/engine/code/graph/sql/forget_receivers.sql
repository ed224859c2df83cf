DELETE FROM done WHERE expr IN (SELECT id FROM site WHERE coalesce(receiver, '') NOT IN ('', 'self', 'cls', 'super()'));
