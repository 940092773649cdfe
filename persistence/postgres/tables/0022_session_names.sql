-- What an edge calls its session is its own matter: two accounts may use one name, and neither is in the other's way.
alter table edge_session drop constraint edge_session_pkey, add primary key (account_id, id);
