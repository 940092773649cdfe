-- The parts of an append that are capabilities': every other function of this folder that is named append_<part> and
-- takes (batch jsonb), in the order of their names. `migrate` writes the calls (persistence/postgres/functions.ts), so
-- that a capability joins by its own file. Each part reads its own arrays of the batch, and does nothing without them.
create or replace function append_parts(batch jsonb) returns void language plpgsql as $$
begin
  -- perform append_<part>(batch);
end $$;
