-- An address that goes (sandbox reset) is looked for among the deposits: without this each one read all deposits of its account.
create index deposit_of_address on deposit (account_id, address_id);
