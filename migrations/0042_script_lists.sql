-- Scripts are listed by their names, too, and by a tag: a page of these lists is a range of an index.

CREATE INDEX scripts_in_order_of_name ON scripts (lower(name) COLLATE "C", script_id)
  WHERE NOT deleted;
CREATE INDEX scripts_by_tag ON scripts USING gin (tags jsonb_path_ops);
