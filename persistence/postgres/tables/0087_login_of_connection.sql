-- By which connection of single sign-on a login began: it is good in the organization of that one alone, and as long as
-- the connection knows the person. No foreign key: what names no connection any more is over. Console A13, A37.
alter table login add column connection_id text collate "C";
