-- An address that goes (sandbox reset) is looked for among the deposits: without this each one read all deposits of its account.
-- Not by account first: on a table without statistics it would be taken in place of the key.
create index deposit_by_address on deposit (address_id);
