-- A person whom administrators let in no more. Console A46.
alter table console_user add column suspended_at timestamptz;
