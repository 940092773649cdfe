-- Rows of a batch that was validated and not committed are forgotten (forget_staged): the next validation reads its
-- file anew. Migration M-I16.
alter table import_batch add column is_staged boolean not null default true;
